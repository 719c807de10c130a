public import TransferCore

/// A cancelled upload of which a server holds a part, as it couldn't be told.
public struct UnreportedAbort: Sendable, Hashable {
    public var batch: String
    public var job: String
    /// Why not.
    public var reason: TransferError
    /// Whether a secret of its job file is wanting, which is never stored.
    public var needsItsJobFile: Bool
}
