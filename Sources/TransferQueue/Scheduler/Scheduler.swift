import DequeModule
import TransferCore

/// Decides which job starts next: priorities, fairness between origins, concurrency, pauses of origins. Pure: it is
/// told what happened and at what time, and says what to do.
///
/// It sees a window of claimed jobs per lane and asks for more as they start, so its size doesn't grow with the queue.
struct Scheduler: Sendable {
    struct Limits: Sendable, Hashable {
        var concurrency = 32
        var perHost = 16
        var requestRate: Double?

        init(concurrency: Int = 32, perHost: Int = 16, requestRate: Double? = nil) {
            self.concurrency = concurrency
            self.perHost = perHost
            self.requestRate = requestRate
        }

        init(_ limits: BatchLimits) {
            self.init(
                // Programs may say anything; with no slot at all a batch would never end.
                concurrency: max(1, limits.concurrency ?? 32), perHost: max(1, limits.perHost ?? 16),
                requestRate: limits.requestRate)
        }
    }

    enum Action: Sendable, Hashable {
        case start(Candidate)
        /// The origin is given up: the job fails with this error without having been tried.
        case refuse(Candidate, TransferError)
        case claim(Lane, count: Int)
    }

    struct LaneState {
        let lane: Lane
        /// Ready jobs that are still in the store, as far as is known.
        var backlog = 0
        var isClaiming = false
        /// Jobs that became ready since the claim was asked for: it may have been done before they were there.
        var grewSinceClaim = 0
        /// What is still in the store may go before what was claimed.
        var isOvertaken = false
        /// Claimed and not started, the most urgent first.
        var window = Deque<Candidate>()
        /// The origin's own way, for as long as nothing was claimed that says through which proxy it goes.
        private let originReach: OriginReach
        /// Whether the jobs that were claimed are connected to different machines first.
        var isMixed = false
        /// Counts the starts: among equals the lane that was served least recently goes first.
        var lastServed = 0

        /// The place of the lane's origin in ``Scheduler/origins``.
        let origin: Int

        init(_ lane: Lane, origin: Int) {
            self.lane = lane
            self.origin = origin
            originReach = OriginReach(origin: lane.origin)
        }

        var reach: OriginReach { window.first?.reach ?? originReach }

        /// The most urgent job that the network lets start, by its place in the window.
        func startable(_ network: NetworkGate) -> Int? {
            guard isMixed else { return !window.isEmpty && network.isOpen(lane, reach) ? 0 : nil }
            return window.firstIndex { network.isOpen(lane, $0.reach) }
        }
    }

    /// An origin that jobs speak to; its place is another one's when nobody does any more.
    private struct OriginState {
        var name: String
        var active = 0
        var lanes = 0
    }

    /// What the network lets start.
    private(set) var network = NetworkGate()
    /// Whether that is everything.
    private var isNetworkOpen = true

    private(set) var limits: Limits
    /// What was started and hasn't ended, with the places of their origins.
    private(set) var active: [Int64: Int] = [:]
    // Found by name once a page, and by their place at each start.
    private var origins: [OriginState] = []
    private var originPlaces: [String: Int] = [:]
    private var freeOrigins: [Int] = []
    private(set) var lanes: [LaneState] = []
    private var lanePlaces: [Lane: Int] = [:]
    private(set) var gates: [String: OriginGate] = [:]
    /// Of origins that take fewer jobs at a time than the limit.
    private var rooms: [String: OriginRoom] = [:]
    private var rate: StartRate?
    private var served = 0
    /// When something may start that may not now; `nil` when only an event can change that.
    private(set) var nextWake: MonotonicTime?

    static let pageSize = 256
    /// Of a lane that has no more than that claimed, more is claimed: of small jobs so many may start while the store is
    /// still at a record.
    static let lowMark = 192

    init(limits: Limits, now: MonotonicTime) {
        self.limits = limits
        rate = limits.requestRate.map { StartRate(perSecond: $0, now: now) }
    }

