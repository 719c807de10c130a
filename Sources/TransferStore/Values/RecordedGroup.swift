/// What followed from recording ends: cursors for the events, and jobs set free or given up.
struct RecordedGroup: Sendable {
    /// Of each end, in the order given.
    var cursors: [Int64] = []
    var unblocked: [Lane: Int] = [:]
    var skipped: [SkippedJob] = []
    var watched = WatchedEnds()
}
