package import TransferCore

/// Bounds on the starts in a second: of all jobs together, and at each of the origins that a configuration names. They are
/// this process's own, or those of all that share its queue.
package struct StartRates: Sendable {
    private let perSecond: Double?
    private var all: StartRate?
    private let bounds: OriginBounds
    private var origins: [String: StartRate] = [:]
    /// The starts of a shared queue; `nil` where this process keeps the rates alone.
    private var shared: SharedRateTokens?

    /// More origins than these are forgotten where nothing is owed to them.
    private static let mostKnown = 1024
    /// Stands for all origins together.
    package static let everywhere = ""

    package init(perSecond: Double?, _ bounds: OriginBounds, isShared: Bool, now: MonotonicTime) {
        self.perSecond = perSecond
        self.bounds = bounds
        shared = isShared && (perSecond != nil || bounds.hasRates) ? SharedRateTokens() : nil
        all = shared == nil ? perSecond.map { StartRate(perSecond: $0, now: now) } : nil
    }

    /// Takes one start of all.
    package mutating func takeOne(now: MonotonicTime) -> SharedRateTokens.Turn {
        guard shared != nil else { return all?.take(now: now).map { .at($0) } ?? .now }
        guard let perSecond else { return .now }
        let turn = shared?.turn(at: Self.everywhere, perSecond: perSecond, now: now) ?? .now
        if turn == .now { shared?.started(at: Self.everywhere) }
        return turn
    }

    /// Whether a job may start at the origin.
    package mutating func turn(at origin: String, now: MonotonicTime) -> SharedRateTokens.Turn {
        guard shared != nil else {
            // An origin that isn't known has rested.
            return origins.isEmpty ? .now : origins[origin]?.next(now: now).map { .at($0) } ?? .now
        }
        guard let perSecond = bounds.rate(at: origin) else { return .now }
        return shared?.turn(at: origin, perSecond: perSecond, now: now) ?? .now
    }

    /// Whether jobs at the origin wait for times that were told. Such a time stands until it has come: time alone ends the wait,
    /// also where a start would be allowed a moment earlier.
    package func areBounded(at origin: String) -> Bool { bounds.hasRates && bounds.rate(at: origin) != nil }

    /// A job starts at the origin.
    package mutating func started(at origin: String, now: MonotonicTime) {
        guard bounds.hasRates, let perSecond = bounds.rate(at: origin) else { return }
        guard shared == nil else {
            shared?.started(at: origin)
            return
        }
        if origins[origin] == nil, origins.count >= Self.mostKnown {
            origins = origins.filter { !$0.value.isRested(now: now) }
        }
        _ = origins[origin, default: StartRate(perSecond: perSecond, now: now)].take(now: now)
    }

    // MARK: A shared queue's

    /// ``SharedRateTokens/asks(_:)``
    package mutating func asks(_ jobs: (String) -> Int) -> [SharedRateTokens.Ask] { shared?.asks(jobs) ?? [] }

    package mutating func given(_ given: SharedRateTokens.Given) { shared?.given(given) }
}
