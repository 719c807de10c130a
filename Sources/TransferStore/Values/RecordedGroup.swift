package import TransferJobs

/// The consequences of recorded ends: cursors for the events, and jobs that became ready or were skipped.
package struct RecordedGroup: Sendable {
    /// The cursor of each end, in the order given.
    package var cursors: [Int64] = []
    package var unblocked: [Lane: Int] = [:]
    package var skipped: [SkippedJob] = []
    package var watched = WatchedEnds()
    /// Batches whose hooks have messages to send now.
    package var hooked: Set<Int64> = []

    package init() {}
}
