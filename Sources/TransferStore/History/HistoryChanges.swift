package import TransferJobs

/// The changes that a transaction on the ledger made, for the process that runs its batch.
package struct HistoryChanges: Sendable {
    /// The number of the offered versions that were handled, from the first.
    package var handled = 0
    /// Jobs that became ready.
    package var ready: [Lane: Int] = [:]
    /// Jobs that weren't there before, less those that were taken out before they ended.
    package var added = 0
    /// Jobs that had failed and are ready again.
    package var revived = 0
    /// Jobs that haven't ended.
    package var open = 0
    /// Grows from transaction to transaction: of two counts the later one holds.
    package var stamp = 0
    /// Names by which files aren't uploaded: those that renamed files have now, and hard links.
    package var otherNames: [(known: String, name: String)] = []
    /// Files that are there again, and with which something is to be done.
    package var returned = 0
    /// Whether something is to be done with a confirmed file that turned up, perhaps under another name.
    package var hasDue = false
    /// Jobs that were taken out.
    package var removed: [Int64] = []
    package var secrets: [Int64: JobSecrets] = [:]
    /// Parts that servers hold of uploads that were taken out.
    package var abandoned: [AbandonedUpload] = []

    package init() {}
}
