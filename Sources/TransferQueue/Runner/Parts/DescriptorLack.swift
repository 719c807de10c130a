import TransferCore

/// This process's lack of descriptors: who was alone in it, and how often it's told.
struct DescriptorLack {
    /// The time at which a job found no descriptor last.
    private var last: MonotonicTime?
    /// Until then it isn't told again.
    private var toldUntil: MonotonicTime?

    private static let tellsEvery = Duration.seconds(60)

    /// A job found no descriptor.
    ///
    /// - Parameters:
    ///   - others: Jobs that hold some.
    ///   - started: When the job began.
    /// - Returns: Whether nobody of this process had a part in it: jobs that failed together have none in each other's
    ///   failure once they are gone, so that only one that began after them was alone.
    mutating func noted(others: Int, started: MonotonicTime, now: MonotonicTime) -> Bool {
        let wasAlone = others == 0 && last.map { started > $0 } ?? true
        last = now
        return wasAlone
    }

    /// - Returns: Whether it's time to tell of it.
    mutating func tells(now: MonotonicTime) -> Bool {
        if let toldUntil, now < toldUntil { return false }
        toldUntil = now + Self.tellsEvery
        return true
    }
}
