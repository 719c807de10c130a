import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

@Suite struct ClaimTests {
    let fixture: StoreFixture
    let lane = Lane(batch: 1, origin: "http://h.example")

    init() throws { fixture = try StoreFixture() }

    func job(_ name: String, priority: Int = 0, needs: [String] = []) -> JobSpec {
        Sample.download("http://h.example/x", to: name, needs: needs, priority: priority)
    }

    @Test func theMostUrgentComeFirstThenTheOldest() throws {
        try fixture.stage([job("a"), job("b", priority: 5), job("c", priority: -1), job("d", priority: 5), job("e")])
        let first = try fixture.store.claim(lane, limit: 3, secrets: [:])
        #expect(first.jobs.map(\.record.identity) == ["b", "d", "a"])
        #expect(first.jobs.map(\.rank) == [5, 5, 0])
        #expect(try fixture.store.claim(lane, limit: 3, secrets: [:]).jobs.map(\.record.identity) == ["e", "c"])
        #expect(try fixture.store.claim(lane, limit: 3, secrets: [:]).jobs.isEmpty)
    }

    /// The result is that of separate claims for each lane, in their order.
    @Test func severalLanesAreClaimedTogether() throws {
        let other = Lane(batch: 1, origin: "http://i.example")
        try fixture.stage([job("a"), Sample.download("http://i.example/x", to: "b"), job("c")])
        let wants = [other, lane, Lane(batch: 1, origin: "http://nobody.example")].map {
            LaneWant(lane: $0, limit: 1)
        }
        let claimed = try fixture.store.claim(wants, secrets: [:])
        #expect(claimed.map(\.lane) == wants.map(\.lane))
        #expect(claimed.map { $0.jobs.map(\.record.identity) } == [["b"], ["a"], []])
    }

    /// The jobs of a large batch are not counted at each query. The process that runs them reports the ready, claimed
    /// and complete ones.
    @Test func onlyTheOtherJobsOfALargeBatchAreCounted() throws {
        try fixture.stage([job("a"), job("b"), job("c", needs: ["a"])])
        var totals = BatchTotals()
        for (jobs, isReported) in [(20_000, false), (1_000_000, true)] {
            (totals.jobs, totals.kept, totals.completed) = (jobs, 1, 400_000)
            try fixture.store.publish(
                .progress(
                    RunProgress(
                        batch: 1, totals: totals, rate: 0, eta: nil, active: 0, underWay: [], waitingFor: nil)))
            let status = try #require(try fixture.store.statuses(name: nil).first)
            #expect(status.total == (isReported ? 1_000_000 : 3) && status.done == (isReported ? 400_001 : 0))
            #expect(status.waiting == 1 && status.remaining == (isReported ? 599_999 : 3))
        }
    }

