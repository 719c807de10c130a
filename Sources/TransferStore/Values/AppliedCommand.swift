package import TransferJobs

/// The changes that a command made in the store.
package struct AppliedCommand: Sendable {
    /// Cursors only of what ended.
    package var jobs: [(identity: String, cursor: Int64?, route: JobRoute?)] = []
    package var skipped: [SkippedJob] = []
    /// Whether the job that it was for had failed in some way: one that only waits for its turn hadn't. Of a whole batch
    /// it's taken for granted.
    package var hadFailed = true
    /// Whether hooks have something to be told now.
    package var isHooked = false
    package var count: Int { jobs.count }

    package init() {}
}
