package import TransferJobs

/// The changes that a transaction on the upload history made, for the process that runs its batch.
package struct HistoryChanges: Sendable {
    /// The number of offered versions that were handled, counted from the first.
    package var handled = 0
    /// The number of jobs that became ready, by lane.
    package var ready: [Lane: Int] = [:]
    /// The number of jobs that were added, less those that were taken out before they ended.
    package var added = 0
    /// The number of jobs that had failed and are ready again.
    package var revived = 0
    /// The number of jobs that have not ended.
    package var open = 0
    /// A number that grows from transaction to transaction: of two counts the later one holds.
    package var stamp = 0
    /// Names by which files are not uploaded: the present names of renamed files, and hard links.
    package var otherNames: [(known: String, name: String)] = []
    /// The number of files that are in the folder again and with which something is to be done.
    package var returned = 0
    /// Whether something is to be done with a confirmed file that was found again, perhaps under another name.
    package var hasDue = false
    /// Jobs that were taken out.
    package var removed: [Int64] = []
    package var secrets: [Int64: JobSecrets] = [:]
    /// Uploads that were taken out while servers hold parts of them.
    package var abandoned: [AbandonedUpload] = []

    package init() {}
}
