import TransferWatch

/// A watched folder, ready to take files.
struct OpenedLedger: Sendable {
    let folder: Int64
    let batch: HeldBatch
    /// When it was watched for the first time, in nanoseconds since 1970.
    let since: Int64
    let isPaused: Bool
    /// Where its files went before, redacted, where that is elsewhere than now.
    let formerURL: String?
    let changes: LedgerChanges
    /// Until the first of those that failed before comes back by itself; `nil` where none did.
    let nextFailed: Duration?
}
