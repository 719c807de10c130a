import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

/// The jobs of a new batch, which are one value in the database until a query needs their rows.
@Suite struct PackTests {
    let fixture: StoreFixture
    let lane = Lane(batch: 1, origin: "http://h.example")

    init() throws { fixture = try StoreFixture() }

    private func job(_ name: String, id: String? = nil, needs: [String] = [], priority: Int = 0) -> JobSpec {
        Sample.download("http://h.example/x", to: name, id: id, needs: needs, priority: priority)
    }

    private func jobs(_ count: Int) -> [JobSpec] { (0..<count).map { job("\($0)") } }

    /// Counts the rows of the database itself, which has none for packed jobs.
    private func count(_ table: String) throws -> Int {
        Int(try fixture.raw.run("SELECT count(*) FROM \(table)")[0][0] ?? "") ?? -1
    }

    private func ids(_ staged: StagedJobs) throws -> [Int64] {
        let lane = Lane(batch: staged.batch.id, origin: lane.origin)
        return try fixture.store.claim(lane, limit: 100, secrets: [:]).jobs.map(\.record.id)
    }

    private func done(_ id: Int64, _ name: String) -> JobEnd {
        JobEnd(
            id: id, batch: 1, identity: name,
            outcome: .done(Sample.receipt("b", name), FileStamp(size: 7, modified: 1)))
    }