    @Test func twoProcessesNeverGetTheSameJob() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.stage((0..<100).map { job("\($0)") })
        var seen: [String] = []
        for turn in 0..<20 {
            let store = turn % 2 == 0 ? fixture.store : other
            seen += try store.claim(lane, limit: 7, secrets: [:]).jobs.map(\.record.identity)
        }
        #expect(seen.count == 100 && Set(seen).count == 100)
    }

    @Test func aBatchIsHeldByOneProcess() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.stage([job("a")])
        do {
            try fixture.stage([job("a")], in: other)
            Issue.record("taken twice")
        } catch StagingFailure.held(let held) {
            #expect(held.batch == "b" && held.pid == ProcessIdentity.current.pid)
        }
        #expect(try other.hold(.unfinished).isEmpty)
        _ = try fixture.store.release(batch: 1, isComplete: false)
        #expect(try other.hold(.unfinished).map(\.name) == ["b"])
    }

    @Test func aClaimEndsWithItsProcess() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.stage([job("a")], in: other)
        _ = try fixture.claimAll(1, in: other)
        _ = try SQLiteStore(fixture.state)
        #expect(try fixture.states() == ["a": .claimed], "its owner lives")
        try fixture.kill(other)
        _ = try SQLiteStore(fixture.state)
        #expect(try fixture.states() == ["a": .queued])
        #expect(try fixture.store.hold(.unfinished).map(\.name) == ["b"])
        #expect(try fixture.claimAll(1).map(\.wasInterrupted) == [true])
    }

    @Test func aProcessOfAnEarlierBootIsDead() throws {
        let me = ProcessIdentity.current
        #expect(me.isAlive)
        #expect(!ProcessIdentity(pid: me.pid, started: me.started, boot: "another").isAlive)
        #expect(!ProcessIdentity(pid: me.pid, started: me.started - 1, boot: me.boot).isAlive)
        #expect(!ProcessIdentity(pid: 1 << 30, started: me.started, boot: me.boot).isAlive)
    }

    /// Without /proc nothing shows since when a process has its number: its jobs stay with it.
    @Test(arguments: [
        (ProcessIdentity.Sighting.started(5), "b", true), (.started(6), "b", false), (.gone, "b", false),
        (.unseen, "b", true), (.unseen, "other", false), (.unseen, "unknown", true), (.gone, "unknown", false),
        (.started(5), "unknown", true),
    ])
    func aProcessIsIdentifiedByItsKnownStart(_ sighting: ProcessIdentity.Sighting, _ boot: String, _ isAlive: Bool) {
        let identity = ProcessIdentity(pid: 1, started: 5, boot: "b")
        #expect(identity.isAlive(as: sighting, in: boot) == isAlive)
    }

    @Test func aProcessWithoutAStartIsIdentifiedByItsNumber() {
        let identity = ProcessIdentity(pid: 1, started: -5, boot: BootID.unknown)
        #expect(identity.isAlive(as: .started(7), in: "b"))
        #expect(!identity.isAlive(as: .gone, in: "b"))
    }

    @Test func aBodyThatMayHaveArrivedIsNotSentAgainAutomatically() throws {
        let other = try SQLiteStore(fixture.state)
        let uploads = ["p1", "p2", "p3"].map {
            Sample.upload("/tmp/f", to: "http://h.example/" + $0, id: $0, protocol: .post)
        }
        try fixture.stage(uploads + [job("after", needs: ["p1"])], in: other)
        for record in try fixture.claimAll(1, in: other) where record.identity != "p3" {
            try other.note([.sending(record.id, isUnrepeatable: true, version: nil)])
        }
        try fixture.kill(other)
        _ = try SQLiteStore(fixture.state)
        let states = try fixture.states()
        #expect(states["p1"] == .failed && states["p2"] == .failed && states["p3"] == .queued)
        #expect(states["after"] == .skipped, "what it waits for has ended")
        let failures = try fixture.store.failures(batch: "b", limit: 10)
        #expect(failures.map(\.code) == ["mayHaveBeenSent", "mayHaveBeenSent"])
        #expect(failures.allSatisfy { $0.message.contains("a retry") })
        let cursors = try fixture.store.ends(after: 0, limit: 10).compactMap(\.cursor)
        #expect(zip(cursors, cursors.dropFirst()).allSatisfy(<))
    }

    @Test func returnedJobsCanBeClaimedAgain() throws {
        try fixture.stage([job("a"), job("b")])
        let records = try fixture.claimAll(1)
        try fixture.store.release(records.map(\.id))
        #expect(try fixture.store.backlog(batch: 1).ready == [lane: 2])
        #expect(try fixture.claimAll(1).map(\.wasInterrupted) == [false, false])
        try fixture.store.retire()
        #expect(try fixture.states() == ["a": .queued, "b": .queued])
        #expect(try fixture.raw.value("SELECT owner FROM batch") == nil)
    }

    @Test func sleepersWakeUnlessTheyWerePaused() throws {
        try fixture.stage([job("a"), job("b")])
        let records = try fixture.claimAll(1)
        let steps = records.map {
            JobStep(
                id: $0.id, state: .waiting, attempts: 1, mirror: 0, spentMirrors: 0,
                due: .seconds(1e9 + Double($0.id)),
                origin: "http://h.example", batch: 1)
        }
        _ = try fixture.store.record([], steps)
        #expect(
            try fixture.store.backlog(batch: 1).sleepers.map(\.due) == records.map { .seconds(1e9 + Double($0.id)) })
        _ = try fixture.store.apply(QueueCommand(id: 1, verb: .pause, batch: 1, job: "a"))
        #expect(try fixture.store.wake(records.map(\.id)) == [lane: 1])
        #expect(try fixture.states() == ["a": .paused, "b": .queued])
        #expect(try fixture.claimAll(1).map(\.attempts) == [1], "attempts survive")
    }

    @Test func aDescriptionOfANewerVersionIsReportedAndHoldsUpNoOther() throws {
        try fixture.stage([job("a"), job("b")])
        try fixture.raw.run("UPDATE job SET spec = '{\"later\": true}' WHERE identity = 'a'")
        let claimed = try fixture.store.claim(lane, limit: 9, secrets: [:])
        #expect(claimed.jobs.map(\.record.identity) == ["b"])
        #expect(claimed.unreadable.map(\.identity) == ["a"])
    }

    @Test func aJobComesBackAsItWasStaged() throws {
        var spec = job("dir/é ü.bin", priority: 3)
        spec.settings.headers = [.init(name: "X-A", value: .environment("T"))]
        spec.settings.retry.limit = 2
        try fixture.stage([spec])
        #expect(try fixture.claimAll(1).map(\.spec) == [spec])
    }

    /// The test runs only with the heavy tests, as other tests of this process would be measured with it.
    @Test(.timeLimit(.minutes(2)), .enabled(if: TransferCommand.runsHeavyTests))
    func fiftyThousandJobsTakeAPageOfMemoryAtATime() throws {
        let before = ResidentMemory.kibibytes
        let count = 50_000
        let header = BatchHeader(name: "b", source: nil, directory: "/")
        _ = try fixture.store.stage(header, StagingOptions()) { stager in
            for number in 0..<count { try stager.add(job("out/\(number)"), at: nil) }
            return true
        }
        var taken = 0
        while true {
            let page = try fixture.store.claim(lane, limit: 256, secrets: [:]).jobs
            if page.isEmpty { break }
            taken += page.count
        }
        #expect(taken == count)
        // Other tests run in this process too. The bound would still be exceeded by holding 50,000 records (some 100
        // MB).
        #expect(ResidentMemory.kibibytes - before < 80 << 10)
    }
}