    mutating func setLimits(_ limits: Limits, now: MonotonicTime) {
        self.limits = limits
        rate = limits.requestRate.map { StartRate(perSecond: $0, now: now) }
    }

    // MARK: Events

    /// The network lets other jobs start than before.
    mutating func setNetwork(_ gate: NetworkGate) {
        network = gate
        isNetworkOpen = gate == NetworkGate()
    }

    /// - Parameter overtakes: Some of them may go before those that have been claimed.
    mutating func backlogGrew(_ lane: Lane, by count: Int, overtakes: Bool = false) {
        let place = place(of: lane)
        lanes[place].backlog += count
        if lanes[place].isClaiming { lanes[place].grewSinceClaim += count }
        if overtakes, !lanes[place].window.isEmpty || lanes[place].isClaiming { lanes[place].isOvertaken = true }
    }

    /// A claim came back; fewer jobs than asked for means that the lane was empty when the claim was done.
    mutating func claimed(_ lane: Lane, _ candidates: [Candidate], asked: Int) {
        let place = place(of: lane)
        lanes[place].isClaiming = false
        let isInOrder = (lanes[place].window.last?.rank ?? .max) >= (candidates.first?.rank ?? .min)
        let reach = lanes[place].window.first?.reach ?? candidates.first?.reach
        if candidates.contains(where: { $0.reach != reach }) { lanes[place].isMixed = true }
        lanes[place].window.append(contentsOf: candidates)
        // More urgent ones became ready after the last claim. (Swift's sort is stable.)
        if !isInOrder { lanes[place].window.sort { $0.rank > $1.rank } }
        let state = lanes[place]
        // What has been claimed already of those that came since makes another claim, which finds none.
        lanes[place].backlog =
            candidates.count < asked ? state.grewSinceClaim : max(0, state.backlog - candidates.count)
        dropIfEmpty(place)
    }

    /// A start came to its end; the slot is free.
    mutating func ended(_ candidate: Candidate) {
        guard let origin = active.removeValue(forKey: candidate.id) else { return }
        origins[origin].active -= 1
        freeIfUnused(origin)
    }

    mutating func originAnswered(_ origin: String) {
        // Open with no failures is what a missing gate means.
        guard gates[origin] != nil else { return }
        gates[origin]?.answered()
        if gates[origin]?.state == .open(failures: 0) { gates[origin] = nil }
    }

    mutating func originFailed(
        _ origin: String, job: Int64, _ error: TransferError, rule: RetryRule, isEndless: Bool = false, random: Double,
        now: MonotonicTime
    ) {
        let patience = patience(of: origin)
        gates[origin, default: OriginGate()].failed(
            job, error, rule: rule, patience: patience, isEndless: isEndless, random: random, now: now)
    }

    /// The origin takes no more jobs at a time. Returns whether others of ours are there: then it needs no pause, only fewer.
    mutating func originCrowded(_ origin: String, now: MonotonicTime) -> Bool {
        let others = (originPlaces[origin].map { origins[$0].active } ?? 0) - 1
        rooms[origin, default: OriginRoom(others: others, now: now)].refused(others: others, now: now)
        return others > 0
    }

    /// Of the jobs that wait for the origin.
    private func patience(of origin: String) -> OriginGate.Patience {
        var patience = OriginGate.Patience()
        for state in lanes where state.lane.origin == origin {
            for candidate in state.window { patience.add(candidate.patience, isEndless: candidate.isEndless) }
        }
        return patience
    }

    /// Origins that were given up get another chance: somebody wants something of them again.
    mutating func reviveDead() {
        gates = gates.filter { if case .dead = $0.value.state { false } else { true } }
        for origin in Array(gates.keys) { gates[origin]?.revive() }
    }

    /// Nothing is held back any more: somebody said to try now.
    mutating func openGates() { gates.removeAll() }

