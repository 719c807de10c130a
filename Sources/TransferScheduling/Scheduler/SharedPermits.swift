package import TransferCore
package import TransferJobs

/// The places at origins that all workers of a queue share. Each worker has as many as its store gave it, for one job
/// after the other.
///
/// The store is asked when jobs lack places, again after 200 ms while there are too few, and otherwise once a second.
/// The answer says how many are used, and may take some back for workers with less than their share. During a request,
/// no more jobs are under way than the request stated.
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
        /// The number of places of all processes together.
        package let places: PerHost
        /// The places that are used now, and those that could be used.
        package let use: Use
        package let seen: OriginObservations

        package init(origin: String, places: PerHost, use: Use, seen: OriginObservations = OriginObservations()) {
            self.origin = origin
            self.places = places
            self.use = use
            self.seen = seen
        }
    }

    /// The answer to a request: the places of this process.
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
        /// The number of used places in the request that the store has not answered yet.
        var asked: Int?
        var lastAsk: MonotonicTime?
        var isShort = true
        /// Whether connections besides those of jobs were wanted.
        var wantsMore = false
        /// The time of the last refusal of a transfer that was not under way at an earlier refusal.
        var refused: MonotonicTime?
        var seen = OriginObservations()
    }

    private static let pauses = (short: Duration.milliseconds(200), long: Duration.seconds(1))
    /// The additional pause per origin, so that many origins do not load the store.
    private static let perOrigin = Duration.milliseconds(10)
    /// The most origins at which a process asks for places at the same time.
    private static let most = 256
    private static let atOnce = MonotonicTime(nanoseconds: .min)

    private var origins: [String: Origin] = [:]
    /// The origins that wait for another origin to be dropped.
    private var waiting: [String] = []
    /// The time of the next request to the store, if it is known.
    private var nextLook: MonotonicTime?

    package init() {}

    /// Returns the number of places that this process has.
    package func count(at origin: String) -> Int { origins[origin].map { $0.asked ?? $0.count } ?? 0 }

    /// Whether there may be transfers under way to origins whose level is being found.
    package var isTelling: Bool { origins.contains { $0.value.count > 0 } }

    // MARK: Demand and observations

    /// Notes that a job waits for a place.
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

    /// Notes that connections besides those of jobs are wanted.
    package mutating func wantMore(_ origin: String) { origins[origin]?.wantsMore = true }

    package mutating func answered(_ origin: String) { origins[origin]?.seen.answered() }

    package mutating func moved(_ bytes: Int64, at origin: String) { origins[origin]?.seen.moved(bytes) }

    /// Notes a refusal. The number of places is halved at once, for all that were under way together, until the store
    /// has answered.
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

    // MARK: Requests and answers

    /// Returns the requests that are due. `reported` returns the configured places of an origin. `use` returns its
    /// places in use by jobs and other connections, and how many jobs could use one.
    ///
    /// - Parameter most: The number of transfers of this process at once.
    /// - Returns: The requests to the store, and the time of the next ones.
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
        // A refusal since the request is reported next.
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
    /// Returns the places that a process is given: free ones, but at most its share while another process has less than
    /// that and wants more.
    ///
    /// - Parameters:
    ///   - places: The number of places of all processes.
    ///   - others: The places that the other processes have and want.
    package func granted(of places: Int, beside others: [SharedPermits.Use]) -> Int {
        let free = places - others.reduce(0) { $0 + $1.held }
        let share = max(1, places / (1 + others.count { $0.wanted > 0 }))
        let isAnotherShort = others.contains { $0.held < min($0.wanted, share) }
        return max(0, min(wanted, free, isAnotherShort ? share : .max))
    }
}
