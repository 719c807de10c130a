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

    struct Candidate: Sendable, Hashable {
        let id: Int64
        let lane: Lane
        let priority: Int
        /// How often it may be tried again.
        let patience: Int
        /// What the lane's origin says of the way to it: asked several times for each job.
        let reach: OriginReach

        init(id: Int64, lane: Lane, priority: Int, patience: Int = 10, reach: OriginReach? = nil) {
            self.id = id
            self.lane = lane
            self.priority = priority
            self.patience = patience
            self.reach = reach ?? OriginReach(origin: lane.origin)
        }
    }

    enum Action: Sendable, Hashable {
        case start(Candidate)
        /// The origin is given up: the job fails with this error without having been tried.
        case refuse(Candidate, TransferError)
        case claim(Lane, count: Int)
    }

    private struct LaneState {
        /// Ready jobs that are still in the store, as far as is known.
        var backlog = 0
        var isClaiming = false
        /// Claimed and not started, the most urgent first.
        var window = Deque<Candidate>()
        let reach: OriginReach
        /// Counts the starts: among equals the lane that was served least recently goes first.
        var lastServed = 0

        init(_ lane: Lane) { reach = OriginReach(origin: lane.origin) }
    }

    /// What the network lets start.
    private(set) var network = NetworkGate()

    private(set) var limits: Limits
    private(set) var active: [Int64: String] = [:]
    private var activePerOrigin: [String: Int] = [:]
    private var lanes: [Lane: LaneState] = [:]
    private var gates: [String: OriginGate] = [:]
    private var rate: StartRate?
    private var served = 0
    /// When something may start that may not now; `nil` when only an event can change that.
    private(set) var nextWake: MonotonicTime?

    static let pageSize = 256

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
    mutating func setNetwork(_ gate: NetworkGate) { network = gate }

    mutating func backlogGrew(_ lane: Lane, by count: Int) {
        lanes[lane, default: LaneState(lane)].backlog += count
    }

    /// A claim came back; fewer jobs than asked for means that the lane is empty.
    mutating func claimed(_ lane: Lane, _ candidates: [Candidate], asked: Int) {
        lanes[lane, default: LaneState(lane)].isClaiming = false
        let isInOrder = (lanes[lane]?.window.last?.priority ?? .max) >= (candidates.first?.priority ?? .min)
        lanes[lane]?.window.append(contentsOf: candidates)
        // More urgent ones became ready after the last claim. (Swift's sort is stable.)
        if !isInOrder { lanes[lane]?.window.sort { $0.priority > $1.priority } }
        let left = candidates.count < asked ? 0 : max(0, (lanes[lane]?.backlog ?? 0) - candidates.count)
        lanes[lane]?.backlog = left
        dropIfEmpty(lane)
    }

    /// A start came to its end; the slot is free.
    mutating func ended(_ candidate: Candidate) {
        guard let origin = active.removeValue(forKey: candidate.id) else { return }
        activePerOrigin[origin, default: 1] -= 1
        if activePerOrigin[origin] == 0 { activePerOrigin[origin] = nil }
    }

    mutating func originAnswered(_ origin: String) {
        // Open with no failures is what a missing gate means.
        guard gates[origin] != nil else { return }
        gates[origin]?.answered()
        if gates[origin]?.state == .open(failures: 0) { gates[origin] = nil }
    }

    mutating func originFailed(
        _ origin: String, job: Int64, _ error: TransferError, rule: RetryRule, random: Double, now: MonotonicTime
    ) {
        let patience = patience(of: origin)
        gates[origin, default: OriginGate()].failed(
            job, error, rule: rule, patience: patience, random: random, now: now)
    }

    /// Of the most patient job that waits for the origin.
    private func patience(of origin: String) -> Int {
        var patience = 0
        for (lane, state) in lanes where lane.origin == origin {
            for candidate in state.window { patience = max(patience, candidate.patience) }
        }
        return patience
    }

    /// Origins that were given up get another chance: somebody wants something of them again.
    mutating func reviveDead() {
        gates = gates.filter { if case .dead = $0.value.state { false } else { true } }
    }

    /// Nothing is held back any more: somebody said to try now.
    mutating func openGates() { gates.removeAll() }

    /// Origins that couldn't be reached are tried anew, over the network that is there now; what a server asked for
    /// holds over every network.
    mutating func openSilentGates() { gates = gates.filter { $0.value.isAsked } }

    mutating func originAbandoned(_ origin: String, job: Int64, now: MonotonicTime) {
        gates[origin]?.abandoned(job, now: now)
    }

    /// - Parameter limit: How patient the job was that gave up: more patient ones go on.
    mutating func originExhausted(_ origin: String, _ error: TransferError, limit: Int = .max) {
        guard max(gates[origin]?.patienceSeen ?? 0, patience(of: origin)) <= limit else { return }
        gates[origin]?.exhausted(error)
    }

    /// A pause that an earlier process was asked for.
    mutating func restorePause(of origin: String, _ error: TransferError, until: MonotonicTime) {
        if gates[origin] == nil { gates[origin] = OriginGate(pausedUntil: until, error) }
    }

    /// Takes jobs out that are claimed and not started; for pausing and cancelling.
    mutating func remove(where matches: (Candidate) -> Bool) -> [Candidate] {
        var removed: [Candidate] = []
        for lane in Array(lanes.keys) {
            removed += lanes[lane]?.window.filter(matches) ?? []
            lanes[lane]?.window.removeAll(where: matches)
            dropIfEmpty(lane)
        }
        return removed
    }

    /// The lane's ready jobs changed in the store by another hand.
    mutating func backlogIs(_ lane: Lane, _ count: Int) {
        lanes[lane, default: LaneState(lane)].backlog = count
        dropIfEmpty(lane)
    }

    // MARK: Questions

    /// Why jobs of this origin wait, if the origin is the reason.
    func pause(of origin: String, now: MonotonicTime) -> (error: TransferError, remaining: Duration)? {
        switch gates[origin]?.state {
        case .paused(let until, let reason): (reason.error, max(.zero, until - now))
        case .probing(_, let reason): (reason.error, .zero)
        default: nil
        }
    }

    /// The origin that holds up the most jobs.
    func longestPause(now: MonotonicTime) -> (origin: String, error: TransferError, remaining: Duration, jobs: Int)? {
        var worst: (origin: String, error: TransferError, remaining: Duration, jobs: Int)?
        for origin in gates.keys {
            guard let (error, remaining) = pause(of: origin, now: now) else { continue }
            let jobs = lanes.filter { $0.key.origin == origin }.reduce(0) {
                $0 + $1.value.backlog + $1.value.window.count
            }
            if jobs > worst?.jobs ?? 0 { worst = (origin, error, remaining, jobs) }
        }
        return worst
    }

    var isIdle: Bool { active.isEmpty && lanes.isEmpty }

    /// The rules of the network under which jobs wait or could start.
    var networks: Set<String> { Set(lanes.keys.map(\.network)) }

    func batches(under network: String) -> Set<Int64> {
        Set(lanes.keys.lazy.filter { $0.network == network }.map(\.batch))
    }

    /// Jobs that the network keeps from starting, by batch.
    func heldByNetwork() -> [Int64: Int] {
        lanes.reduce(into: [:]) { counts, lane in
            guard !network.isOpen(lane.key, lane.value.reach) else { return }
            counts[lane.key.batch, default: 0] += lane.value.backlog + lane.value.window.count
        }
    }

    /// What lanes' rules and origins the network closes, of those that have jobs.
    func closedLanes() -> [Lane] { lanes.filter { !network.isOpen($0.key, $0.value.reach) }.map(\.key) }

    /// Jobs that are held back by their origin.
    func heldBack() -> Int {
        lanes.reduce(0) { sum, lane in
            switch gates[lane.key.origin]?.state {
            case .paused, .probing: sum + lane.value.backlog + lane.value.window.count
            default: sum
            }
        }
    }

    // MARK: Decisions

    /// Everything that is to be done now. What it starts counts as active at once.
    mutating func decide(now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        nextWake = nil
        while active.count < limits.concurrency, let lane = nextLane(now: now, &actions) {
            // A refusal is no request.
            if !isDead(lane.origin), let until = rate?.take(now: now) {
                wake(at: until)
                break
            }
            guard let candidate = lanes[lane]?.window.popFirst() else { break }
            switch gates[lane.origin]?.ask(candidate.id, now: now) ?? .start {
            case .start:
                served += 1
                lanes[lane]?.lastServed = served
                active[candidate.id] = lane.origin
                activePerOrigin[lane.origin, default: 0] += 1
                actions.append(.start(candidate))
            case .refuse(let error): actions.append(.refuse(candidate, error))
            case .wait(let until):
                lanes[lane]?.window.prepend(candidate)
                if let until { wake(at: until) }
            }
            dropIfEmpty(lane)
        }
        for lane in lanes.keys { claimIfLow(lane, &actions) }
        return actions
    }

    /// The lane whose next job is the most urgent, of those that may start one; among equals the one that has waited
    /// longest.
    private mutating func nextLane(now: MonotonicTime, _ actions: inout [Action]) -> Lane? {
        var best: (lane: Lane, priority: Int, lastServed: Int)?
        for (lane, state) in lanes {
            guard let first = state.window.first, activePerOrigin[lane.origin, default: 0] < limits.perHost,
                network.isOpen(lane, state.reach)
            else { continue }
            switch gates[lane.origin]?.state {
            case .paused(let until, _) where until > now:
                wake(at: until)
                continue
            case .probing: continue
            default: break
            }
            if let best, (best.priority, -best.lastServed) >= (first.priority, -state.lastServed) { continue }
            best = (lane, first.priority, state.lastServed)
        }
        return best?.lane
    }

    private func isDead(_ origin: String) -> Bool {
        if case .dead = gates[origin]?.state { return true }
        return false
    }

    private mutating func claimIfLow(_ lane: Lane, _ actions: inout [Action]) {
        guard let state = lanes[lane], !state.isClaiming, state.backlog > 0, state.window.count < Self.pageSize / 4,
            network.isOpen(lane, state.reach)
        else { return }
        lanes[lane]?.isClaiming = true
        actions.append(.claim(lane, count: Self.pageSize))
    }

    private mutating func dropIfEmpty(_ lane: Lane) {
        guard let state = lanes[lane], state.window.isEmpty, state.backlog == 0, !state.isClaiming else { return }
        lanes[lane] = nil
    }

    private mutating func wake(at time: MonotonicTime) { nextWake = min(nextWake ?? time, time) }
}
