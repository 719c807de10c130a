import TransferCore

/// What was taken of one lane.
struct ClaimedJobs: Sendable {
    let lane: Lane
    var jobs: [(record: JobRecord, rank: Int)]
    /// Rows whose description can't be read any more; a newer version may have written them.
    var unreadable: [(id: Int64, identity: String, error: TransferError)]
    /// Somebody has changed jobs of the batch since it was staged: what staging said of it isn't so any more.
    var isNews = false

    var count: Int { jobs.count + unreadable.count }

    mutating func add(_ more: ClaimedJobs) {
        jobs += more.jobs
        unreadable += more.unreadable
    }
}
