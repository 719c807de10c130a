import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore

extension JobQueue {
    /// Takes up a batch in order to make its damaged files whole: what is left of good bytes is kept, and the rest fetched
    /// from the jobs' sources. A damaged file stays where it is until the new one is whole and proven.
    ///
    /// What else the batch has to do goes on as well.
    ///
    /// - Parameter checks: Of files of that batch; those that are good are passed over.
    /// - Returns: The batch and the options to run it with.
    /// - Throws: ``StagingError/held(batch:pid:)`` when another process works on the batch; `TransferError`.
    public func stageRepair(of name: String, _ checks: [FileCheck]) async throws -> (StagedBatch, RunOptions) {
        let store = store
        let held = try await reader.run { try store.hold(.named(name)) }
        guard let batch = held.first else {
            throw TransferError(.fileLocked, "the batch \(Wording.quoted(name)) is being run by another process")
        }
        var options = RunOptions()
        options.repairs = []
        for check in checks {
            guard let plan = RepairPlan(check) else { continue }
            // Without a beginning the whole is fetched.
            _ = try? await reader.run { try plan.prepare() }
            options.repairs?.insert(check.download.id)
        }
        let staged = StagedJobs(batch: batch, count: options.repairs?.count ?? 0, secrets: [:])
        return (StagedBatch(staged: staged), options)
    }
}
