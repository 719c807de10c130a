/// The rule for reports of a condition that lasts, such as a database that is away: one at its beginning, and one a minute.
package struct LastingNotice: Sendable, Hashable {
    /// The time between two reports.
    package static let interval = Duration.seconds(60)

    private var last: MonotonicTime?

    /// Creates the rule for a condition that has not begun.
    package init() {}

    /// Notes that the condition exists.
    ///
    /// - Returns: Whether it is to be reported now.
    package mutating func isDue(at now: MonotonicTime) -> Bool {
        if let last, now - last < Self.interval { return false }
        last = now
        return true
    }

    /// Notes that the condition is over.
    ///
    /// - Returns: Whether it had been reported.
    package mutating func end() -> Bool {
        defer { last = nil }
        return last != nil
    }
}
