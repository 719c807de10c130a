import DequeModule
package import TransferCore
package import TransferJobs

/// The scheduler, which decides which job starts next by priorities, fairness between origins, concurrency, and pauses
/// of origins. Pure: it takes events with their times, and returns actions.
///
/// A window of claimed jobs per lane is refilled as they start, so the size does not grow with the queue.
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
                // Programs may set any number; with no slot at all, a batch would never end.
                concurrency: max(1, limits.concurrency ?? BatchLimits.concurrency),
                perHost: limits.perHost ?? .automatic,
                requestRate: limits.requestRate, bounds: OriginBounds(limits.origins))
        }
    }

    package enum Action: Sendable, Hashable {
        case start(Candidate)
        /// The origin is given up: the job fails with this error without an attempt.
        case refuse(Candidate, TransferError)
        case claim(Lane, count: Int)
        /// The store is asked for times of starts.
        case reserve(SharedRateTokens.Ask)
        /// The store is asked for places at an origin, or gets some back.
        case share(SharedPermits.Ask)
    }

    /// The gate of the network.
    package private(set) var network = NetworkGate()
    /// Whether the network's gate lets every job start.
    private var isNetworkOpen = true

    package private(set) var limits: Limits
    /// The jobs that have started and not ended, with the places of their origins.
    package private(set) var active: [Int64: Int] = [:]
    package internal(set) var table = LaneTable()
    private var order = StartOrder()
    package private(set) var breakers: [String: CircuitBreaker] = [:]
    var places: OriginPlaces
    private var probes = AuthenticationProbes()
    private var copies = CopyPlaces()
    /// The paused origins with jobs to start, and the time at which a job may probe.
    private var pauses = PauseTimes()
    package internal(set) var loads = OriginLoads()
    /// The number of jobs for which the machine's descriptors suffice; `nil` if they have never been too few.
    package var openFiles: OriginRoom?
    var rates: StartRates
    /// The time at which another job may start; `nil` if only an event can change that.
    package private(set) var nextWake: MonotonicTime?

    private let ahead: ClaimsAhead

    /// Whether the limits of origins are those of all processes that share the queue.
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

    /// Sets the gate after the network changed.
    package mutating func setNetwork(_ gate: NetworkGate) {
        network = gate
        isNetworkOpen = gate == NetworkGate()
        table.touchAll()
    }

    /// Notes that jobs became ready in the store. `overtakes` is true if some of them may precede claimed jobs.
    package mutating func backlogGrew(_ lane: Lane, by count: Int, overtakes: Bool = false) {
        table[table.place(of: lane)].grew(by: count, overtakes: overtakes)
    }

    /// Takes the result of a claim. Fewer jobs than requested mean that the lane was empty at the time of the claim.
    package mutating func claimed(_ lane: Lane, _ candidates: [Candidate], asked: Int) {
        let place = table.place(of: lane)
        table[place].claimed(candidates, asked: asked)
        dropIfEmpty(place)
    }

    /// Moves a claimed job from another lane to this one.
    package mutating func joined(_ candidate: Candidate) {
        table[table.place(of: candidate.lane)].joined(candidate)
    }

    /// Notes that a started job has ended, and frees its slot.
    package mutating func ended(_ candidate: Candidate) {
        guard let origin = active.removeValue(forKey: candidate.id) else { return }
        table.ended(at: origin)
        left(nil, of: candidate)
        copies.ended(candidate.id)
        if let origin = copies.release() { table.touch(to: origin) }
        answered(candidate)
    }

    /// Notes that the server has shown whether and how it wants the job's password.
    package mutating func answered(_ candidate: Candidate) {
        if probes.answered(candidate) { table.touch(to: candidate.lane.origin) }
    }

    /// Notes that the origin answered. `isPrompt` is true if a distant server answered within about one round trip.
    /// `now` is `nil` if the answer is not that of a finished transfer.
    package mutating func originAnswered(_ origin: String, isPrompt: Bool = false, now: MonotonicTime? = nil) {
        if let now { transferEnded(at: origin, isPrompt: isPrompt, now: now) }
        // A missing breaker means closed without failures. It is removed once no job is under way that was so when it
        // closed.
        guard breakers[origin] != nil else { return }
        breakers[origin]?.answered()
        if breakers[origin]?.state == .closed(failures: 0), table.active(at: origin) <= 1 { breakers[origin] = nil }
        table.touch(to: origin)
    }

    /// Notes that the origin failed a job that began at `since`.
    package mutating func originFailed(
        _ origin: String, job: Int64, _ error: TransferError, rule: RetryRule, isEndless: Bool = false,
        since: MonotonicTime? = nil, random: Double, now: MonotonicTime
    ) {
        let patience = patience(of: origin)
        breakers[origin, default: CircuitBreaker()].failed(
            job, error, rule: rule, patience: patience, isEndless: isEndless, since: since,
            hasOthers: table.active(at: origin) > 1, random: random, now: now)
        table.touch(to: origin)
    }

    /// Returns the patience of the jobs that wait for the origin.
    private func patience(of origin: String) -> CircuitBreaker.Patience {
        var patience = CircuitBreaker.Patience()
        for state in table.lanes(to: origin) {
            for candidate in state.window { patience.add(candidate.patience, isEndless: candidate.isEndless) }
        }
        return patience
    }

    /// Gives origins that were given up another chance, because new jobs want them.
    package mutating func reviveDead() {
        breakers = breakers.filter { if case .exhausted = $0.value.state { false } else { true } }
        for origin in Array(breakers.keys) { breakers[origin]?.revive() }
        table.touchAll()
    }

    /// Closes all breakers, because a user asked to try now.
    package mutating func openGates() {
        breakers.removeAll()
        table.touchAll()
    }

    /// Closes the breakers of origins that could not be reached, because the network has changed. A pause that a server
    /// requested holds on every network.
    package mutating func openSilentGates() {
        breakers = breakers.filter { $0.value.isAsked }
        table.touchAll()
    }

    package mutating func originAbandoned(_ origin: String, job: Int64, now: MonotonicTime) {
        breakers[origin]?.abandoned(job, now: now)
        table.touch(to: origin)
    }

    /// Notes that a job with this patience gave up because of the origin; more patient jobs continue.
    package mutating func originExhausted(_ origin: String, _ error: TransferError, patience: RetryHorizon? = nil) {
        // A server that is busy with other jobs of this process is not gone.
        guard error.status == nil || table.active(at: origin) <= 1 else { return }
        if let patience {
            var others = self.patience(of: origin)
            if let breaker = breakers[origin] { others.widen(breaker.patience) }
            guard others.ending.map(patience.covers) ?? true else { return }
        }
        breakers[origin]?.exhausted(error)
        table.touch(to: origin)
    }

    /// Restores a pause that the origin requested from another process.
    package mutating func restorePause(of origin: String, _ error: TransferError, until: MonotonicTime) {
        breakers[origin, default: CircuitBreaker()].spare(until: until, error)
        table.touch(to: origin)
    }

    /// Removes claimed jobs that have not started, for pausing and cancelling.
    package mutating func remove(where matches: (Candidate) -> Bool) -> [Candidate] {
        var removed: [Candidate] = []
        // The loop runs backwards, because the last lane moves to the place of a dropped one.
        for place in table.lanes.indices.reversed() where table.lanes[place].window.contains(where: matches) {
            removed += table.lanes[place].window.filter(matches)
            table[place].window.removeAll(where: matches)
            dropIfEmpty(place)
        }
        return removed
    }

    /// Forgets a batch whose run is over, so that none of its remaining jobs is started here.
    package mutating func forget(batch: Int64) {
        for place in table.lanes.indices.reversed() where table.lanes[place].lane.batch == batch {
            table[place].clear()
            dropIfEmpty(place)
        }
    }

    /// Sets the number of the lane's ready jobs in the store, after another party changed them.
    package mutating func backlogIs(_ lane: Lane, _ count: Int) {
        let place = table.place(of: lane)
        table[place].backlogIs(count)
        dropIfEmpty(place)
    }

    // MARK: Questions

    package var isIdle: Bool { active.isEmpty && table.isEmpty }

    /// Returns the jobs that are next at origins with jobs under way, the most urgent of each lane first.
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

    /// Decides on all actions that are due. Started jobs count as active at once.
    ///
    /// A start costs O(log n) in the number of lanes, because only changed lanes are considered.
    package mutating func decide(now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        var claims: [Action] = []
        nextWake = nil
        for origin in places.grow(now: now) { table.touch(to: origin) }
        while let origin = pauses.nextDue(now: now) { table.touch(to: origin) }
        lookAtChanges(&claims)
        let concurrency = concurrency(now)
        while active.count < concurrency, let (place, index) = nextStart(now, &claims) {
            // A refusal is not a request.
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

    /// Updates the places of changed lanes in the order, and claims more jobs where few are left.
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

    /// Returns the lane that starts a job next. If there is none, lanes whose copies waited for a place are considered
    /// again while there is a place.
    private mutating func nextStart(_ now: MonotonicTime, _ claims: inout [Action]) -> (place: Int, index: Int)? {
        while true {
            if let next = nextLane(now) { return next }
            guard let origin = copies.release() else { return nil }
            table.touch(to: origin)
            lookAtChanges(&claims)
        }
    }

    /// Returns the lane with the most urgent startable job; among equals, the one that has waited longest. Lanes that
    /// must wait are left out until the reason changes.
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
        if breakers.isEmpty { return .start }
        return breakers[candidate.lane.origin]?.ask(candidate.id, isEndless: candidate.isEndless, now: now) ?? .start
    }

    /// Returns the breaker's permission for the lane's jobs, which all belong to one batch.
    private func permission(_ state: LaneState, _ now: MonotonicTime) -> CircuitBreaker.Permission {
        if breakers.isEmpty { return .start }
        let isEndless = state.window.first?.isEndless ?? false
        return breakers[state.lane.origin]?.permission(isEndless: isEndless, now: now) ?? .start
    }

    /// Returns whether jobs are kept waiting by a pause of the origin that ends then, or by the limit on its starts.
    private func isHeldBack(_ origin: String, _ end: MonotonicTime) -> Bool {
        var isPaused = rates.areBounded(at: origin)
        if case .open(end, _) = breakers[origin]?.state { isPaused = true }
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

    /// Returns whether the lane may claim jobs. A lane without a default route may claim one page, which shows whether
    /// its jobs use a local proxy.
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
