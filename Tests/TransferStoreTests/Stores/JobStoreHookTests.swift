import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore

/// The guarantees of every ``JobStore`` about hooks (`onFinish`): a message is stored with the end, until it is
/// delivered.
@Suite struct JobStoreHookTests {
    private func job(_ name: String, hook: String? = "tell", needs: [String] = []) -> JobSpec {
        var job = Sample.download("http://h.example/x", to: name, id: name, needs: needs)
        job.settings.onFinish = hook.map { .command($0) }
        return job
    }

    private func take(_ store: any JobStore, _ batch: Int64, revives: Bool = false, limit: Int = 99) throws
        -> [HookCall]
    {
        try store.takeHookCalls(batch: batch, revivesFailed: revives, limit: limit)
    }

    @Test(arguments: StoreKind.allCases)
    func eachEndOfAJobWithAHookLeavesAMessage(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a"), job("b", hook: nil), job("c"), job("d", needs: ["c"])]).batch.id
        let claimed = try store.claimAll(batch)
        func record(_ name: String, _ outcome: JobEnd.Outcome) throws -> RecordedGroup {
            let record = try #require(claimed.first { $0.identity == name })
            var end = JobEnd(id: record.id, batch: batch, identity: name, outcome: outcome)
            end.tellsHook = record.spec.tellsHook
            return try store.record([end], [])
        }
        #expect(try record("a", .done(Sample.receipt("b", "a"), nil)).hooked == [batch])
        #expect(try record("b", .done(Sample.receipt("b", "b"), nil)).hooked.isEmpty)
        // One job failed, and a second job is skipped for that reason.
        #expect(try record("c", .failed(Sample.busy(), attempts: 2, host: "h.example")).hooked == [batch])
        let calls = try take(store, batch)
        #expect(calls.map(\.job) == ["a", "c", "d"])
        #expect(calls.allSatisfy { $0.hook == .command("tell") && $0.body.contains("\"id\":\"\($0.event)\"") })
        let states = zip(calls, ["finished", "failed", "skipped"])
        #expect(states.allSatisfy { $0.body.contains("\"event\":\"job.\($1)\"") })
        #expect(Set(calls.map(\.event)).count == 3)
        // A message can be taken once.
        #expect(try take(store, batch).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func aCancelledJobIsReported(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a"), job("b", hook: nil)]).batch.id
        let applied = try store.apply(QueueCommand(id: 1, verb: .cancel, batch: batch, job: nil))
        #expect(applied.isHooked)
        #expect(try take(store, batch).map(\.job) == ["a"])
    }

    @Test(arguments: StoreKind.allCases)
    func aMessageOutlivesItsProcessWithTheSameID(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let batch = try bench.store.stage([job("a")]).batch.id
        _ = try bench.store.apply(QueueCommand(id: 1, verb: .cancel, batch: batch, job: nil))
        let first = try take(bench.store, batch)
        let other = try bench.another()
        #expect(try take(other, batch).isEmpty, "as long as it lives")
        try bench.lose(bench.store)
        let third = try bench.another()
        _ = try third.hold(.named("b"))
        #expect(try take(third, batch).map(\.event) == first.map(\.event))
        try third.settleHookCalls(first.map { HookOutcome($0.id, .reported) })
        #expect(try take(third, batch, revives: true).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func attemptsAreKeptAndFailuresAreRetriedInAnotherRunOnly(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a")]).batch.id
        _ = try store.apply(QueueCommand(id: 1, verb: .cancel, batch: batch, job: nil))
        let call = try #require(take(store, batch).first)
        let due = MonotonicTime.now + .seconds(1000)
        try store.settleHookCalls([
            HookOutcome(call.id, .again(attempts: 3, due: due, because: Sample.busy())),
            HookOutcome(call.id, .released),
        ])
        let again = try #require(take(store, batch).first)
        #expect(again.attempts == 3 && again.event == call.event)
        let left = try #require(again.due) - .now
        #expect(left > .seconds(990) && left < .seconds(1001))
        try store.settleHookCalls([HookOutcome(call.id, .failed(attempts: 4, Sample.busy()))])
        #expect(try take(store, batch).isEmpty)
        let revived = try #require(take(store, batch, revives: true).first)
        #expect(revived.attempts == 0 && revived.due == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchIsReportedOnceForItsNewEnds(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let hook = BatchHook(.command("all"))
        func stage() throws -> Int64 {
            try store.stage(
                BatchHeader(name: "b", directory: "/", onFinish: .set(hook)), StagingOptions()
            ) { intake in
                try intake.add(job("a", hook: nil), at: nil)
                return true
            }.batch.id
        }
        let batch = try stage()
        try store.succeed(store.claimAll(batch)[0])
        var totals = BatchTotals()
        (totals.jobs, totals.completed) = (1, 1)
        let end = BatchEnd(totals, duration: .milliseconds(1500))
        _ = try store.release(batch: batch, isComplete: true, end: end)
        let calls = try take(store, batch)
        #expect(calls.map(\.job) == [nil] && calls.map(\.hook) == [.command("all")])
        #expect(calls[0].body.contains(#""event":"batch.finished""#) && calls[0].body.contains(#""seconds":1.5"#))
        // The run is a new one, in which no job ended.
        #expect(try stage() == batch)
        _ = try store.release(batch: batch, isComplete: true, end: end)
        #expect(try take(store, batch).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func submittingASingleJobKeepsTheHookOfItsBatch(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage(
            BatchHeader(name: "b", directory: "/", onFinish: .set(BatchHook(.command("all")))), StagingOptions()
        ) { _ in true }.batch.id
        _ = try store.submit(job("a", hook: nil), batch: "b", directory: "/")
        try store.succeed(store.claimAll(batch)[0])
        _ = try store.release(batch: batch, isComplete: true, end: BatchEnd(BatchTotals(), duration: .zero))
        #expect(try take(store, batch).count == 1)
    }
}
