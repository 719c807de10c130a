package import TransferCore
package import TransferJobs

/// Jobs that were claimed from one lane.
package struct ClaimedJobs: Sendable {
    package let lane: Lane
    package var jobs: [(record: JobRecord, rank: Int)]
    /// Rows whose description cannot be read, for example because a newer version has written them.
    package var unreadable: [(id: Int64, identity: String, error: TransferError)]
    /// The jobs of watched folders that this process must not do. They are left to the processes that watch the
    /// folders.
    package var refused: [JobRecord] = []
    /// Whether jobs of the batch were changed since it was staged, so that the counts from staging no longer hold.
    package var isNews = false

    package var count: Int { jobs.count + unreadable.count + refused.count }

    package mutating func add(_ more: ClaimedJobs) {
        jobs += more.jobs
        unreadable += more.unreadable
        refused += more.refused
    }

    package init(
        lane: Lane, jobs: [(record: JobRecord, rank: Int)],
        unreadable: [(id: Int64, identity: String, error: TransferError)]
    ) {
        self.lane = lane
        self.jobs = jobs
        self.unreadable = unreadable
    }
}
