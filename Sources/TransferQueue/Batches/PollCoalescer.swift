/// Looks at what other processes do: one at a time, and another one where something was told meanwhile.
struct PollCoalescer {
    private var isLooking = false
    private var isStale = false

    /// - Returns: Whether this look goes ahead; else the one that is under way is followed by another one.
    mutating func begins() -> Bool {
        guard !isLooking else {
            isStale = true
            return false
        }
        isLooking = true
        return true
    }

    /// - Returns: Whether another look is needed.
    mutating func endsStale() -> Bool {
        defer { (isLooking, isStale) = (false, false) }
        return isStale
    }
}
