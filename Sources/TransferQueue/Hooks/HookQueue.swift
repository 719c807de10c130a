import TransferCore
import TransferJobs
import TransferScheduling

/// Messages for hooks, in turn: which are taken from the store, which are told now, and what follows from a failure. Pure.
///
/// A batch that ends gives a message up when its retries are spent; the next run tries again. A watched folder has no end:
/// its messages are told again and again, with pauses that grow (``LastingHooks``).
struct HookQueue {
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
    /// Messages of watched folders whose retries are spent.
    private var lasting = LastingHooks()
    /// So many wait in memory at most; the others stay in the store until some of those were told.
    static let mostAsleep = 10_000
    private(set) var isStopping = false
    /// Messages of which no attempt follows in this run.
    private(set) var failed = 0
    /// Messages that the run's end kept from being told.
    private(set) var left = 0

    /// Whether everything has been told, as far as it could be.
    var isEmpty: Bool { untaken.isEmpty && !isTaking && ready.isEmpty && asleep.isEmpty && underWay.isEmpty }

    /// The end of the first wait of those that may go then; an attempt under way that holds others up ends with news.
    var nextDue: MonotonicTime? { asleep.lazy.filter { lasting.mayGo($0) }.compactMap(\.due).min() }

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
        guard !isTaking, !isStopping, ready.count < Self.atOnce, asleep.count < Self.mostAsleep, !untaken.isEmpty
        else { return nil }
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
        for var call in calls {
            if call.isSpent {
                // Another process, or the one before a restart, had come so far: how it stands is found out at once.
                call.due = now
                lasting.insert(call)
            }
            if let due = call.due, due > now || call.isSpent { asleep.append(call) } else { ready.append(call) }
        }
        return []
    }

    // MARK: Turns

    /// - Returns: The message that is told now.
    mutating func next(now: MonotonicTime) -> HookCall? {
        guard !isStopping, underWay.count < Self.atOnce else { return nil }
        if let index = asleep.firstIndex(where: { ($0.due.map { $0 <= now } ?? true) && lasting.mayGo($0) }) {
            ready.append(asleep.remove(at: index))
        }
        guard !ready.isEmpty else { return nil }
        let call = ready.removeFirst()
        lasting.began(call)
        underWay[call.id] = call
        return call
    }

    /// An attempt is over.
    ///
    /// - Parameters:
    ///   - error: `nil` for one that was a success.
    ///   - random: A number in 0..<1.
    ///   - isEndless: Whether the message's folder is watched, so that it is never given up.
    /// - Returns: What is to be written down, and told; `nil` for a message that isn't under way.
    mutating func ended(
        _ id: Int64, _ error: TransferError?, now: MonotonicTime, random: Double, isEndless: Bool = false
    ) -> (outcome: HookOutcome, news: HookNews?)? {
        guard var call = underWay.removeValue(forKey: id) else { return nil }
        guard let error else {
            wake(lasting.succeeded(call, now: now), now)
            return (HookOutcome(id, .reported), call.news(.reported, attempts: call.attempts + 1))
        }
        if isStopping {
            left += 1
            return (HookOutcome(id, .released), nil)
        }
        call.attempts += 1
        let again = Self.delay(after: error, &call, random)
        let pause = again == nil && isEndless ? lasting.failed(call, error, now: now) : nil
        guard let delay = again ?? pause else {
            lasting.remove(call)
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

    /// The delay of the rule. A wait that the hook's server asks for (Retry-After) spends time and no attempt, as a job's
    /// does.
    ///
    /// - Returns: `nil` where no attempt follows.
    private static func delay(after error: TransferError, _ call: inout HookCall, _ random: Double) -> Duration? {
        var rule = call.settings.retry.rule
        // The message's ID tells who gets it twice that it's the same.
        rule.methods = ["POST"]
        rule.statusCodes = nil
        let spent = call.attempts - 1 - call.askedWaits
        let decision = rule.decide(
            error.bounded(to: rule.longestWait - call.askedWait), method: "POST", retriesSpent: spent, bodyLeft: true,
            waited: call.askedWait, random: random)
        switch decision {
        case .retry(let delay): return delay
        case .wait(let delay):
            call.askedWaits += 1
            call.askedWait += delay
            return delay
        case .giveUp: return nil
        }
    }

    /// Has messages that wait go at once, the ones that have waited longest first.
    private mutating func wake(_ woken: LastingHooks.Woken?, _ now: MonotonicTime) {
        guard let woken else { return }
        var left = woken.count
        for index in asleep.indices where left > 0 && asleep[index].hook == woken.hook {
            guard lasting.wake(asleep[index].id) else { continue }
            asleep[index].due = now
            left -= 1
        }
    }

    /// Nobody watches the folder any more: what of its messages has no retries left waits for the next run.
    ///
    /// - Returns: What is to be written down, and told.
    mutating func folderEnded(_ batch: Int64) -> [(outcome: HookOutcome, news: HookNews?)] {
        let over = asleep.filter { $0.batch == batch && lasting.error(of: $0) != nil }
        guard !over.isEmpty else { return [] }
        let numbers = Set(over.map(\.id))
        asleep.removeAll { numbers.contains($0.id) }
        return over.compactMap { call in
            guard let error = lasting.error(of: call) else { return nil }
            lasting.remove(call)
            failed += 1
            return (
                HookOutcome(call.id, .failed(attempts: call.attempts, error)),
                call.news(.failed(error), attempts: call.attempts)
            )
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
        lasting = LastingHooks()
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
