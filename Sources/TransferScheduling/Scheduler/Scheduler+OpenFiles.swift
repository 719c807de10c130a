package import TransferCore

// This machine's own lack of descriptors: fewer jobs at a time, and no attempt of any.
extension Scheduler {
    /// A job got no file or no connection as there were no descriptors left.
    ///
    /// - Parameter others: Jobs that have some: those that are under way and those that are being saved.
    package mutating func descriptorsLacked(others: Int, now: MonotonicTime) {
        if openFiles == nil { openFiles = OriginRoom(others: others, now: now) }
        openFiles?.refused(others: others, now: now)
    }

    /// How many jobs may be under way.
    package mutating func concurrency(_ now: MonotonicTime) -> Int {
        guard let room = openFiles else { return limits.concurrency }
        openFiles = OriginRoom.grown(["": room], now: now) { _ in limits.concurrency }[""]
        return min(limits.concurrency, openFiles?.places ?? .max)
    }
}
