import TransferCore

/// What was taken of one lane.
struct ClaimedJobs: Sendable {
    let lane: Lane
    let jobs: [(record: JobRecord, rank: Int)]
    /// Rows whose description can't be read any more; a newer version may have written them.
    let unreadable: [(id: Int64, identity: String, error: TransferError)]
}
