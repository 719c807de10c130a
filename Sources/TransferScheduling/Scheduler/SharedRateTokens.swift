import DequeModule
package import TransferCore

/// Starts at origins whose rates several processes keep together: each start has a time of its own, which their store gives.
///
/// The times lie a little further apart than the rate says, and each holds for a moment only: so in no second there are more
/// starts than the rate allows, though a start may be late. A time that went by unused is lost.
package struct SharedRateTokens: Sendable {
    /// The times that a store is asked for.
    package struct Ask: Sendable, Hashable {
        package let origin: String
        package let perSecond: Double
        package let count: Int

        /// How far the times lie apart.
        package var interval: Duration { .microseconds(intervalInMicroseconds) }

        package var intervalInMicroseconds: Int64 {
            let rate = perSecond >= 1 / 86_400 ? min(perSecond, 1e6) : 1 / 86_400
            return Int64(SharedRateTokens.spread / rate * 1_000_000)
        }

        package init(origin: String, perSecond: Double, count: Int) {
            self.origin = origin
            self.perSecond = perSecond
            self.count = count
        }
    }

    /// The answer to it.
    package struct Given: Sendable, Hashable {
        package let ask: Ask
        package let first: MonotonicTime

        package init(_ ask: Ask, first: MonotonicTime) {
            self.ask = ask
            self.first = first
        }
    }

    package enum Turn: Sendable, Hashable {
        case now
        case at(MonotonicTime)
        /// When the store has given a time.
        case unknown
    }

    private struct Origin: Sendable {
        var times = Deque<MonotonicTime>()
        var isAsking = false
    }

    private static let spread = 1.1
    /// How late a start may be.
    package static let grace = Duration.milliseconds(50)
    /// More times aren't asked for at once: as many as a second has, so that other processes get theirs.
    private static let most = 64
    /// More origins than these are forgotten where no time is left of them.
    private static let mostKnown = 1024

    private var origins: [String: Origin] = [:]
    /// Origins where a start is wanted that has no time yet, with their rates.
    private var wanted: [String: Double] = [:]

    package init() {}

    /// Whether a job may start at the origin.
    package mutating func turn(at origin: String, perSecond: Double, now: MonotonicTime) -> Turn {
        while let first = origins[origin]?.times.first, first + Self.grace < now {
            origins[origin]?.times.removeFirst()
        }
        if let first = origins[origin]?.times.first { return first <= now ? .now : .at(first) }
        if origins[origin]?.isAsking != true { wanted[origin] = perSecond }
        return .unknown
    }

    package mutating func started(at origin: String) { _ = origins[origin]?.times.popFirst() }

    /// - Parameter jobs: How many jobs wait for a start at an origin.
    /// - Returns: What the store is to be asked now.
    package mutating func asks(_ jobs: (String) -> Int) -> [Ask] {
        guard !wanted.isEmpty else { return [] }
        let asks = wanted.sorted { $0.key < $1.key }.map { origin, perSecond in
            let second = min(Self.most, max(1, Int(min(perSecond, 1e6).rounded(.up))))
            return Ask(origin: origin, perSecond: perSecond, count: max(1, min(jobs(origin), second)))
        }
        wanted = [:]
        if origins.count >= Self.mostKnown { origins = origins.filter { $0.value.isAsking || !$0.value.times.isEmpty } }
        for ask in asks { origins[ask.origin, default: Origin()].isAsking = true }
        return asks
    }

    package mutating func given(_ given: Given) {
        var time = given.first
        for _ in 0..<given.ask.count {
            origins[given.ask.origin, default: Origin()].times.append(time)
            time = time + given.ask.interval
        }
        origins[given.ask.origin]?.isAsking = false
    }
}
