import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore

extension JobQueue {
    /// Puts what several callers submitted into a batch, and returns when it's durable there: one wait for the disk for all.
    ///
    /// - Parameters:
    ///   - groups: The jobs of each caller; those of one are taken all or not at all. They were checked (``JobRule``).
    ///   - batch: Made if need be.
    ///   - directory: What the batch's relative paths start from.
    ///   - startsPaused: New ones wait until somebody resumes them.
    /// - Throws: `StagingError` for unknown needs and destinations that two jobs have; nothing of any group is taken then.
    package func submit(
        groups: [[JobSpec]], batch: String, directory: String, startsPaused: Bool = false
    ) async throws -> [SubmittedJobs] {
        let groups = groups.map { $0.map(\.spelt) }
        let (results, staged) = try await reader.run { [store] in
            do {
                return try store.submit(
                    groups, batch: batch, directory: directory, startsPaused: startsPaused)
            } catch let failure as StagingFailure {
                throw StagingError(failure)
            } catch {
                throw store.fault(error)
            }
        }
        await runner.submitted(staged)
        return results
    }

    /// Changes a job that hasn't ended, where the change makes no other job of it: its priority, or bounds of its own. One
    /// that is under way is interrupted for that, and goes on.
    ///
    /// - Throws: `TransferError` where there is no such job any more, or it has ended.
    package func amend(
        _ number: Int64, batch: String, job: String, _ change: @escaping @Sendable (inout JobSpec) -> Void
    ) async throws {
        if try await amended(number, change) { return }
        await runner.giveBack([number])
        let isChanged = try await amended(number, change)
        // It waits for the change, and for no time.
        if isChanged { try await ask(.retry, batch: batch, job: job) }
        guard isChanged else { throw TransferError(.invalidRequest, "the job \"\(job)\" has ended") }
    }

    private func amended(
        _ number: Int64, _ change: @escaping @Sendable (inout JobSpec) -> Void
    ) async throws -> Bool {
        try await reader.run { [store] in
            do { return try store.amend(number, change) } catch { throw store.fault(error) }
        }
    }
}
