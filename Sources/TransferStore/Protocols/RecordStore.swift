import TransferCore
package import TransferJobs

/// Records of claimed jobs, and their consequences: uploads to abandon, and messages of hooks.
package protocol RecordStore: Sendable {
    /// Records ends and steps of claimed jobs, durably, with the messages to hooks about the ends, and with the upload
    /// records that they leave (``/TransferJobs/UploadChange``).
    func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup

    /// Writes down the facts that the next attempt of claimed jobs needs.
    func note(_ notes: [JobNote]) throws

    /// Reads jobs that were complete before, in the order of their numbers, a page at a time. Jobs of watched folders
    /// are left out.
    func completed(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob]

    /// Reads the cancelled jobs of a batch whose servers have not been asked to drop their parts.
    ///
    /// - Parameter secrets: The secrets of jobs, by job. Jobs whose secrets are lost are left out.
    func abandonedUploads(batch: Int64, secrets: [Int64: JobSecrets]) throws -> [AbandonedUpload]

    /// Takes cancelled jobs of all batches for this process, for a while. It asks their servers, which have not been
    /// asked yet, to drop their parts.
    ///
    /// - Returns: None where each batch belongs to one process, which knows its own
    ///   (``abandonedUploads(batch:secrets:)``).
    func takeAbandonedUploads(limit: Int) throws -> [AbandonedUpload]

    /// Reads the cancelled jobs of a batch whose servers hold parts of them, to the extent that this is known.
    func heldUploads(batch: Int64) throws -> [HeldUpload]

    /// Takes messages of a batch for this process, in the order of the ends that they report. Messages that another
    /// process has taken are left out until its lease is over.
    ///
    /// - Parameter revivesFailed: Whether messages that were given up get a fresh count of attempts, and are taken too.
    func takeHookCalls(batch: Int64, revivesFailed: Bool, limit: Int) throws -> [HookCall]

    /// Writes down the outcomes of messages that this process has taken. Delivered messages are forgotten.
    func settleHookCalls(_ outcomes: [HookOutcome]) throws
}

extension RecordStore {
    package func takeAbandonedUploads(limit: Int) throws -> [AbandonedUpload] { [] }
}
