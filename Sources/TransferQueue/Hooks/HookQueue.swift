import TransferCore
import TransferJobs
import TransferScheduling

/// The order of messages for hooks: which are taken from the store, which are delivered now, and the consequence of a
/// failure. Pure.
///
/// A batch that ends gives a message up when its retries are spent, and its next run tries again. A watched folder
/// never ends, so its messages are repeated with growing pauses (``LastingHooks``).
struct HookQueue {
    /// The number of messages that are delivered at one time.
    static let atOnce = 4
    /// The number of messages that are taken from the store at one time.
    static let page = 64

    /// The batches of which the store may have messages.
    private var untaken: [(batch: Int64, revivesFailed: Bool)] = []
    private var isTaking = false
    private var ready: [HookCall] = []
    private var asleep: [HookCall] = []
    private(set) var underWay: [Int64: HookCall] = [:]
    /// The messages of watched folders whose retries are spent.
    private var lasting = LastingHooks()
    /// The most messages that wait in memory. Others stay in the store until some of these were delivered.
    static let mostAsleep = 10_000
    private(set) var isStopping = false
    /// The number of messages that are not attempted again in this run.
    private(set) var failed = 0
    /// The number of messages that were not delivered because the run ended.
    private(set) var left = 0

    /// Whether all messages were delivered or given up.
    var isEmpty: Bool { untaken.isEmpty && !isTaking && ready.isEmpty && asleep.isEmpty && underWay.isEmpty }

    /// The time when the first delayed message may go. A message that is held back by an attempt of its hook needs no
    /// timer.
    var nextDue: MonotonicTime? { asleep.lazy.filter { lasting.mayGo($0) }.compactMap(\.due).min() }

    // MARK: From the store

    /// Notes that the store may have messages of the batch.
    mutating func came(_ batch: Int64, revivesFailed: Bool) {
        guard !isStopping else { return }
        if let index = untaken.firstIndex(where: { $0.batch == batch }) {
            if revivesFailed { untaken[index].revivesFailed = true }
        } else {
            untaken.append((batch, revivesFailed))
        }
    }

    /// Chooses a batch to take messages of.
    ///
    /// - Returns: The batch of which a page is to be taken now.
    mutating func nextTaken() -> (batch: Int64, revivesFailed: Bool)? {
        guard !isTaking, !isStopping, ready.count < Self.atOnce, asleep.count < Self.mostAsleep, !untaken.isEmpty
        else { return nil }
        isTaking = true
        return untaken.removeFirst()
    }

    /// Takes a page of messages.
    ///
    /// - Returns: The messages to give back, if the run ends.
    mutating func took(_ calls: [HookCall], of batch: Int64, now: MonotonicTime) -> [HookOutcome] {
        isTaking = false
        guard !isStopping else {
            left += calls.count
            return calls.map { HookOutcome($0.id, .released) }
        }
        if calls.count == Self.page { came(batch, revivesFailed: false) }
        for var call in calls {
            if call.isSpent {
                // Another process, or this one before a restart, has spent the retries. One attempt at once shows the
                // hook's state.
                call.due = now
                lasting.insert(call)
            }
            if let due = call.due, due > now || call.isSpent { asleep.append(call) } else { ready.append(call) }
        }
        return []
    }

    // MARK: Turns

    /// Takes the next message.
    ///
    /// - Returns: The message to deliver now.
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

    /// Takes the result of an attempt.
    ///
    /// - Parameters:
    ///   - error: The failure; `nil` for a success.
    ///   - random: A number in 0..<1.
    ///   - isEndless: Whether the message's folder is watched, so that the message is never given up.
    /// - Returns: The outcome to record and the event to report; `nil` for a message that is not under way.
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

    /// Returns the delay of the retry rule. A wait that the hook's server requests (Retry-After) spends time but no
    /// attempt, as for jobs.
    ///
    /// - Returns: `nil` if no attempt follows.
    private static func delay(after error: TransferError, _ call: inout HookCall, _ random: Double) -> Duration? {
        var rule = call.settings.retry.rule
        // Repeating a POST is safe, since the message's ID lets the receiver recognize it.
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

    /// Lets waiting messages go at once, those that have waited longest first.
    private mutating func wake(_ woken: LastingHooks.Woken?, _ now: MonotonicTime) {
        guard let woken else { return }
        var left = woken.count
        for index in asleep.indices where left > 0 && asleep[index].hook == woken.hook {
            guard lasting.wake(asleep[index].id) else { continue }
            asleep[index].due = now
            left -= 1
        }
    }

    /// Gives up messages without retries because the folder is no longer watched; they wait for the next run.
    ///
    /// - Returns: The outcomes to record and the events to report.
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

    /// Stops the run; undelivered messages are left to a later run.
    ///
    /// - Returns: The messages to give back.
    mutating func stop() -> [HookOutcome] {
        isStopping = true
        let calls = ready + asleep
        left += calls.count
        (ready, asleep, untaken) = ([], [], [])
        lasting = LastingHooks()
        return calls.map { HookOutcome($0.id, .released) }
    }

    /// Prepares for another run.
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
