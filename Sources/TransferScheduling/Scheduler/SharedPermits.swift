package import TransferCore
package import TransferJobs

/// Places at origins that all workers of a queue have together: each has as many as its store gave it, for one job after the
/// other.
///
/// The store is asked when jobs wait that have no place, again after 200 ms while there are too few, and else once a second:
/// then it hears how many are used, and may take some back for those who have less than their share. No more jobs are
/// under way than it was told while it is asked.
package struct SharedPermits: Sendable {
    /// The places of an origin that a process has, and those that it wants.
    package struct Use: Sendable, Hashable {
        package var held: Int
        package var wanted: Int

        package init(held: Int, wanted: Int) {
            self.held = held
            self.wanted = wanted
        }
    }

    package struct Ask: Sendable, Hashable {
        package let origin: String
        /// How many there are for all.
        package let places: PerHost
        /// The places that are used now, and those that could be.
        package let use: Use
        package let seen: OriginObservations

        package init(origin: String, places: PerHost, use: Use, seen: OriginObservations = OriginObservations()) {
            self.origin = origin
            self.places = places
            self.use = use
            self.seen = seen
        }
    }

    /// The answer to it: this process's places.
    package struct Given: Sendable, Hashable {
        package let ask: Ask
        package let count: Int

        package init(_ ask: Ask, count: Int) {
            self.ask = ask
            self.count = count
        }
    }

    private struct Origin: Sendable {
        var count = 0
        /// The places that were used when the store was asked, while it hasn't answered.
        var asked: Int?
        var lastAsk: MonotonicTime?
        var isShort = true
        /// Connections besides those of jobs were looked for.
        var wantsMore = false
        /// When one was refused that wasn't under way at a refusal before.
        var refused: MonotonicTime?
        var seen = OriginObservations()
    }

    private static let pauses = (short: Duration.milliseconds(200), long: Duration.seconds(1))
    /// So much longer for each origin, so that many don't load the store.
    private static let perOrigin = Duration.milliseconds(10)
    /// At more origins than these nobody asks for places at a time.
    private static let most = 256
    private static let atOnce = MonotonicTime(nanoseconds: .min)

    private var origins: [String: Origin] = [:]
    /// Origins that have to wait for others to be let go.
    private var waiting: [String] = []
    /// When the store is asked next, as far as is known.
    private var nextLook: MonotonicTime?

    package init() {}

    /// The places that this process has.
    package func count(at origin: String) -> Int { origins[origin].map { $0.asked ?? $0.count } ?? 0 }

    /// Whether transfers to origins whose level is looked for are under way, perhaps.
    package var isTelling: Bool { origins.contains { $0.value.count > 0 } }

    // MARK: What is wanted and seen

    /// A job waits for a place.
    package mutating func want(_ origin: String) {
        guard let known = origins[origin] else {
            guard origins.count < Self.most else {
                if !waiting.contains(origin) { waiting.append(origin) }
                return
            }
            origins[origin] = Origin()
            nextLook = Self.atOnce
            return
        }
        guard !known.isShort, let last = known.lastAsk else { return }
        origins[origin]?.isShort = true
        look(at: last + pause(isShort: true))
    }

    /// Connections besides those of jobs are looked for.
    package mutating func wantMore(_ origin: String) { origins[origin]?.wantsMore = true }

    package mutating func answered(_ origin: String) { origins[origin]?.seen.answered() }

    package mutating func moved(_ bytes: Int64, at origin: String) { origins[origin]?.seen.moved(bytes) }

    /// Half as many are left at once, for all that were under way together, until the store has heard of it.
    package mutating func refused(_ origin: String, _ refusal: OriginObservations.Refusal, now: MonotonicTime) {
        guard let state = origins[origin] else { return }
        origins[origin]?.seen.refused(refusal)
        guard state.refused.map({ refusal.since > $0 }) ?? true else { return }
        origins[origin]?.refused = now
        origins[origin]?.count = max(1, state.count / 2)
        origins[origin]?.asked = state.asked.map { max(1, $0 / 2) }
        origins[origin]?.lastAsk = nil
        look(at: now)
    }

    // MARK: Questions and answers

    /// - Parameters:
    ///   - told: How many places an origin has.
    ///   - use: What of them is used by jobs and connections besides, and how many jobs could use some.
    ///   - most: The transfers of this process at once.
    /// - Returns: What the store is to be asked now, and when it may be asked again.
    package mutating func asks(
        now: MonotonicTime, most: Int, reported: (String) -> PerHost, use: (String) -> Use
    ) -> (asks: [Ask], next: MonotonicTime?) {
        guard let look = nextLook, look <= now else { return ([], nextLook) }
        nextLook = nil
        var asks: [Ask] = []
        for (origin, state) in origins where state.asked == nil {
            var use = use(origin)
            if state.wantsMore { use.wanted = most }
            let isShort = use.wanted > state.count
            origins[origin]?.isShort = isShort
            if use.wanted == 0, state.count == 0 {
                origins[origin] = nil
                continue
            }
            if let last = state.lastAsk, case let due = last + pause(isShort: isShort), due > now {
                self.look(at: due)
                continue
            }
            asks.append(Ask(origin: origin, places: reported(origin), use: use, seen: state.seen))
            origins[origin]?.asked = min(use.held, state.count)
            origins[origin]?.lastAsk = now
            origins[origin]?.seen = OriginObservations()
            origins[origin]?.wantsMore = false
        }
        letIn()
        return (asks.sorted { $0.origin < $1.origin }, nextLook)
    }

    package mutating func given(_ given: Given) {
        let origin = given.ask.origin
        guard let state = origins[origin] else { return }
        if given.ask.use.wanted == 0, given.count == 0 {
            origins[origin] = nil
            letIn()
            return
        }
        // A refusal since then is told next.
        origins[origin]?.count = state.lastAsk == nil ? min(given.count, state.count) : given.count
        origins[origin]?.asked = nil
        look(at: state.lastAsk.map { $0 + pause(isShort: given.count < given.ask.use.wanted) } ?? Self.atOnce)
    }

    private mutating func letIn() {
        while origins.count < Self.most, !waiting.isEmpty { want(waiting.removeFirst()) }
    }

    private mutating func look(at time: MonotonicTime) { nextLook = min(nextLook ?? time, time) }

    private func pause(isShort: Bool) -> Duration {
        max(isShort ? Self.pauses.short : Self.pauses.long, Self.perOrigin * origins.count)
    }
}

extension SharedPermits.Use {
    /// The places that a process is given: those that nobody has, and no more than its share while another one has less
    /// than that and wants more.
    ///
    /// - Parameters:
    ///   - places: Of all processes.
    ///   - others: What the other ones have.
    package func granted(of places: Int, beside others: [SharedPermits.Use]) -> Int {
        let free = places - others.reduce(0) { $0 + $1.held }
        let share = max(1, places / (1 + others.count { $0.wanted > 0 }))
        let isAnotherShort = others.contains { $0.held < min($0.wanted, share) }
        return max(0, min(wanted, free, isAnotherShort ? share : .max))
    }
}
