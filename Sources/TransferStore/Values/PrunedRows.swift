import TransferWatch

struct PrunedRows: Sendable {
    var removed = 0
    /// Rows that will be removed if their files don't turn up elsewhere.
    var marked = 0
    /// Failed jobs that were taken out.
    var failedJobs = 0
    /// Files with which something is to be done that aren't there for the first time, and that are again.
    var missed = 0
    var returned = 0

    mutating func add(_ other: PrunedRows) {
        removed += other.removed
        marked += other.marked
        failedJobs += other.failedJobs
        missed += other.missed
        returned += other.returned
    }
}
