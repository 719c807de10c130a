import TransferCore
import TransferJobs

/// Messages for hooks, in turn: which are taken from the store, which are told now, and what follows from a failure. Pure.
struct HookTurns {
    /// So many are told at one time.
    static let atOnce = 4
    /// So many are taken from the store at one time.
    static let page = 64

    /// Batches of which the store may have messages.
    private var untaken: [(batch: Int64, revivesFailed: Bool)] = []
    private var isTaking = false
    private var ready: [HookCall] = []
    private var asleep: [HookCall] = []
    private(set) var underWay: [Int64: HookCall] = [:]
    private(set) var isStopping = false
    /// Messages of which no attempt follows in this run.
    private(set) var failed = 0
    /// Messages that the run's end kept from being told.
    private(set) var left = 0

    /// Whether everything has been told, as far as it could be.
    var isEmpty: Bool { untaken.isEmpty && !isTaking && ready.isEmpty && asleep.isEmpty && underWay.isEmpty }

    /// The end of the first wait.
    var nextDue: MonotonicTime? { asleep.compactMap(\.due).min() }

    // MARK: From the store

    /// The store may have messages of the batch.
    mutating func came(_ batch: Int64, revivesFailed: Bool) {
        guard !isStopping else { return }
        if let index = untaken.firstIndex(where: { $0.batch == batch }) {
            if revivesFailed { untaken[index].revivesFailed = true }
        } else {
            untaken.append((batch, revivesFailed))
        }
    }

    /// - Returns: The batch of which a page is to be taken now.
    mutating func nextTaken() -> (batch: Int64, revivesFailed: Bool)? {
        guard !isTaking, !isStopping, ready.count < Self.atOnce, !untaken.isEmpty else { return nil }
        isTaking = true
        return untaken.removeFirst()
    }

    /// - Returns: What is to be given back, as the run ends.
    mutating func took(_ calls: [HookCall], of batch: Int64, now: MonotonicTime) -> [HookOutcome] {
        isTaking = false
        guard !isStopping else {
            left += calls.count
            return calls.map { HookOutcome($0.id, .released) }
        }
        if calls.count == Self.page { came(batch, revivesFailed: false) }
        for call in calls {
            if let due = call.due, due > now { asleep.append(call) } else { ready.append(call) }
        }
        return []
    }

    // MARK: Turns

    /// - Returns: The message that is told now.
    mutating func next(now: MonotonicTime) -> HookCall? {
        guard !isStopping, underWay.count < Self.atOnce else { return nil }
        if let index = asleep.firstIndex(where: { $0.due.map { $0 <= now } ?? true }) {
            ready.append(asleep.remove(at: index))
        }
        guard !ready.isEmpty else { return nil }
        let call = ready.removeFirst()
        underWay[call.id] = call
        return call
    }

    /// An attempt is over.
    ///
    /// - Parameters:
    ///   - error: `nil` for one that was a success.
    ///   - random: A number in 0..<1.
    /// - Returns: What is to be written down, and told; `nil` for a message that isn't under way.
    mutating func ended(
        _ id: Int64, _ error: TransferError?, now: MonotonicTime, random: Double
    ) -> (outcome: HookOutcome, news: HookNews?)? {
        guard var call = underWay.removeValue(forKey: id) else { return nil }
        guard let error else {
            return (HookOutcome(id, .told), call.news(.told, attempts: call.attempts + 1))
        }
        if isStopping {
            left += 1
            return (HookOutcome(id, .released), nil)
        }
        call.attempts += 1
        guard let delay = Self.delay(after: error, call, random) else {
            failed += 1
            return (
                HookOutcome(id, .failed(attempts: call.attempts, error)),
                call.news(.failed(error), attempts: call.attempts)
            )
        }
        let due = now + delay
        call.due = due
        asleep.append(call)
        return (
            HookOutcome(id, .again(attempts: call.attempts, due: due, because: error)),
            call.news(.retrying(after: delay, error), attempts: call.attempts)
        )
    }

    /// - Returns: `nil` where no attempt follows.
    private static func delay(after error: TransferError, _ call: HookCall, _ random: Double) -> Duration? {
        var rule = call.settings.retry.rule
        // The message's ID tells who gets it twice that it's the same.
        rule.methods = ["POST"]
        rule.statusCodes = nil
        guard call.attempts <= rule.limit else { return nil }
        switch rule.decide(
            error, method: "POST", retriesSpent: call.attempts - 1, bodyLeft: true, random: random)
        {
        case .retry(let delay), .wait(let delay): return delay
        case .giveUp: return nil
        }
    }

    // MARK: The end

    /// The run is stopped: what hasn't been told is for a later one.
    ///
    /// - Returns: What is to be given back.
    mutating func stop() -> [HookOutcome] {
        isStopping = true
        let calls = ready + asleep
        left += calls.count
        (ready, asleep, untaken) = ([], [], [])
        return calls.map { HookOutcome($0.id, .released) }
    }

    /// Another run may follow.
    mutating func begin() {
        isStopping = false
        (failed, left) = (0, 0)
    }
}

extension HookCall {
    fileprivate func news(_ state: HookNews.State, attempts: Int) -> HookNews {
        HookNews(hook: hook.shown, event: event, job: job, attempts: attempts, state: state)
    }
}
