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
    /// - Throws: `StagingError` for unknown needs and destinations that two jobs have; nothing of any group is taken then.
    package func submit(
        groups: [[JobSpec]], batch: String, directory: String
    ) async throws -> [SubmittedJobs] {
        let groups = groups.map { $0.map(\.spelt) }
        let (results, staged) = try await reader.run { [store] in
            do {
                return try store.submit(groups, batch: batch, directory: directory)
            } catch let failure as StagingFailure {
                throw StagingError(failure)
            } catch {
                throw store.fault(error)
            }
        }
        await runner.submitted(staged)
        return results
    }
}
