/// What a command changed in the store.
struct AppliedCommand: Sendable {
    /// Cursors only of what ended.
    var jobs: [(identity: String, cursor: Int64?)] = []
    var skipped: [SkippedJob] = []
    /// Whether the job that it was for had failed in some way: one that only waits for its turn hadn't. Of a whole batch
    /// it's taken for granted.
    var hadFailed = true
    var count: Int { jobs.count }
}
