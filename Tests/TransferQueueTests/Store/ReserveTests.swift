import Testing
import TransferCore
import TransferTestSupport

@testable import TransferQueue

/// The first jobs of a new batch belong to whoever put it in, who needn't read them again.
@Suite struct ReserveTests {
    let fixture: StoreFixture
    let lane = Lane(batch: 1, origin: "http://h.example")

    init() throws { fixture = try StoreFixture() }

    func job(_ name: String, host: String = "h.example", priority: Int = 0, needs: [String] = []) -> JobSpec {
        Sample.download("http://\(host)/x", to: name, needs: needs, priority: priority)
    }

    func jobs(_ count: Int) -> [JobSpec] { (0..<count).map { job("\($0)") } }

    @Test func theyAreTakenAtOnceAndHandedOverInTheirOrder() throws {
        let mixed = (0..<20).map { job("\($0)", host: $0 % 3 == 0 ? "other.example" : "h.example") }
        let staged = try fixture.stage(mixed, reserving: 100)
        let lanes = try #require(staged.reserve?.take())
        #expect(staged.reserve?.take() == nil, "once")
        #expect(lanes.count == 2)
        let other = Lane(batch: 1, origin: "http://other.example")
        #expect(lanes[other]?.jobs.map(\.identity) == ["0", "3", "6", "9", "12", "15", "18"])
        #expect(lanes[lane]?.count == 13)
        #expect(lanes[lane]?.jobs.map(\.spec.wrappedValue).first == mixed[1])
        #expect(try fixture.states().values.allSatisfy { $0 == .claimed })
        #expect(try fixture.claimAll(1).isEmpty)
        // Each is the row of its number.
        for job in lanes.values.flatMap(\.jobs) {
            #expect(try fixture.raw.run("SELECT identity FROM job WHERE id = \(job.id)") == [[job.identity]])
        }
    }

    @Test func whatIsBeyondItsRoomIsClaimedFromTheStore() throws {
        let staged = try fixture.stage(jobs(30), reserving: 16)
        let lanes = try #require(staged.reserve?.take())
        #expect(lanes[lane]?.jobs.count == 16 && lanes[lane]?.count == 30)
        #expect(try fixture.claimAll(1).map(\.identity) == (16..<30).map { "\($0)" })
    }

    @Test func thereIsNoneWhereJobsDontStartInTheirOrder() throws {
        #expect(try fixture.stage(jobs(20) + [job("urgent", priority: 1)], reserving: 100).reserve == nil)
        #expect(try fixture.claimAll(1).first?.identity == "urgent")
        #expect(try fixture.stage(jobs(20) + [job("after", needs: ["3"])], name: "c", reserving: 100).reserve == nil)
        #expect(try fixture.claimAll(2).count == 20)
        #expect(try fixture.states()["after"] == .blocked)
    }

    @Test func thereIsNoneWhereTheBatchWasThereBefore() throws {
        try fixture.stage([job("a")])
        #expect(try fixture.stage([job("a"), job("b")], reserving: 100).reserve == nil)
        #expect(try fixture.claimAll(1).count == 2)
    }

    @Test func twoOfOneNameAreFoundInAGroupToo() throws {
        for second in [1, 7, 8, 12] {
            var twice = jobs(20)
            twice[second] = job("0")
            do {
                try fixture.stage(twice, name: "twice", reserving: 100)
                Issue.record("taken")
            } catch StagingFailure.faults(let report) {
                #expect(report.faults.map(\.message) == ["same destination as another job: 0"])
            }
        }
        #expect(try fixture.states().isEmpty)
    }

