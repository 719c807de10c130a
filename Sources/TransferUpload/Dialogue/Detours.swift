/// The budget of an attempt's detours: repeated questions, repeated parts, new beginnings.
///
/// No detour is refunded within the attempt, regardless of the server's progress. A server that takes one byte of every
/// request would otherwise be sent the rest for each of them. One detour too many ends the attempt as a temporary
/// failure: the retry rule has the delays, and the limit.
struct Detours: Sendable, Hashable {
    private var left: Int
    private var bodiesLeft: Int

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - most: The number of detours.
    ///   - bodies: The number of detours that may send nearly the same body again.
    init(most: Int = 5, bodies: Int = 1) {
        left = most
        bodiesLeft = bodies
    }

    /// Takes a detour from the budget.
    ///
    /// - Returns: Whether the detour is allowed.
    mutating func take() -> Bool {
        left -= 1
        return left >= 0
    }

    /// Takes a detour that sends nearly the same body again.
    ///
    /// - Returns: Whether the detour is allowed.
    mutating func takeBody() -> Bool {
        bodiesLeft -= 1
        return bodiesLeft >= 0 && take()
    }

    /// Returns whether an answer counts so few of the sent bytes that the next body is nearly the same again.
    static func isSmall(_ progress: Int64, of sent: Int64) -> Bool {
        progress < sent && progress < min(1 << 20, sent / 8 + 1)
    }
}
