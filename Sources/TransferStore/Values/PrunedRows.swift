import TransferWatch

package struct PrunedRows: Sendable {
    package var removed = 0
    /// The number of rows that will be removed if their files are not found elsewhere.
    package var marked = 0
    /// The number of failed jobs that were taken out.
    package var failedJobs = 0
    /// The number of files with an action left that are missing for the first time.
    package var missed = 0
    package var returned = 0

    package init(removed: Int = 0, marked: Int = 0, failedJobs: Int = 0, missed: Int = 0, returned: Int = 0) {
        self.removed = removed
        self.marked = marked
        self.failedJobs = failedJobs
        self.missed = missed
        self.returned = returned
    }

    package mutating func add(_ other: PrunedRows) {
        removed += other.removed
        marked += other.marked
        failedJobs += other.failedJobs
        missed += other.missed
        returned += other.returned
    }
}
