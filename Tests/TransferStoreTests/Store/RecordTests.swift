import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

@Suite struct RecordTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    func job(_ name: String, needs: [String] = []) -> JobSpec {
        Sample.download("http://h.example/x", to: name, needs: needs)
    }

    /// Returns all ends, read in pages of that size.
    func allEnds(page: Int) throws -> [QueueEvent] {
        var events: [QueueEvent] = []
        while true {
            let next = try fixture.store.ends(after: events.last?.cursor ?? 0, limit: page)
            if next.isEmpty { return events }
            events += next
        }
    }

    @Test func endsComeBackAsTheyWereRecorded() throws {
        try fixture.stage([job("a"), job("b"), job("c"), job("d", needs: ["b"])])
        let records = try fixture.claimAll(1)
        var receipt = Sample.receipt("b", "a", route: JobRoute(records[0].spec))
        receipt.digest = Checksum(.md5, hex: String(repeating: "a", count: 32))
        receipt.response = "hello"
        try fixture.end(records[0], .done(receipt, FileStamp(size: 7, modified: 1)))
        try fixture.fail(records[1])
        try fixture.end(records[2], .cancelled)
        let ends = try allEnds(page: 2)
        #expect(ends.map { $0.end?.how } == ["done", "failed httpStatus", "skipped b", "cancelled"])
        #expect(ends.compactMap(\.cursor) == [1, 2, 3, 4])
        guard case .finished(let again) = ends[0].kind, case .failed(let failure) = ends[1].kind else {
            return #expect(Bool(false))
        }
        #expect(again == receipt)
        #expect(failure.error.status == 503 && failure.attempts == 3 && failure.host == "h.example")
        #expect(try fixture.store.lastCursor() == 4)
        #expect(try fixture.store.end(batch: "b", job: "a")?.cursor == 1)
        #expect(try fixture.store.end(batch: "b", job: "nope") == nil)
    }

    @Test func cursorsAreNeverGivenTwice() throws {
        let count = 300
        try fixture.stage((0..<count).map { job("\($0)") })
        for record in try fixture.claimAll(1).prefix(5) { try fixture.succeed(record) }
        try fixture.store.retire()
        let store = try SQLiteStore(fixture.state)
        _ = try store.apply(QueueCommand(id: 1, verb: .cancel, batch: 1, job: nil))
        let ends = try allEnds(page: 64)
        #expect(ends.count == count, "a reader that reads page by page misses none")
        #expect(Set(ends.compactMap(\.end?.job)).count == count)
        #expect(Set(ends.compactMap(\.cursor)).count == count)
        #expect(try fixture.store.lastCursor() == ends.compactMap(\.cursor).max())
    }

    @Test func cancellingANeededJobSkipsItsDependents() throws {
        try fixture.stage([job("a"), job("b", needs: ["a"]), job("c", needs: ["b"])])
        _ = try fixture.store.apply(QueueCommand(id: 1, verb: .cancel, batch: 1, job: "a"))
        #expect(try fixture.states() == ["a": .cancelled, "b": .skipped, "c": .skipped])
    }

    @Test func retryingOnlySkippedJobsDoesNotWaitForEver() throws {
        try fixture.stage([job("a"), job("b", needs: ["a"])])
        try fixture.fail(try #require(try fixture.claimAll(1).first))
        _ = try fixture.store.apply(QueueCommand(id: 1, verb: .retry, batch: 1, job: "b"))
        let states = try fixture.states()
        #expect(states["b"] != .blocked || states["a"]?.hasEnded == false)
    }

    @Test func everyChangeOfStateIsALegalOne() throws {
        // A trigger in the database observes changes that no function of the store returns.
        try fixture.raw.run(
            """
            CREATE TABLE seen (old INTEGER, new INTEGER);
            CREATE TRIGGER watch AFTER UPDATE OF state ON job WHEN old.state <> new.state
            BEGIN INSERT INTO seen VALUES (old.state, new.state); END;
            """)
        var random = SplitMix64(state: 4)
        for _ in 0..<12 {
            let jobs = (0..<12).map { job("\($0)", needs: $0 % 3 == 2 ? ["\($0 - 1)"] : []) }
            try fixture.stage(jobs)
            for _ in 0..<25 {
                let records = try fixture.claimAll(1)
                for record in records {
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: try fixture.succeed(record)
                    case 1: try fixture.fail(record)
                    case 2: try fixture.end(record, .cancelled)
                    case 3: try fixture.store.release([record.id])
                    default:
                        let states: [JobState] = [.waiting, .paused, .queued]
                        let state = states[Int.random(in: 0..<3, using: &random)]
                        _ = try fixture.store.record(
                            [],
                            [
                                JobStep(
                                    id: record.id, state: state, attempts: 1, mirror: 0, spentMirrors: 0,
                                    due: .seconds(5),
                                    origin: "http://h.example", batch: 1)
                            ])
                    }
                }
                let verb = QueueVerb.allCases[Int.random(in: 0..<QueueVerb.allCases.count, using: &random)]
                let name = Bool.random(using: &random) ? "\(Int.random(in: 0..<12, using: &random))" : nil
                if verb != .cancel || name != nil {
                    _ = try fixture.store.apply(QueueCommand(id: 1, verb: verb, batch: 1, job: name))
                }
                _ = try fixture.store.wake(try fixture.store.backlog(batch: 1).sleepers.map(\.id))
            }
        }
        let seen = try fixture.raw.run("SELECT DISTINCT old, new FROM seen")
        #expect(seen.count >= 12)
        for row in seen {
            guard let old = Int(row[0] ?? "").flatMap(JobState.init), let new = Int(row[1] ?? "").flatMap(JobState.init)
            else { continue }
            // Running the batch again restores each job that is not running.
            let isRestaging = new == .queued || new == .blocked
            #expect(old.successors.contains(new) || (isRestaging && old != .claimed), "\(old) → \(new)")
        }
    }

    @Test func endedStatesHaveNoSuccessor() {
        for state in JobState.allCases {
            #expect(state.hasEnded == state.successors.isSubset(of: [.queued, .blocked]))
            #expect(!state.successors.contains(state))
        }
    }
}
