package import TransferCore

/// How many connections an origin gets that has refused some (429, 503), or lost them: half as many, once for all that were
/// under way together.
///
/// One comes back every ten seconds, up to one less than were refused. As many as that are tried again after five minutes,
/// and after twice as long each time they are refused again.
package struct ConcurrencyBackoff: Sendable, Codable {
    package enum Refusal: Sendable, Hashable {
        /// The server said so, or ended the connection before it answered.
        case answer
        /// The connection broke off within an answer. Some servers do that however few there are: not fewer than
        /// ``ConcurrencyBackoff/leastOfBreaks`` for that.
        case brokenOff

        /// - Parameters:
        ///   - status: The answer's, where the error has none.
        ///   - hadBegun: Whether an answer, or the body of the request, was on its way.
        /// - Returns: `nil` for a failure that says nothing of how many there are.
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
    /// How many were too many.
    private var tooMany: Int
    private var time: MonotonicTime
    /// When one came back last.
    private var grown: MonotonicTime
    /// How long it is remembered how many were too many.
    private var remembered = memory.lowerBound

    /// - Parameters:
    ///   - inUse: The connections that are open, with the one that was refused. Alone it is refused for another reason.
    ///   - count: How many there may be now.
    /// - Returns: `nil` where that is no reason for fewer.
    package init?(_ refusal: Refusal, inUse: Int, of count: Int, now: MonotonicTime) {
        let least = Self.least(refusal)
        guard inUse > 1, count > least else { return nil }
        bound = max(least, count / 2)
        tooMany = Self.refused(inUse, count)
        (time, grown) = (now, now)
    }

    /// - Parameter since: When the transfer began: what was under way when another one was refused says the same again.
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

    /// - Returns: Whether there is nothing left of it.
    package mutating func recover(_ now: MonotonicTime) -> Bool {
        let isForgotten = now - time >= remembered
        let limit = isForgotten ? ConcurrencyProbe.most : max(bound, tooMany - 1)
        while now - grown >= Self.growth, bound < limit {
            bound += 1
            grown = grown + Self.growth
        }
        // Time in which none could come back counts for none.
        if bound >= limit { grown = max(grown, now) }
        return bound >= ConcurrencyProbe.most
    }

    /// Connections that are left where answers break off: some servers cut every long one, however few there are.
    static let leastOfBreaks = 6

    private static func least(_ refusal: Refusal) -> Int { refusal == .answer ? 1 : leastOfBreaks }

    /// Where the last ones of many were refused, nobody knows how many were too many.
    private static func refused(_ inUse: Int, _ count: Int) -> Int { inUse > count / 2 ? inUse : count }
}
