public import TransferCore

/// A cancelled upload of which a server still holds a part, because it could not be notified.
public struct UnreportedAbort: Sendable, Hashable {
    /// The name of the upload's batch.
    public var batch: String
    /// The job's name in the batch.
    public var job: String
    /// The reason why the server could not be notified.
    public var reason: TransferError
    /// Whether a secret of its job file is missing, which is never stored.
    public var needsItsJobFile: Bool
}
