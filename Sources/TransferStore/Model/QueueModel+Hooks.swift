import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs

/// A message for a hook, and the process that sends it.
struct MemoryHookCall {
    var call: HookCall
    var owner: Int64?
    var isFailed = false
}

extension QueueModel {
    mutating func addHookCall(of job: ModelJob) {
        guard let hook = job.staged.spec.settings.onFinish, let event = event(of: job) else { return }
        let spec = job.staged.spec
        add(
            job.batch, job.identity, HookRoute.settings(spec.settings, for: hook, job: spec.urls.first),
            { HookMessage.job(event, id: $0) })
    }

    mutating func addHookCall(_ batch: Int64, _ end: BatchEnd) {
        let last = jobs(of: batch).compactMap { $0.endNumber }.max() ?? 0
        guard let known = batches[batch], let hook = known.onFinish, last > known.reportedEnd else { return }
        batches[batch]?.reportedEnd = last
        add(batch, nil, hook.settings, { HookMessage.batch(known.name, end, id: $0, time: WallClock.milliseconds) })
    }

    private mutating func add(_ batch: Int64, _ job: String?, _ settings: JobSettings, _ body: (String) -> String) {
        let event = HookMessage.newID()
        hookCalls.append(
            MemoryHookCall(
                call: HookCall(
                    id: number(), batch: batch, job: job, event: event, body: body(event), settings: settings)))
    }

    mutating func takeHookCalls(_ batch: Int64, revivesFailed: Bool, limit: Int, by owner: Int64) -> [HookCall] {
        var taken: [HookCall] = []
        for index in hookCalls.indices where hookCalls[index].call.batch == batch {
            if revivesFailed, hookCalls[index].isFailed {
                hookCalls[index].isFailed = false
                (hookCalls[index].call.attempts, hookCalls[index].call.due) = (0, nil)
            }
            let isFree = hookCalls[index].owner.map { leases[$0] == nil } ?? true
            guard isFree, !hookCalls[index].isFailed, taken.count < limit else { continue }
            hookCalls[index].owner = owner
            taken.append(hookCalls[index].call)
        }
        return taken
    }

    mutating func settleHookCalls(_ outcomes: [HookOutcome]) {
        for outcome in outcomes {
            guard let index = hookCalls.firstIndex(where: { $0.call.id == outcome.id }) else { continue }
            switch outcome.kind {
            case .reported: hookCalls.remove(at: index)
            case .again(let attempts, let due, _):
                (hookCalls[index].call.attempts, hookCalls[index].call.due) = (attempts, due)
            case .failed(let attempts, _):
                (hookCalls[index].call.attempts, hookCalls[index].call.due) = (attempts, nil)
                (hookCalls[index].isFailed, hookCalls[index].owner) = (true, nil)
            case .released: hookCalls[index].owner = nil
            }
        }
    }
}
