import DequeModule
package import TransferCore

/// The starts at origins whose rates several processes share. Each start has its own time, which their store gives.
///
/// The times are a little further apart than the rate requires, and each is valid only for a moment. No second thus has
/// more starts than the rate allows, though a start may be late. An unused time is lost.
package struct SharedRateTokens: Sendable {
    /// A request to the store for times.
    package struct Ask: Sendable, Hashable {
        package let origin: String
        package let perSecond: Double
        package let count: Int

        /// The distance between the times.
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

    /// The answer to a request.
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
        /// The time is unknown until the store has given one.
        case unknown
    }

    private struct Origin: Sendable {
        var times = Deque<MonotonicTime>()
        var isAsking = false
    }

    private static let spread = 1.1
    /// The longest delay of a start after its time.
    package static let grace = Duration.milliseconds(50)
    /// The most times in a request: those of one second, so that other processes get theirs.
    private static let most = 64
    /// The number of origins beyond which those without remaining times are forgotten.
    private static let mostKnown = 1024

    private var origins: [String: Origin] = [:]
    /// The origins with a wanted start that has no time yet, and their rates.
    private var wanted: [String: Double] = [:]

    package init() {}

    /// Returns whether a job may start at the origin.
    package mutating func turn(at origin: String, perSecond: Double, now: MonotonicTime) -> Turn {
        while let first = origins[origin]?.times.first, first + Self.grace < now {
            origins[origin]?.times.removeFirst()
        }
        if let first = origins[origin]?.times.first { return first <= now ? .now : .at(first) }
        if origins[origin]?.isAsking != true { wanted[origin] = perSecond }
        return .unknown
    }

    package mutating func started(at origin: String) { _ = origins[origin]?.times.popFirst() }

    /// Returns the requests that are due.
    ///
    /// - Parameter jobs: A function that returns how many jobs wait for a start at an origin.
    /// - Returns: The requests to the store.
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