    /// Origins that couldn't be reached are tried anew, over the network that is there now; what a server asked for
    /// holds over every network.
    mutating func openSilentGates() { gates = gates.filter { $0.value.isAsked } }

    mutating func originAbandoned(_ origin: String, job: Int64, now: MonotonicTime) {
        gates[origin]?.abandoned(job, now: now)
    }

    /// - Parameter patience: The job's that gave up: more patient ones go on.
    mutating func originExhausted(_ origin: String, _ error: TransferError, patience: OriginPatience? = nil) {
        if let patience {
            var others = self.patience(of: origin)
            if let gate = gates[origin] { others.widen(gate.patience) }
            guard others.ending.map(patience.covers) ?? true else { return }
        }
        gates[origin]?.exhausted(error)
    }

    /// A pause that an earlier process was asked for.
    mutating func restorePause(of origin: String, _ error: TransferError, until: MonotonicTime) {
        if gates[origin] == nil { gates[origin] = OriginGate(pausedUntil: until, error) }
    }

    /// Takes jobs out that are claimed and not started; for pausing and cancelling.
    mutating func remove(where matches: (Candidate) -> Bool) -> [Candidate] {
        var removed: [Candidate] = []
        // From the last: one that is dropped has the last one put into its place.
        for place in lanes.indices.reversed() {
            removed += lanes[place].window.filter(matches)
            lanes[place].window.removeAll(where: matches)
            dropIfEmpty(place)
        }
        return removed
    }

    /// A batch's run is over: of what it has left nothing is started here any more.
    mutating func forget(batch: Int64) {
        for place in lanes.indices.reversed() where lanes[place].lane.batch == batch {
            lanes[place].window.removeAll()
            (lanes[place].backlog, lanes[place].isClaiming) = (0, false)
            dropIfEmpty(place)
        }
    }

    /// The lane's ready jobs changed in the store by another hand.
    mutating func backlogIs(_ lane: Lane, _ count: Int) {
        let place = place(of: lane)
        lanes[place].backlog = count
        if lanes[place].isClaiming { lanes[place].grewSinceClaim = count }
        dropIfEmpty(place)
    }

    // MARK: Questions

    var isIdle: Bool { active.isEmpty && lanes.isEmpty }

    /// Jobs that are next where others of their origins are under way; the most urgent of each lane first.
    func upcoming(_ count: Int) -> [Candidate] {
        var candidates: [Candidate] = []
        for state in lanes where candidates.count < count && origins[state.origin].active > 0 {
            candidates += state.window.prefix(count - candidates.count)
        }
        return candidates
    }

    // MARK: Decisions

    /// Everything that is to be done now. What it starts counts as active at once.
    mutating func decide(now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        nextWake = nil
        rooms = OriginRoom.grown(rooms, limit: limits.perHost, now: now)
        while active.count < limits.concurrency, let place = nextLane(now: now) {
            let origin = lanes[place].lane.origin
            // A refusal is no request.
            if !isRefused(place, now), let until = rate?.take(now: now) {
                wake(at: until)
                break
            }
            guard let index = isNetworkOpen ? 0 : lanes[place].startable(network), index < lanes[place].window.count
            else { break }
            let candidate = lanes[place].window.remove(at: index)
            switch ask(origin, candidate, now) {
            case .start:
                served += 1
                lanes[place].lastServed = served
                active[candidate.id] = lanes[place].origin
                origins[lanes[place].origin].active += 1
                actions.append(.start(candidate))
            case .refuse(let error): actions.append(.refuse(candidate, error))
            case .wait(let until):
                lanes[place].window.insert(candidate, at: index)
                if let until { wake(at: until) }
            }
            dropIfEmpty(place)
        }
        for place in lanes.indices { claimIfLow(place, &actions) }
        return actions
    }

    private mutating func ask(
        _ origin: String, _ candidate: Candidate, _ now: MonotonicTime
    ) -> OriginGate.Permission {
        if gates.isEmpty { return .start }
        return gates[origin]?.ask(candidate.id, isEndless: candidate.isEndless, now: now) ?? .start
    }

