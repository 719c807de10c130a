import TransferCore
import TransferJobs
import TransferScheduling

/// The messages of watched folders whose retries are spent. A folder never ends, so none of them is given up.
///
/// Each message has its own time, with pauses that grow by its failures. Only one of them at a time is delivered to the
/// same hook. A success of the hook wakes one other message as a probe, and a successful probe wakes two, so that all
/// follow soon. A failed probe stops the waking for a growing time, so that a refused message is not sent after every
/// success.
struct LastingHooks {
    /// The hook whose waiting messages go at once, and how many of them.
    struct Woken: Hashable {
        let hook: FinishHook
        let count: Int
    }

    private struct Probing {
        var failures = 0
        /// The time until which a success wakes none.
        var heldUntil: MonotonicTime?
    }

    private var errors: [Int64: TransferError] = [:]
    private var woken: Set<Int64> = []
    private var probing: [FinishHook: Probing] = [:]
    /// The message that is being delivered, by hook.
    private var underWay: [FinishHook: Int64] = [:]

    private static let longest = Duration.seconds(3600)
    private static let shortest = Duration.seconds(1)
    private static let usual = Duration.seconds(60)

    /// Adds a message that an earlier process could not deliver.
    mutating func insert(_ call: HookCall) {
        errors[call.id] = TransferError(.hookFailed, "the hook could not be called")
    }

    /// Returns why the message could not be delivered; `nil` if it has retries left.
    func error(of call: HookCall) -> TransferError? { errors[call.id] }

    /// Returns whether no other message to the same hook keeps this one from going now.
    func mayGo(_ call: HookCall) -> Bool {
        errors[call.id] == nil || woken.contains(call.id) || underWay[call.hook] == nil
    }

    mutating func began(_ call: HookCall) {
        guard errors[call.id] != nil, !woken.contains(call.id) else { return }
        underWay[call.hook] = call.id
    }

    /// Wakes a message.
    ///
    /// - Returns: `false` if its retries are not spent, or if it is awake already.
    mutating func wake(_ id: Int64) -> Bool { errors[id] != nil && woken.insert(id).inserted }

    /// Notes that a hook accepted a message.
    mutating func succeeded(_ call: HookCall, now: MonotonicTime) -> Woken? {
        let wasLasting = errors[call.id] != nil
        remove(call)
        if wasLasting {
            probing[call.hook] = nil
            return Woken(hook: call.hook, count: 2)
        }
        if let held = probing[call.hook]?.heldUntil, held > now { return nil }
        return errors.isEmpty ? nil : Woken(hook: call.hook, count: 1)
    }

    /// Notes that a hook did not accept a message, and that no retry is left.
    ///
    /// - Returns: The pause until the message's next attempt.
    mutating func failed(_ call: HookCall, _ error: TransferError, now: MonotonicTime) -> Duration {
        let wasProbe = woken.contains(call.id)
        remove(call)
        errors[call.id] = error
        let rule = call.settings.retry.rule
        let most = rule.maxDelay.map { Duration.milliseconds(Int64(min($0, 3600) * 1000)) } ?? Self.usual
        let first = max(Self.shortest, min(most, Self.usual))
        if wasProbe {
            var probe = probing[call.hook] ?? Probing()
            probe.failures += 1
            probe.heldUntil = now + Self.pause(first, probe.failures)
            probing[call.hook] = probe
        }
        let own = Self.pause(first, call.attempts - call.askedWaits - rule.limit)
        guard rule.honoursRetryAfter else { return own }
        return max(own, error.bounded(to: rule.longestWait).retryAfter ?? .zero)
    }

    mutating func remove(_ call: HookCall) {
        errors[call.id] = nil
        woken.remove(call.id)
        if underWay[call.hook] == call.id { underWay[call.hook] = nil }
    }

    /// Returns the first pause, doubled with each failure, at most an hour.
    private static func pause(_ first: Duration, _ failures: Int) -> Duration {
        var pause = first
        for _ in 1..<max(1, min(failures, 64)) where pause < longest { pause *= 2 }
        return min(pause, longest)
    }
}

extension HookCall {
    /// Whether the message's retries are spent.
    var isSpent: Bool { attempts > settings.retry.rule.limit }
}
