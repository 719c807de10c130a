import TransferCore

/// How often in a row an exchange asked once more without getting further.
///
/// Each way of asking again has its reason, and servers can be such that all of them come true again and again: beyond the
/// limit it costs an attempt, and the waits between attempts.
struct DetourCount {
    /// With the first request, and the seven attempts of a minute, at most 56 requests a minute.
    static let limit = 7

    private static let restartLimit = 3

    private(set) var count = 0
    private var restarts = 0
    private var furthest: Int64 = 0

    /// - Parameter position: How far the file has come.
    /// - Returns: Whether one more is allowed.
    mutating func take(at position: Int64) -> Bool {
        if position >= furthest + ProgressRule.leastBytes {
            count = 0
            furthest = position
        }
        count += 1
        return count <= Self.limit && restarts <= Self.restartLimit
    }

    /// Another version begins, which has to come forward by itself.
    mutating func beginAnew() {
        restarts += 1
        furthest = 0
    }
}
