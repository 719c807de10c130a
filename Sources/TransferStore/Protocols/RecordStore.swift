import TransferCore
package import TransferJobs

/// Records of claimed jobs, and what follows from them: uploads to abandon, and messages of hooks.
package protocol RecordStore: Sendable {
    /// Records ends and steps of claimed jobs, durably, with what hooks are to be told of the ends.
    func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup

    /// Writes down what the next attempt of claimed jobs has to know.
    func note(_ notes: [JobNote]) throws

    /// Jobs that were complete before, by their numbers, a page at a time. Not those of watched folders.
    func completed(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob]

    /// The cancelled jobs of a batch whose servers haven't been told.
    ///
    /// - Parameter secrets: Jobs whose secrets nobody has any more are left out.
    func abandonedUploads(batch: Int64, secrets: [Int64: JobSecrets]) throws -> [AbandonedUpload]

    /// Takes cancelled jobs of all batches whose servers haven't been told for this process, for a while: it tells them.
    ///
    /// - Returns: None where each batch is one process's, which knows its own (``abandonedUploads(batch:secrets:)``).
    func takeAbandonedUploads(limit: Int) throws -> [AbandonedUpload]

    /// The cancelled jobs of a batch whose servers hold parts of them, as far as is known.
    func heldUploads(batch: Int64) throws -> [HeldUpload]

    /// Takes messages of a batch for this process, in the order of the ends that they tell of; those that another process
    /// has taken are left out until its lease is over.
    ///
    /// - Parameter revivesFailed: Those of which no attempt was to follow get a fresh count, and are taken too.
    func takeHookCalls(batch: Int64, revivesFailed: Bool, limit: Int) throws -> [HookCall]

    /// Writes down what became of messages that this process has taken. Those that were told are forgotten.
    func settleHookCalls(_ outcomes: [HookOutcome]) throws
}

extension RecordStore {
    package func takeAbandonedUploads(limit: Int) throws -> [AbandonedUpload] { [] }
}
