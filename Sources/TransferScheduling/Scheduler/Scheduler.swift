import DequeModule
package import TransferCore
package import TransferJobs

/// Decides which job starts next: priorities, fairness between origins, concurrency, pauses of origins. Pure: it is
/// told what happened and at what time, and says what to do.
///
/// It sees a window of claimed jobs per lane and asks for more as they start, so its size doesn't grow with the queue.
package struct Scheduler: Sendable {
    package typealias Candidate = StartCandidate

    package struct Limits: Sendable, Hashable {
        package var concurrency = BatchLimits.concurrency
        package var perHost = PerHost.automatic
        package var requestRate: Double?
        package var bounds: OriginBounds

        package init(
            concurrency: Int = BatchLimits.concurrency, perHost: PerHost = .automatic, requestRate: Double? = nil,
            bounds: OriginBounds = OriginBounds()
        ) {
            self.concurrency = concurrency
            self.perHost = perHost
            self.requestRate = requestRate
            self.bounds = bounds
        }

        package init(_ limits: BatchLimits) {
            self.init(
                // Programs may say anything; with no slot at all a batch would never end.
                concurrency: max(1, limits.concurrency ?? BatchLimits.concurrency),
                perHost: limits.perHost ?? .automatic,
                requestRate: limits.requestRate, bounds: OriginBounds(limits.origins))
        }
    }

    package enum Action: Sendable, Hashable {
        case start(Candidate)
        /// The origin is given up: the job fails with this error without having been tried.
        case refuse(Candidate, TransferError)
        case claim(Lane, count: Int)
        /// Times for starts are wanted of the store.
        case reserve(SharedRateTokens.Ask)
        /// Places at an origin are wanted of the store, or given back to it.
        case share(SharedPermits.Ask)
    }

    /// What the network lets start.
    package private(set) var network = NetworkGate()
    /// Whether that is everything.
    private var isNetworkOpen = true

    package private(set) var limits: Limits
    /// What was started and hasn't ended, with the places of their origins.
    package private(set) var active: [Int64: Int] = [:]
    package internal(set) var table = LaneTable()
    private var order = StartOrder()
    package private(set) var gates: [String: CircuitBreaker] = [:]
    var places: OriginPlaces
    private var probes = AuthenticationProbes()
    private var copies = CopyPlaces()
    /// Origins that are paused and have jobs to start, with the time at which a job may try.
    private var pauses = PauseTimes()
    package internal(set) var loads = OriginLoads()
    /// How many jobs the machine's descriptors are enough for, where they weren't.
    package var openFiles: OriginRoom?
    var rates: StartRates
    /// When something may start that may not now; `nil` when only an event can change that.
    package private(set) var nextWake: MonotonicTime?

    private let ahead: ClaimsAhead

    /// Whether the bounds on origins are those of all processes that share the queue.
    private let isShared: Bool

    package init(limits: Limits, ahead: ClaimsAhead = .alone, isShared: Bool = false, now: MonotonicTime) {
        self.limits = limits
        self.ahead = ahead
        self.isShared = isShared
        places = OriginPlaces(limits.perHost, limits.bounds, isShared: isShared)
        rates = StartRates(perSecond: limits.requestRate, limits.bounds, isShared: isShared, now: now)
    }

    package mutating func setLimits(_ limits: Limits, now: MonotonicTime) {
        self.limits = limits
        places.set(limits.perHost, limits.bounds)
        rates = StartRates(perSecond: limits.requestRate, limits.bounds, isShared: isShared, now: now)
        table.touchAll()
    }

    // MARK: Events

    /// The network lets other jobs start than before.
    package mutating func setNetwork(_ gate: NetworkGate) {
        network = gate
        isNetworkOpen = gate == NetworkGate()
        table.touchAll()
    }

    /// - Parameter overtakes: Some of them may go before those that have been claimed.
    package mutating func backlogGrew(_ lane: Lane, by count: Int, overtakes: Bool = false) {
        table[table.place(of: lane)].grew(by: count, overtakes: overtakes)
    }

    /// A claim came back; fewer jobs than asked for means that the lane was empty when the claim was done.
    package mutating func claimed(_ lane: Lane, _ candidates: [Candidate], asked: Int) {
        let place = table.place(of: lane)
        table[place].claimed(candidates, asked: asked)
        dropIfEmpty(place)
    }

    /// A claimed job of another lane belongs to this one now.
    package mutating func joined(_ candidate: Candidate) {
        table[table.place(of: candidate.lane)].joined(candidate)
    }

    /// A start came to its end; the slot is free.
    package mutating func ended(_ candidate: Candidate) {
        guard let origin = active.removeValue(forKey: candidate.id) else { return }
        table.ended(at: origin)
        left(nil, of: candidate)
        copies.ended(candidate.id)
        if let origin = copies.release() { table.touch(to: origin) }
        answered(candidate)
    }

    /// The server has said whether it wants the job's password, and how.
    package mutating func answered(_ candidate: Candidate) {
        if probes.answered(candidate) { table.touch(to: candidate.lane.origin) }
    }

    /// - Parameters:
    ///   - isPrompt: Whether the answer came within about one round trip, from afar.
    ///   - now: `nil` where the answer is none of a transfer that came to its end.
    package mutating func originAnswered(_ origin: String, isPrompt: Bool = false, now: MonotonicTime? = nil) {
        if let now { transferEnded(at: origin, isPrompt: isPrompt, now: now) }
        // Open with no failures is what a missing gate means, once nothing is under way any more that was so when it closed.
        guard gates[origin] != nil else { return }
        gates[origin]?.answered()
        if gates[origin]?.state == .open(failures: 0), table.active(at: origin) <= 1 { gates[origin] = nil }
        table.touch(to: origin)
    }

    /// - Parameter since: When the job began.
    package mutating func originFailed(
        _ origin: String, job: Int64, _ error: TransferError, rule: RetryRule, isEndless: Bool = false,
        since: MonotonicTime? = nil, random: Double, now: MonotonicTime
    ) {
        let patience = patience(of: origin)
        gates[origin, default: CircuitBreaker()].failed(
            job, error, rule: rule, patience: patience, isEndless: isEndless, since: since,
            hasOthers: table.active(at: origin) > 1, random: random, now: now)
        table.touch(to: origin)
    }

    /// Of the jobs that wait for the origin.
    private func patience(of origin: String) -> CircuitBreaker.Patience {
        var patience = CircuitBreaker.Patience()
        for state in table.lanes(to: origin) {
            for candidate in state.window { patience.add(candidate.patience, isEndless: candidate.isEndless) }
        }
        return patience
    }

    /// Origins that were given up get another chance: somebody wants something of them again.
    package mutating func reviveDead() {
        gates = gates.filter { if case .dead = $0.value.state { false } else { true } }
        for origin in Array(gates.keys) { gates[origin]?.revive() }
        table.touchAll()
    }

    /// Nothing is held back any more: somebody said to try now.
    package mutating func openGates() {
        gates.removeAll()
        table.touchAll()
    }

    /// Origins that couldn't be reached are tried anew, over the network that is there now; what a server asked for
    /// holds over every network.
    package mutating func openSilentGates() {
        gates = gates.filter { $0.value.isAsked }
        table.touchAll()
    }

    package mutating func originAbandoned(_ origin: String, job: Int64, now: MonotonicTime) {
        gates[origin]?.abandoned(job, now: now)
        table.touch(to: origin)
    }

    /// - Parameter patience: The job's that gave up: more patient ones go on.
    package mutating func originExhausted(_ origin: String, _ error: TransferError, patience: RetryHorizon? = nil) {
        // A server that is busy with others of ours isn't gone.
        guard error.status == nil || table.active(at: origin) <= 1 else { return }
        if let patience {
            var others = self.patience(of: origin)
            if let gate = gates[origin] { others.widen(gate.patience) }
            guard others.ending.map(patience.covers) ?? true else { return }
        }
        gates[origin]?.exhausted(error)
        table.touch(to: origin)
    }

    /// A pause that another process was asked for.
    package mutating func restorePause(of origin: String, _ error: TransferError, until: MonotonicTime) {
        gates[origin, default: CircuitBreaker()].spare(until: until, error)
        table.touch(to: origin)
    }

    /// Takes jobs out that are claimed and not started; for pausing and cancelling.
    package mutating func remove(where matches: (Candidate) -> Bool) -> [Candidate] {
        var removed: [Candidate] = []
        // From the last: one that is dropped has the last one put into its place.
        for place in table.lanes.indices.reversed() where table.lanes[place].window.contains(where: matches) {
            removed += table.lanes[place].window.filter(matches)
            table[place].window.removeAll(where: matches)
            dropIfEmpty(place)
        }
        return removed
    }

    /// A batch's run is over: of what it has left nothing is started here any more.
    package mutating func forget(batch: Int64) {
        for place in table.lanes.indices.reversed() where table.lanes[place].lane.batch == batch {
            table[place].clear()
            dropIfEmpty(place)
        }
    }

    /// The lane's ready jobs changed in the store by another hand.
    package mutating func backlogIs(_ lane: Lane, _ count: Int) {
        let place = table.place(of: lane)
        table[place].backlogIs(count)
        dropIfEmpty(place)
    }

    // MARK: Questions

    package var isIdle: Bool { active.isEmpty && table.isEmpty }

    /// Jobs that are next where others of their origins are under way; the most urgent of each lane first.
    package func upcoming(_ count: Int) -> [Candidate] {
        var candidates: [Candidate] = []
        guard count > 0 else { return [] }
        for origin in Set(active.values).sorted() {
            for place in table.origins[origin].lanes where candidates.count < count {
                candidates += table.lanes[place].window.prefix(count - candidates.count)
            }
        }
        return candidates
    }

    // MARK: Decisions

    /// Everything that is to be done now. What it starts counts as active at once.
    ///
    /// A start costs O(log n) in the lanes there are: only those are looked at that changed.
    package mutating func decide(now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        var claims: [Action] = []
        nextWake = nil
        for origin in places.grow(now: now) { table.touch(to: origin) }
        while let origin = pauses.nextDue(now: now) { table.touch(to: origin) }
        lookAtChanges(&claims)
        let concurrency = concurrency(now)
        while active.count < concurrency, let (place, index) = nextStart(now, &claims) {
            // A refusal is no request.
            let isRefused = if case .refuse = permission(table.lanes[place], now) { true } else { false }
            if !isRefused, case let turn = rates.takeOne(now: now), turn != .now {
                table.touch(place)
                if case .at(let until) = turn { wake(at: until) }
                break
            }
            let candidate = table[place].window.remove(at: index)
            switch ask(candidate, now) {
            case .start:
                active[candidate.id] = table.lanes[place].origin
                probes.started(candidate)
                copies.started(candidate)
                rates.started(at: candidate.lane.origin, now: now)
                table.started(place)
                actions.append(.start(candidate))
            case .refuse(let error): actions.append(.refuse(candidate, error))
            case .wait: table[place].window.insert(candidate, at: index)
            }
            dropIfEmpty(place)
            lookAtChanges(&claims)
        }
        if active.count < concurrency, let end = pauses.next(where: isHeldBack) { wake(at: end) }
        return actions + claims + startsToReserve().map { .reserve($0) } + placesToShare(now).map { .share($0) }
    }

    /// Puts lanes that changed where they belong in the order, and asks for more jobs where few are left.
    private mutating func lookAtChanges(_ claims: inout [Action]) {
        while let place = table.nextChanged() {
            claimIfLow(place, &claims)
            let state = table.lanes[place]
            if let index = startable(state) {
                order.put(place, priority: state.window[index].priority, lastServed: state.lastServed)
            } else {
                order.take(place)
            }
        }
    }

    /// The lane that starts a job next. When there is none, lanes whose copies waited for a place are looked at again, as long
    /// as there is a place.
    private mutating func nextStart(_ now: MonotonicTime, _ claims: inout [Action]) -> (place: Int, index: Int)? {
        while true {
            if let next = nextLane(now) { return next }
            guard let origin = copies.release() else { return nil }
            table.touch(to: origin)
            lookAtChanges(&claims)
        }
    }

    /// The lane whose next job is the most urgent, of those that may start one; among equals the one that has waited
    /// longest. Those that must wait are left out until what they wait for changes.
    private mutating func nextLane(_ now: MonotonicTime) -> (place: Int, index: Int)? {
        while let place = order.next() {
            let state = table.lanes[place]
            guard let index = startable(state) else { continue }
            let isFull = load(of: state.lane.origin).free(in: places.bounds(at: state.lane.origin)) == 0
            if isFull { places.filled(state.lane.origin) }
            if isFull || probes.holds(state.window[index]) {
                table.holdLanes(at: state.origin)
                continue
            }
            if copies.holds(state.window[index]) { continue }
            switch permission(state, now) {
            case .wait(let until):
                if let until { pauses.note(state.lane.origin, until: until) }
                continue
            case .start:
                switch rates.turn(at: state.lane.origin, now: now) {
                case .now: break
                case .at(let until):
                    pauses.note(state.lane.origin, until: until)
                    continue
                case .unknown: continue
                }
            case .refuse: break
            }
            return (place, index)
        }
        return nil
    }

    private func startable(_ state: LaneState) -> Int? {
        isNetworkOpen ? (state.window.isEmpty ? nil : 0) : state.startable(network)
    }

    private mutating func ask(_ candidate: Candidate, _ now: MonotonicTime) -> CircuitBreaker.Permission {
        if gates.isEmpty { return .start }
        return gates[candidate.lane.origin]?.ask(candidate.id, isEndless: candidate.isEndless, now: now) ?? .start
    }

    /// The gate's answer for the lane's jobs, which are all of one batch.
    private func permission(_ state: LaneState, _ now: MonotonicTime) -> CircuitBreaker.Permission {
        if gates.isEmpty { return .start }
        let isEndless = state.window.first?.isEndless ?? false
        return gates[state.lane.origin]?.permission(isEndless: isEndless, now: now) ?? .start
    }

    /// Whether a pause of the origin that ends then, or the bound on its starts, holds jobs back.
    private func isHeldBack(_ origin: String, _ end: MonotonicTime) -> Bool {
        var isPaused = rates.areBounded(at: origin)
        if case .paused(end, _) = gates[origin]?.state { isPaused = true }
        guard isPaused else { return false }
        return table.lanes(to: origin).contains { !$0.window.isEmpty }
    }

    private mutating func claimIfLow(_ place: Int, _ actions: inout [Action]) {
        let state = table.lanes[place]
        guard !state.isClaiming, state.backlog > 0, state.window.count < ahead.lowMark || state.isOvertaken,
            isNetworkOpen || mayClaim(state),
            !state.mayStart(network) || !places.awaitsPlaces(at: state.lane.origin)
        else { return }
        table.claims(place)
        actions.append(.claim(state.lane, count: ahead.page))
    }

    /// Of a lane that waits for a way out one page shows whether its jobs need one: they may go through a proxy nearby.
    private func mayClaim(_ state: LaneState) -> Bool {
        if network.isOpen(state.lane, state.reach) || state.isMixed { return true }
        return state.window.isEmpty && !network.shut.contains(state.lane.network)
    }

    private mutating func dropIfEmpty(_ place: Int) {
        let last = table.lanes.count - 1
        guard table.dropIfEmpty(place) else { return }
        order.take(place)
        order.take(last)
    }

    mutating func wake(at time: MonotonicTime) { nextWake = min(nextWake ?? time, time) }
}