    /// Of the lane's next job.
    private func permission(_ place: Int, _ now: MonotonicTime) -> OriginGate.Permission {
        if gates.isEmpty { return .start }
        let isEndless = lanes[place].window.first?.isEndless ?? false
        return gates[lanes[place].lane.origin]?.permission(isEndless: isEndless, now: now) ?? .start
    }

    private func isRefused(_ place: Int, _ now: MonotonicTime) -> Bool {
        if case .refuse = permission(place, now) { true } else { false }
    }

    /// The lane whose next job is the most urgent, of those that may start one; among equals the one that has waited
    /// longest.
    private mutating func nextLane(now: MonotonicTime) -> Int? {
        var best: (place: Int, priority: Int, lastServed: Int)?
        for place in lanes.indices {
            guard !lanes[place].window.isEmpty,
                origins[lanes[place].origin].active < places(at: lanes[place].lane.origin),
                let index = isNetworkOpen ? 0 : lanes[place].startable(network)
            else { continue }
            let priority = lanes[place].window[index].priority
            if case .wait(let until) = permission(place, now) {
                if let until { wake(at: until) }
                continue
            }
            let lastServed = lanes[place].lastServed
            if let best, (best.priority, -best.lastServed) >= (priority, -lastServed) { continue }
            best = (place, priority, lastServed)
        }
        return best?.place
    }

    private func places(at origin: String) -> Int { min(limits.perHost, rooms[origin]?.places ?? .max) }

    private mutating func claimIfLow(_ place: Int, _ actions: inout [Action]) {
        guard !lanes[place].isClaiming, lanes[place].backlog > 0,
            lanes[place].window.count < Self.lowMark || lanes[place].isOvertaken,
            isNetworkOpen || mayClaim(lanes[place])
        else { return }
        lanes[place].isClaiming = true
        lanes[place].grewSinceClaim = 0
        lanes[place].isOvertaken = false
        actions.append(.claim(lanes[place].lane, count: Self.pageSize))
    }

    /// Of a lane that waits for a way out one page shows whether its jobs need one: they may go through a proxy nearby.
    private func mayClaim(_ state: LaneState) -> Bool {
        if network.isOpen(state.lane, state.reach) || state.isMixed { return true }
        return state.window.isEmpty && !network.shut.contains(state.lane.network)
    }

    // MARK: Places

    /// Where the lane's state is; it's made where there is none.
    private mutating func place(of lane: Lane) -> Int {
        if let place = lanePlaces[lane] { return place }
        let origin = place(ofOrigin: lane.origin)
        origins[origin].lanes += 1
        lanes.append(LaneState(lane, origin: origin))
        lanePlaces[lane] = lanes.count - 1
        return lanes.count - 1
    }

    private mutating func place(ofOrigin name: String) -> Int {
        if let place = originPlaces[name] { return place }
        let place = freeOrigins.popLast() ?? origins.count
        if place == origins.count { origins.append(OriginState(name: name)) }
        origins[place].name = name
        originPlaces[name] = place
        return place
    }

    private mutating func freeIfUnused(_ origin: Int) {
        guard origins[origin].active == 0, origins[origin].lanes == 0 else { return }
        originPlaces[origins[origin].name] = nil
        freeOrigins.append(origin)
    }

    private mutating func dropIfEmpty(_ place: Int) {
        guard lanes[place].window.isEmpty, lanes[place].backlog == 0, !lanes[place].isClaiming else { return }
        lanePlaces[lanes[place].lane] = nil
        let origin = lanes[place].origin
        let last = lanes.removeLast()
        if place < lanes.count {
            lanes[place] = last
            lanePlaces[last.lane] = place
        }
        origins[origin].lanes -= 1
        freeIfUnused(origin)
    }

    private mutating func wake(at time: MonotonicTime) { nextWake = min(nextWake ?? time, time) }
}
