package import TransferCore

/// The number of connections to an origin that has refused some (429, 503) or lost them. It is halved, once for all
/// that were under way together.
///
/// One connection is added every ten seconds, up to one less than were refused. The refused number is tried again after
/// five minutes, and after twice the time with each further refusal.
package struct ConcurrencyBackoff: Sendable, Codable {
    package enum Refusal: Sendable, Hashable {
        /// The server answered so, or ended the connection before it answered.
        case answer
        /// The connection broke off within an answer. Some servers do that at any number, so it never lowers the number
        /// below ``ConcurrencyBackoff/leastOfBreaks``.
        case brokenOff

        /// Interprets a failure.
        ///
        /// - Parameters:
        ///   - status: The status of the answer, if the error has none.
        ///   - hadBegun: Whether an answer or the body of the request was on its way.
        /// - Returns: `nil` for a failure that says nothing about the number of connections.
        package init?(_ error: TransferError, status: Int? = nil, hadBegun: Bool) {
            if let status = error.status ?? status, status >= 400 {
                guard status == 429 || status == 503 else { return nil }
                self = .answer
            } else if error.code == .connectionLost {
                self = hadBegun ? .brokenOff : .answer
            } else {
                return nil
            }
        }
    }

    static let growth = Duration.seconds(10)
    static let memory = Duration.seconds(300)...Duration.seconds(3600)

    package private(set) var bound: Int
    /// The number of connections that was refused.
    private var tooMany: Int
    private var time: MonotonicTime
    /// The last time when a connection was added.
    private var grown: MonotonicTime
    /// The time for which the refused number is remembered.
    private var remembered = memory.lowerBound

    /// Halves the number of connections.
    ///
    /// - Parameters:
    ///   - inUse: The number of open connections, including the refused one. A single connection is refused for another
    ///     reason.
    ///   - count: The number that is allowed now.
    /// - Returns: `nil` if the refusal is no reason for fewer.
    package init?(_ refusal: Refusal, inUse: Int, of count: Int, now: MonotonicTime) {
        let least = Self.least(refusal)
        guard inUse > 1, count > least else { return nil }
        bound = max(least, count / 2)
        tooMany = Self.refused(inUse, count)
        (time, grown) = (now, now)
    }

    /// Takes a further refusal.
    ///
    /// - Parameter since: The time when the transfer began. A transfer that was under way at an earlier refusal is no
    ///   news.
    package mutating func refused(
        _ refusal: Refusal, inUse: Int, of count: Int, since: MonotonicTime, now: MonotonicTime
    ) {
        let least = Self.least(refusal)
        guard since > time, inUse > 1, bound > least else { return }
        bound = max(least, bound / 2)
        tooMany = Self.refused(inUse, count)
        (time, grown) = (now, now)
        remembered = min(remembered * 2, Self.memory.upperBound)
    }

    /// Adds connections as time has passed.
    ///
    /// - Returns: Whether the limit has disappeared.
    package mutating func recover(_ now: MonotonicTime) -> Bool {
        let isForgotten = now - time >= remembered
        let limit = isForgotten ? ConcurrencyProbe.most : max(bound, tooMany - 1)
        while now - grown >= Self.growth, bound < limit {
            bound += 1
            grown = grown + Self.growth
        }
        // Time in which no connection could be added does not count.
        if bound >= limit { grown = max(grown, now) }
        return bound >= ConcurrencyProbe.most
    }

    /// The least number of connections if answers break off, because some servers cut every long answer at any number.
    static let leastOfBreaks = 6

    private static func least(_ refusal: Refusal) -> Int { refusal == .answer ? 1 : leastOfBreaks }

    /// Returns the number that was too high. If few connections were in use, the number is unknown, so the allowed one
    /// is taken.
    private static func refused(_ inUse: Int, _ count: Int) -> Int { inUse > count / 2 ? inUse : count }
}
