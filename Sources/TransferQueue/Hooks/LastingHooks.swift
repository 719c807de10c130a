import TransferCore
import TransferJobs
import TransferScheduling

/// Messages of watched folders whose retries are spent: a folder has no end, so none of them is given up.
///
/// Each has a time of its own, which grows with its failures, and one at a time is told to the same hook. A success of that
/// hook says that it may take the others: it wakes one as a probe, and a probe that succeeds wakes two, so that all follow
/// soon. A probe that fails ends that for a time which grows, so that a message which is refused isn't sent with every
/// success.
struct LastingHooks {
    /// So many messages that wait for that hook are to go at once.
    struct Woken: Hashable {
        let hook: FinishHook
        let count: Int
    }

    private struct Probing {
        var failures = 0
        /// Until then a success wakes none.
        var heldUntil: MonotonicTime?
    }

    private var errors: [Int64: TransferError] = [:]
    private var woken: Set<Int64> = []
    private var probing: [FinishHook: Probing] = [:]
    /// The message that is told at the moment, by hook.
    private var underWay: [FinishHook: Int64] = [:]

    private static let longest = Duration.seconds(3600)
    private static let shortest = Duration.seconds(1)
    private static let usual = Duration.seconds(60)

    /// A message that an earlier process couldn't tell.
    mutating func insert(_ call: HookCall) {
        errors[call.id] = TransferError(.hookFailed, "the hook couldn't be told")
    }

    /// Why the message couldn't be told; `nil` for one whose retries aren't spent.
    func error(of call: HookCall) -> TransferError? { errors[call.id] }

    /// Whether the message may be told now, as far as others don't keep it from that.
    func mayGo(_ call: HookCall) -> Bool {
        errors[call.id] == nil || woken.contains(call.id) || underWay[call.hook] == nil
    }

    mutating func began(_ call: HookCall) {
        guard errors[call.id] != nil, !woken.contains(call.id) else { return }
        underWay[call.hook] = call.id
    }

    /// - Returns: `false` for one that is no such message, or is woken already.
    mutating func wake(_ id: Int64) -> Bool { errors[id] != nil && woken.insert(id).inserted }

    /// A hook was told.
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

    /// A hook couldn't be told, and no retry is left.
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

    /// The first pause, doubled with each failure; an hour at most.
    private static func pause(_ first: Duration, _ failures: Int) -> Duration {
        var pause = first
        for _ in 1..<max(1, min(failures, 64)) where pause < longest { pause *= 2 }
        return min(pause, longest)
    }
}

extension HookCall {
    /// Whether its retries are spent.
    var isSpent: Bool { attempts > settings.retry.rule.limit }
}
