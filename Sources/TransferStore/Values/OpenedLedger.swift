import TransferWatch

/// A watched folder, ready to take files.
package struct OpenedLedger: Sendable {
    package let folder: Int64
    package let batch: HeldBatch
    /// When it was watched for the first time, in nanoseconds since 1970.
    package let since: Int64
    package let isPaused: Bool
    /// Where its files went before, redacted, where that is elsewhere than now.
    package let formerURL: String?
    package let changes: LedgerChanges
    /// Until the first of those that failed before comes back by itself; `nil` where none did.
    package let nextFailed: Duration?
}
