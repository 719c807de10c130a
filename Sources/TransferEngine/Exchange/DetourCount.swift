import TransferCore

/// The number of repeated questions of an exchange that brought no progress.
///
/// Each kind of repetition has its reason, and with some servers all reasons apply again and again. Beyond the limit a
/// repetition costs an attempt, and the waits between attempts.
struct DetourCount {
    /// The most repetitions: with the first request and the seven attempts of a minute, at most 56 requests a minute.
    static let limit = 7

    private static let restartLimit = 3

    private(set) var count = 0
    private var restarts = 0
    private var furthest: Int64 = 0

    /// Counts a repetition.
    ///
    /// - Parameter position: The bytes of the file that have come.
    /// - Returns: Whether the repetition is allowed.
    mutating func take(at position: Int64) -> Bool {
        if position >= furthest + ProgressRule.leastBytes {
            count = 0
            furthest = position
        }
        count += 1
        return count <= Self.limit && restarts <= Self.restartLimit
    }

    /// Notes that another version begins, whose progress counts anew.
    mutating func beginAnew() {
        restarts += 1
        furthest = 0
    }
}
