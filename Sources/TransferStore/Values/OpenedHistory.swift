import TransferWatch

/// A watched folder, ready to take files.
package struct OpenedHistory: Sendable {
    package let folder: Int64
    package let batch: HeldBatch
    /// When it was watched for the first time, in nanoseconds since 1970.
    package let since: Int64
    package let isPaused: Bool
    /// The URL that the folder's files went to before, redacted; `nil` where that is the same as now.
    package let formerURL: String?
    package let changes: HistoryChanges
    /// Until the first of those that failed before comes back by itself; `nil` where none did.
    package let nextFailed: Duration?

    package init(
        folder: Int64, batch: HeldBatch, since: Int64, isPaused: Bool, formerURL: String?, changes: HistoryChanges,
        nextFailed: Duration?
    ) {
        self.folder = folder
        self.batch = batch
        self.since = since
        self.isPaused = isPaused
        self.formerURL = formerURL
        self.changes = changes
        self.nextFailed = nextFailed
    }
}