    @Test func whatADeadProcessHadOpenedMayHaveStarted() throws {
        let other = try SQLiteStore(fixture.state)
        let ids = try #require(try fixture.stage(jobs(6), reserving: 100, in: other).reserve?.take()?[lane]).jobs.map(
            \.id)
        #expect(try other.open(lane, through: ids[1], since: 1000, isDurable: false))
        #expect(try other.open(lane, through: ids[3], since: 2000, isDurable: false))
        try fixture.kill(other)
        _ = try SQLiteStore(fixture.state)
        #expect(try fixture.store.holdAll().map(\.name) == ["b"])
        let records = try fixture.claimAll(1)
        #expect(records.map(\.wasInterrupted) == [true, true, true, true, false, false])
        #expect(records.prefix(4).map(\.claimed) == [1000, 1000, 2000, 2000])
    }

    /// A version that knows nothing of reserves took the process for dead, and its row away.
    @Test func whatNobodyKnowsTheProcessOfIsFree() throws {
        let other = try SQLiteStore(fixture.state)
        let ids = try #require(try fixture.stage(jobs(4), reserving: 100, in: other).reserve?.take()?[lane]).jobs.map(
            \.id)
        #expect(try other.open(lane, through: ids[1], since: 1000, isDurable: false))
        try fixture.raw.run("UPDATE batch SET owner = NULL")
        try fixture.raw.run("DELETE FROM process WHERE id = \(other.process)")
        #expect(try fixture.store.holdAll().map(\.name) == ["b"])
        let records = try fixture.claimAll(1)
        #expect(records.map(\.wasInterrupted) == [true, true, false, false])
        #expect(records.prefix(2).map(\.claimed) == [1000, 1000])
    }

    /// After a loss of power a PUT that may have been sent is asked for; a download is only fetched.
    @Test func uploadsAreOnTheDiskBeforeTheyStart() throws {
        func waits() throws -> [[String?]] { try fixture.raw.run("SELECT value FROM counter WHERE name = 'durable'") }
        try fixture.stage(jobs(3))
        #expect(try fixture.claimAll(1).count == 3)
        #expect(try waits() == [])
        try fixture.stage([Sample.upload("a", to: "http://h.example/a"), job("b")], name: "up")
        #expect(try fixture.claimAll(2).count == 2)
        #expect(try waits() == [["1"]])
        let ids = try #require(
            try fixture.stage(jobs(3), name: "new", reserving: 100).reserve?.take()?[
                Lane(batch: 3, origin: lane.origin)]
        ).jobs.map(\.id)
        let fresh = Lane(batch: 3, origin: lane.origin)
        #expect(try fixture.store.open(fresh, through: ids[0], since: 1, isDurable: false))
        #expect(try waits() == [["1"]])
        #expect(try fixture.store.open(fresh, through: ids[1], since: 1, isDurable: true))
        #expect(try waits() == [["2"]])
    }

    @Test func aCommandReachesWhatIsNotOpened() throws {
        let ids = try #require(try fixture.stage(jobs(4), reserving: 100).reserve?.take()?[lane]).jobs.map(\.id)
        #expect(try fixture.store.open(lane, through: ids[0], since: 1000, isDurable: false))
        let applied = try fixture.store.apply(QueueCommand(id: 1, verb: .pause, batch: 1, job: nil))
        #expect(applied.jobs.map(\.identity) == ["1", "2", "3"])
        #expect(try fixture.states() == ["0": .claimed, "1": .paused, "2": .paused, "3": .paused])
        #expect(
            try !fixture.store.open(lane, through: ids[3], since: 1000, isDurable: false),
            "there is no reserve any more")
        // Whoever had it is known, for when that one dies.
        #expect(try fixture.raw.run("SELECT owner, claimed FROM job WHERE id = \(ids[0])") == [["1", "1000"]])
    }

    /// To others they wait for their turn, like those that nobody has taken.
    @Test func whatIsNotOpenedIsReadyToWhoeverAsks() throws {
        let ids = try #require(try fixture.stage(jobs(3), reserving: 100).reserve?.take()?[lane]).jobs.map(\.id)
        #expect(try fixture.store.open(lane, through: ids[0], since: 1000, isDurable: false))
        let states = try ["0", "1", "2"].map { try fixture.store.facts(batch: "b", job: $0)?.state }
        #expect(states == [.claimed, .queued, .queued])
        let other = try SQLiteStore(fixture.state)
        #expect(try other.deliver(.retry, batch: "b", job: "1") == .applied(jobs: 0))
        #expect(try other.deliver(.resume, batch: "b", job: "1") == .applied(jobs: 0))
        guard case .handed = try other.deliver(.pause, batch: "b", job: "1") else {
            Issue.record("it's its process that pauses it")
            return
        }
    }

    @Test func itIsGivenBackByWhoeverLetsTheBatchGo() throws {
        try fixture.stage(jobs(3), reserving: 100)
        _ = try fixture.store.letGo(batch: 1)
        #expect(try fixture.claimAll(1).count == 3)
    }

    @Test func itIsGivenBackWhenTheBatchIsStagedAgain() throws {
        let staged = try fixture.stage(jobs(3), reserving: 100)
        let ids = try #require(staged.reserve?.take()?[lane]).jobs.map(\.id)
        #expect(try fixture.stage([job("0"), job("1"), job("new")], reserving: 100).reserve == nil)
        #expect(try fixture.states() == ["0": .queued, "1": .queued, "new": .queued])
        #expect(try !fixture.store.open(lane, through: ids[2], since: 1000, isDurable: false))
    }

    @Test func itIsGivenBackByAProcessThatEnds() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.stage(jobs(3), reserving: 100, in: other)
        try other.unregister()
        #expect(try fixture.store.holdAll().count == 1)
        #expect(try fixture.claimAll(1).map(\.wasInterrupted) == [false, false, false])
    }
}