    @Test func aQueryForJobsFindsTheirRows() throws {
        try fixture.stage(jobs(20), reserving: 100)
        #expect(try count("pack") == 1 && count("job") == 0)
        #expect(try fixture.store.backlog(batch: 1).ready == [lane: 20])
        #expect(try count("pack") == 0 && count("job") == 20)
        // The jobs of the second batch were never packed.
        try fixture.stage(jobs(20), name: "c")
        let columns = "identity, state, priority, origin, destination, spec, isUpload, fingerprint, hasSecrets, network"
        func rows(_ batch: Int, _ columns: String) throws -> [[String?]] {
            try fixture.raw.run("SELECT \(columns) FROM job WHERE batch = \(batch) ORDER BY id")
        }
        let same = columns.replacing(" state,", with: "")
        #expect(try rows(1, same) == rows(2, same))
        #expect(
            try rows(1, "line, column, width, number, generation") == rows(2, "line, column, width, number, generation")
        )
    }

    @Test func everyOtherProcessFindsTheRows() throws {
        try fixture.stage(jobs(20), reserving: 100)
        let reader = try SQLiteStore(fixture.state, isReader: true)
        #expect(try reader.facts(batch: "b", job: "7")?.state == .queued)
        #expect(try count("job") == 20)
    }

    /// The state of a batch can be seen on a full disk, or while a second process writes.
    @Test func theStateOfABatchIsSeenWithoutRows() throws {
        let ids = try ids(fixture.stage(jobs(20), reserving: 100))
        _ = try fixture.store.record([done(ids[0], "0")], [])
        let reader = try SQLiteStore(fixture.state, isReader: true)
        let status = try #require(try reader.statuses(name: nil).first)
        #expect(status.total == 20 && status.remaining == 19 && status.done == 1)
        #expect(try count("pack") == 1)
    }

    @Test func aCompleteJobGetsItsRowWithItsEnd() throws {
        let ids = try ids(fixture.stage(jobs(20), reserving: 100))
        // The number is that of a full group and a few more.
        let recorded = try fixture.store.record((0..<11).map { done(ids[$0], "\($0)") }, [])
        #expect(recorded.cursors == Array(1...11))
        #expect(try count("pack") == 1 && count("job") == 11)
        let ends = try fixture.store.ends(after: 0, limit: 100)
        #expect(ends.compactMap(\.end).map(\.how) == Array(repeating: "done", count: 11))
        #expect(try count("pack") == 0 && count("job") == 20)
        // From this point on rows exist that can be changed.
        _ = try fixture.store.record((11..<20).map { done(ids[$0], "\($0)") }, [])
        #expect(try fixture.states().values.allSatisfy { $0 == .done } && count("job") == 20)
        // No column shows whether a row was made with its end or before it.
        let rows = try fixture.raw.run("SELECT * FROM job WHERE identity IN ('3', '13')")
        let distinct = zip(rows[0], rows[1]).map { $0 != $1 }.count { $0 }
        #expect(distinct <= 7, "number, identity, destination, description, fingerprint, the end's number: \(rows)")
    }

    @Test func aFailureCreatesAllRows() throws {
        let ids = try ids(fixture.stage(jobs(20), reserving: 100))
        let failure = JobEnd(
            id: ids[1], batch: 1, identity: "1", outcome: .failed(Sample.busy(), attempts: 3, host: "h.example"))
        _ = try fixture.store.record([done(ids[0], "0"), failure, done(ids[2], "2")], [])
        #expect(try count("pack") == 0 && count("job") == 20)
        let states = try fixture.states()
        #expect(states["0"] == .done && states["1"] == .failed && states["2"] == .done && states["3"] == .claimed)
    }

    @Test func aWaitForTheNextAttemptCreatesAllRows() throws {
        let ids = try ids(fixture.stage(jobs(20), reserving: 100))
        let step = JobStep(
            id: ids[4], state: .waiting, attempts: 1, mirror: 0, spentMirrors: 0, due: .seconds(1),
            origin: "http://h.example", batch: 1)
        _ = try fixture.store.record([done(ids[0], "0")], [step])
        #expect(try fixture.states()["4"] == .waiting && count("job") == 20)
    }

    @Test func theNextProcessContinuesPackedJobs() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.stage(jobs(20), reserving: 100, in: other)
        let ids = try other.claim(lane, limit: 6, secrets: [:]).jobs.map(\.record.id)
        _ = try other.record([done(ids[2], "2")], [])
        #expect(try count("pack") == 1)
        try fixture.kill(other)
        _ = try SQLiteStore(fixture.state)
        #expect(try fixture.store.hold(.unfinished).map(\.name) == ["b"])
        let records = try fixture.claimAll(1)
        #expect(records.map(\.identity) == (0..<20).filter { $0 != 2 }.map { "\($0)" })
        #expect(records.filter(\.wasInterrupted).map(\.identity) == ["0", "1", "3", "4", "5"])
        #expect(try fixture.states()["2"] == .done)
    }

    @Test func numbersOfPackedJobsAreNotReused() throws {
        let first = try ids(fixture.stage(jobs(20), reserving: 100))
        let second = try ids(fixture.stage(jobs(20), name: "c", reserving: 100))
        #expect(try count("pack") == 2)
        try fixture.stage(jobs(5), name: "d")
        #expect(try fixture.states().count == 20)
        let rows = try fixture.raw.run("SELECT batch, count(*), min(id) FROM job GROUP BY batch ORDER BY batch")
        #expect(rows == [["1", "20", "1"], ["2", "20", "21"], ["3", "5", "41"]])
        #expect(first == Array(1...20) && second == Array(21...40))
    }

    @Test func jobsAreRowsAtOnceWhenTheDatabaseHasToCompareThem() throws {
        let lists = [
            jobs(20) + [job("named", id: "name")], jobs(20) + [job("/absolute")],
            jobs(20) + [job("after", needs: ["3"])], jobs(20) + [job("urgent", priority: 1)], jobs(101),
        ]
        for (index, list) in lists.enumerated() {
            try fixture.stage(list, name: "\(index)", reserving: 100)
            #expect(try count("pack") == 0 && count("job WHERE batch = \(index + 1)") == list.count)
        }
    }

    @Test func nothingIsLeftOfABatchThatIsOverOrForgotten() throws {
        let ids = try ids(fixture.stage(jobs(3), reserving: 100))
        _ = try fixture.store.record((0..<3).map { done(ids[$0], "\($0)") }, [])
        #expect(try count("pack") == 1)
        _ = try fixture.store.release(batch: 1, isComplete: true)
        #expect(try count("pack") == 0 && fixture.store.statuses(name: nil).map(\.done) == [3])
        let other = try SQLiteStore(fixture.state)
        try fixture.stage(jobs(3), name: "c", reserving: 100, in: other)
        try other.retire()
        #expect(try fixture.store.forget(name: "c", endedBefore: nil) == ["c"])
        #expect(try count("pack") == 0 && count("job") == 3)
    }

    @Test func anUnreadablePackDelaysNoOtherBatch() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.stage(jobs(20), reserving: 100, in: other)
        try fixture.stage(jobs(3), name: "c", reserving: 100, in: other)
        try fixture.raw.run("UPDATE pack SET jobs = x'02' WHERE batch = 1")
        try fixture.kill(other)
        _ = try SQLiteStore(fixture.state)
        #expect(try fixture.store.hold(.unfinished).map(\.name) == ["c"])
        #expect(try fixture.claimAll(2).count == 3)
        #expect(try fixture.store.statuses(name: "b").map(\.remaining) == [20])
        // The file of the batch stages the jobs again.
        try fixture.stage(jobs(20))
        #expect(try fixture.claimAll(1).count == 20)
        #expect(try count("pack") == 0)
    }

    @Test func aPackWithoutItsBatchIsForgotten() throws {
        try fixture.stage(jobs(20), reserving: 100)
        try fixture.raw.run("PRAGMA foreign_keys = OFF")
        try fixture.raw.run("DELETE FROM batch")
        #expect(try fixture.store.backlog(batch: 1).ready.isEmpty && count("pack") == 0)
    }

    /// SQLite ends a text at its first NUL.
    @Test func namesThatDifferBehindANULAreTheSame() throws {
        #expect(throws: StagingFailure.self) {
            try fixture.stage(jobs(20) + [job("a\0b"), job("a\0c")], reserving: 100)
        }
    }

    @Test func aBatchThatIsRefusedLeavesNothing() throws {
        #expect(throws: StagingFailure.self) {
            try fixture.stage(jobs(20) + [job("7")], reserving: 100)
        }
        #expect(try count("pack") == 0 && count("job") == 0 && count("batch") == 0)
        #expect(try ids(fixture.stage(jobs(2), reserving: 100)) == [1, 2])
    }
}
