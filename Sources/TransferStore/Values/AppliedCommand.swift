package import TransferJobs

/// The changes that a command made in the store.
package struct AppliedCommand: Sendable {
    /// The changed jobs; only those that the command ended have a cursor.
    package var jobs: [(identity: String, cursor: Int64?, route: JobRoute?)] = []
    package var skipped: [SkippedJob] = []
    /// Whether the named job had failed in some way, and not only waited for its turn. Always `true` for a command to a
    /// whole batch.
    package var hadFailed = true
    /// Whether there are messages for hooks to send now.
    package var isHooked = false
    package var count: Int { jobs.count }

    package init() {}
}
