/// The reading of other processes' changes, one at a time. Another reading follows if changes are notified meanwhile.
struct PollCoalescer {
    private var isLooking = false
    private var isStale = false

    /// Requests a reading.
    ///
    /// - Returns: Whether it may start now; else the current one is followed by another.
    mutating func begins() -> Bool {
        guard !isLooking else {
            isStale = true
            return false
        }
        isLooking = true
        return true
    }

    /// Ends a reading.
    ///
    /// - Returns: Whether another reading is needed.
    mutating func endsStale() -> Bool {
        defer { (isLooking, isStale) = (false, false) }
        return isStale
    }
}
