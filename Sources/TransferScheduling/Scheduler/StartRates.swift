package import TransferCore

/// Bounds on the starts in a second: of all jobs together, and at each of the origins that a configuration names.
package struct StartRates: Sendable {
    private var all: StartRate?
    private let bounds: OriginBounds
    private var origins: [String: StartRate] = [:]

    /// More origins than these are forgotten where nothing is owed to them.
    private static let mostKnown = 1024

    package init(perSecond: Double?, _ bounds: OriginBounds, now: MonotonicTime) {
        all = perSecond.map { StartRate(perSecond: $0, now: now) }
        self.bounds = bounds
    }

    /// Takes one start of all, or says when the next is allowed.
    package mutating func take(now: MonotonicTime) -> MonotonicTime? { all?.take(now: now) }

    /// - Returns: When the next may start at the origin; `nil` where it may now.
    package func next(at origin: String, now: MonotonicTime) -> MonotonicTime? {
        // One that isn't known has rested.
        origins.isEmpty ? nil : origins[origin]?.next(now: now)
    }

    /// A job starts at the origin.
    package mutating func started(at origin: String, now: MonotonicTime) {
        guard bounds.hasRates, let perSecond = bounds.rate(at: origin) else { return }
        if origins[origin] == nil, origins.count >= Self.mostKnown {
            origins = origins.filter { !$0.value.isRested(now: now) }
        }
        _ = origins[origin, default: StartRate(perSecond: perSecond, now: now)].take(now: now)
    }
}
