import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

/// The first jobs of a new batch, which belong to the process that staged them, so that it need not read them again.
@Suite struct ReserveTests {
    let fixture: StoreFixture
    let lane = Lane(batch: 1, origin: "http://h.example")

    init() throws { fixture = try StoreFixture() }

    func job(_ name: String, host: String = "h.example", priority: Int = 0, needs: [String] = []) -> JobSpec {
        Sample.download("http://\(host)/x", to: name, needs: needs, priority: priority)
    }

    func jobs(_ count: Int) -> [JobSpec] { (0..<count).map { job("\($0)") } }

    private func claim(_ lane: Lane, _ limit: Int, in store: SQLiteStore? = nil) throws -> [JobRecord] {
        try (store ?? fixture.store).claim(lane, limit: limit, secrets: [:]).jobs.map(\.record)
    }

    /// Returns the jobs that the database holds as claimed, and those without an owner.
    private func reserved() throws -> [String] {
        try fixture.store.database.write { _ in }
        return try fixture.raw.run("SELECT identity FROM job WHERE state = 1 AND owner IS NULL ORDER BY id")
            .compactMap { $0[0] }
    }

    @Test func reservedJobsAreClaimedInOrderWithoutReads() throws {
        let mixed = (0..<20).map { job("\($0)", host: $0 % 3 == 0 ? "other.example" : "h.example") }
        let staged = try fixture.stage(mixed, reserving: 100)
        let other = Lane(batch: 1, origin: "http://other.example")
        #expect(staged.ready == [other: 7, lane: 13])
        try fixture.raw.run("CREATE TABLE unread AS SELECT 1; ALTER TABLE pack RENAME COLUMN jobs TO hidden")
        #expect(try claim(other, 5).map(\.identity) == ["0", "3", "6", "9", "12"])
        try fixture.raw.run("ALTER TABLE pack RENAME COLUMN hidden TO jobs")
        #expect(try claim(other, 5).map(\.identity) == ["15", "18"])
        #expect(try claim(lane, 1).map(\.spec) == [mixed[1]])
        #expect(try fixture.states().values.allSatisfy { $0 == .claimed })
        // Each record has the values of the row with its number.
        for record in try claim(lane, 100) {
            #expect(try fixture.raw.run("SELECT identity FROM job WHERE id = \(record.id)") == [[record.identity]])
        }
        #expect(try claim(lane, 100).isEmpty)
    }

    @Test func jobsBeyondTheReserveFollow() throws {
        let staged = try fixture.stage(jobs(30), reserving: 16)
        #expect(staged.ready == [lane: 30])
        #expect(try reserved().count == 16)
        #expect(try claim(lane, 10).map(\.identity) == (0..<10).map { "\($0)" })
        #expect(try claim(lane, 100).map(\.identity) == (10..<30).map { "\($0)" })
    }

    @Test func noReserveIsMadeWhenJobsStartOutOfOrder() throws {
        #expect(try fixture.stage(jobs(20) + [job("urgent", priority: 1)], reserving: 100).ready == nil)
        #expect(try fixture.claimAll(1).first?.identity == "urgent")
        #expect(try fixture.stage(jobs(20) + [job("after", needs: ["3"])], name: "c", reserving: 100).ready == nil)
        #expect(try fixture.claimAll(2).count == 20)
        #expect(try fixture.states()["after"] == .blocked)
    }

    @Test func noReserveIsMadeForAnExistingBatch() throws {
        try fixture.stage([job("a")])
        #expect(try fixture.stage([job("a"), job("b")], reserving: 100).ready == nil)
        #expect(try fixture.claimAll(1).count == 2)
    }

    @Test func duplicateNamesAreFoundInAGroupToo() throws {
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

    @Test func openedJobsOfADeadProcessMayHaveStarted() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.stage(jobs(6), reserving: 100, in: other)
        let opened = try claim(lane, 2, in: other) + claim(lane, 2, in: other)
        try fixture.kill(other)
        _ = try SQLiteStore(fixture.state)
        #expect(try fixture.store.hold(.unfinished).map(\.name) == ["b"])
        let records = try fixture.claimAll(1)
        #expect(records.map(\.wasInterrupted) == [true, true, true, true, false, false])
        #expect(records.prefix(4).map(\.claimed) == opened.map(\.claimed))
    }

    /// A version without reserves took the process for dead, and removed its row.
    @Test func jobsOfAnUnknownProcessAreFree() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.stage(jobs(4), reserving: 100, in: other)
        let opened = try claim(lane, 2, in: other)
        try fixture.raw.run("UPDATE batch SET owner = NULL")
        try fixture.raw.run("DELETE FROM process WHERE id = \(other.database.process)")
        #expect(try fixture.store.hold(.unfinished).map(\.name) == ["b"])
        let records = try fixture.claimAll(1)
        #expect(records.map(\.wasInterrupted) == [true, true, false, false])
        #expect(records.prefix(2).map(\.claimed) == opened.map(\.claimed))
    }

    /// After a loss of power a PUT that may have been sent is queried; a download is only fetched.
    @Test func uploadsAreOnTheDiskBeforeTheyStart() throws {
        func waits() throws -> [[String?]] { try fixture.raw.run("SELECT value FROM counter WHERE name = 'durable'") }
        try fixture.stage(jobs(3))
        #expect(try fixture.claimAll(1).count == 3)
        #expect(try waits() == [])
        try fixture.stage([Sample.upload("a", to: "http://h.example/a"), job("b")], name: "up")
        #expect(try fixture.claimAll(2).count == 2)
        #expect(try waits() == [["1"]])
        try fixture.stage(jobs(3), name: "new", reserving: 100)
        #expect(try claim(Lane(batch: 3, origin: lane.origin), 1).count == 1)
        #expect(try waits() == [["1"]])
        try fixture.stage([Sample.upload("a", to: "http://h.example/b")], name: "newUp", reserving: 100)
        #expect(try claim(Lane(batch: 4, origin: lane.origin), 1).count == 1)
        #expect(try waits() == [["2"]])
    }

    @Test func aCommandReachesUnopenedJobs() throws {
        try fixture.stage(jobs(4), reserving: 100)
        let first = try #require(try claim(lane, 1).first)
        let applied = try fixture.store.apply(QueueCommand(id: 1, verb: .pause, batch: 1, job: nil))
        #expect(applied.jobs.map(\.identity) == ["1", "2", "3"])
        #expect(try fixture.states() == ["0": .claimed, "1": .paused, "2": .paused, "3": .paused])
        #expect(try claim(lane, 9).isEmpty, "there is no reserve any more")
        // The former owner is known, for the case that it dies.
        #expect(
            try fixture.raw.run("SELECT owner, claimed FROM job WHERE id = \(first.id)") == [["1", "\(first.claimed)"]])
    }

    /// Other processes see the jobs as ready, like jobs that no process has claimed.
    @Test func unopenedJobsAreReadyForOtherProcesses() throws {
        try fixture.stage(jobs(3), reserving: 100)
        #expect(try claim(lane, 1).count == 1)
        let states = try ["0", "1", "2"].map { try fixture.store.facts(batch: "b", job: $0)?.state }
        #expect(states == [.claimed, .queued, .queued])
        let other = try SQLiteStore(fixture.state)
        #expect(try other.deliver(.retry, batch: "b", job: "1") == .applied(jobs: 0))
        #expect(try other.deliver(.resume, batch: "b", job: "1") == .applied(jobs: 0))
        guard case .handed = try other.deliver(.pause, batch: "b", job: "1") else {
            Issue.record("it is its process that pauses it")
            return
        }
    }

    @Test func theReserveIsReturnedWhenTheBatchIsReleased() throws {
        try fixture.stage(jobs(3), reserving: 100)
        _ = try fixture.store.release(batch: 1, isComplete: false)
        #expect(try fixture.claimAll(1).count == 3)
    }

    @Test func theReserveIsReturnedWhenTheBatchIsStagedAgain() throws {
        try fixture.stage(jobs(3), reserving: 100)
        #expect(try fixture.stage([job("0"), job("1"), job("new")], reserving: 100).ready == nil)
        #expect(try fixture.states() == ["0": .queued, "1": .queued, "new": .queued])
        #expect(try claim(lane, 9).map(\.identity) == ["0", "1", "new"])
    }

    @Test func theReserveIsReturnedByAProcessThatEnds() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.stage(jobs(3), reserving: 100, in: other)
        try other.retire()
        #expect(try fixture.store.hold(.unfinished).count == 1)
        #expect(try fixture.claimAll(1).map(\.wasInterrupted) == [false, false, false])
    }
}
