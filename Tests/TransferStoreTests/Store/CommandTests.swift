import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

@Suite struct CommandTests {
    let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
        let jobs = ["a", "b"].map { Sample.download("http://h.example/x", to: $0) }
        try fixture.stage(jobs + [Sample.download("http://h.example/x", to: "c", needs: ["a"])])
    }

    func apply(_ verb: QueueVerb, _ job: String? = nil) throws -> Set<String> {
        Set(try fixture.store.apply(QueueCommand(id: 1, verb: verb, batch: 1, job: job)).jobs.map(\.identity))
    }

    @Test func commandsReachTheRunningProcessOnce() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.store.publish(.socket("/run/x.sock"))
        for verb in [QueueVerb.pause, .resume] {
            guard case .handed(let pid, let socket, _) = try other.deliver(verb, batch: "b", job: nil) else {
                return #expect(Bool(false))
            }
            #expect(pid == ProcessIdentity.current.pid && socket == "/run/x.sock")
        }
        #expect(try other.takeCommands().isEmpty, "they are for another process")
        #expect(try fixture.store.takeCommands().map(\.verb) == [.pause, .resume])
        #expect(try fixture.store.takeCommands().isEmpty)
    }

    @Test func commandsArePerformedAtOnceWithoutARun() throws {
        _ = try fixture.store.release(batch: 1, isComplete: false)
        let other = try SQLiteStore(fixture.state)
        #expect(try other.deliver(.pause, batch: "b", job: nil) == .applied(jobs: 3))
        #expect(try other.deliver(.resume, batch: "b", job: "a") == .applied(jobs: 1))
        #expect(try other.deliver(.pause, batch: "nope", job: nil) == .noSuchBatch)
        #expect(try other.deliver(.pause, batch: "b", job: "nope") == .noSuchJob)
    }

    @Test func commandsForADeadProcessArePerformedAtOnce() throws {
        let other = try SQLiteStore(fixture.state)
        try fixture.kill(fixture.store)
        #expect(try other.deliver(.pause, batch: "b", job: "a") == .applied(jobs: 1))
    }

    @Test func pausingHoldsAndResumingRestores() throws {
        #expect(try apply(.pause) == ["a", "b", "c"])
        #expect(try fixture.store.backlog(batch: 1).ready.isEmpty)
        #expect(try apply(.resume) == ["a", "b", "c"])
        #expect(try fixture.states() == ["a": .queued, "b": .queued, "c": .blocked])
    }

    @Test func aPausedJobStartsItsTurnOnceItIsResumedAfterItsNeed() throws {
        _ = try apply(.pause, "c")
        try fixture.succeed(try #require(try fixture.claimAll(1).first))
        #expect(try fixture.states()["c"] == .paused)
        _ = try apply(.resume, "c")
        #expect(try fixture.states()["c"] == .queued)
    }

    @Test func retryRestoresFailedJobsAndNoCompleteOnes() throws {
        let records = try fixture.claimAll(1)
        try fixture.fail(records[0])
        try fixture.succeed(records[1])
        #expect(try fixture.states() == ["a": .failed, "b": .done, "c": .skipped])
        #expect(try apply(.retry) == ["a", "c"])
        #expect(try fixture.states() == ["a": .queued, "b": .done, "c": .blocked])
        #expect(try fixture.store.failures(batch: "b", limit: 9).isEmpty)
        #expect(try fixture.store.ends(after: 0, limit: 9).compactMap(\.end?.job) == ["b"])
        #expect(try fixture.claimAll(1).map(\.attempts) == [0])
    }

    @Test func whetherAJobHadFailedIsKnown() throws {
        func hadFailed(_ job: String?) throws -> Bool {
            try fixture.store.apply(QueueCommand(id: 1, verb: .retry, batch: 1, job: job)).hadFailed
        }
        #expect(try hadFailed("a") == false)
        #expect(try hadFailed(nil), "nobody looks at each of them")
        let records = try fixture.claimAll(1)
        #expect(try hadFailed("a") == false, "it is under way for the first time")
        try fixture.fail(records[0])
        try fixture.succeed(records[1])
        #expect(try hadFailed("c"), "it was skipped, as what it needs failed")
        #expect(try hadFailed("a"))
        #expect(try hadFailed("a") == false, "it has had its fresh start")
        #expect(try hadFailed("b") == false)
    }

    @Test func statusCountsEachState() throws {
        let records = try fixture.claimAll(1)
        try fixture.fail(records[0])
        let status = try #require(try fixture.store.statuses(name: "b").first)
        #expect(status.total == 3 && status.failed == 1 && status.skipped == 1 && status.remaining == 1)
        #expect(status.pid == ProcessIdentity.current.pid)
        #expect(try fixture.store.statuses(name: "nope").isEmpty)
    }

    @Test func aBatchThatRunsIsNeverForgotten() throws {
        #expect(try fixture.store.forget(name: "b", endedBefore: nil).isEmpty)
        _ = try fixture.store.release(batch: 1, isComplete: false)
        #expect(try fixture.store.forget(name: "b", endedBefore: nil) == ["b"])
        for table in ["batch", "job", "need"] { #expect(try fixture.raw.value("SELECT count(*) FROM \(table)") == "0") }
    }

    @Test func pruningForgetsOldBatchesThatEnded() throws {
        let later = Int64(1) << 60
        _ = try fixture.store.release(batch: 1, isComplete: false)
        #expect(try fixture.store.forget(name: nil, endedBefore: later).isEmpty, "it has not ended")
        _ = try apply(.cancel)
        #expect(try fixture.store.forget(name: nil, endedBefore: 1).isEmpty, "it is not old")
        #expect(try fixture.store.forget(name: nil, endedBefore: later) == ["b"])
    }

    @Test func cursorsContinueAfterABatchWasForgotten() throws {
        for record in try fixture.claimAll(1) { try fixture.succeed(record) }
        let last = try fixture.store.lastCursor()
        _ = try fixture.store.release(batch: 1, isComplete: false)
        _ = try fixture.store.forget(name: "b", endedBefore: nil)
        #expect(try fixture.store.lastCursor() == last)
    }

    @Test func aSubmittedJobIsTakenOnce() throws {
        let job = Sample.download("http://h.example/x", to: "a")
        #expect(try fixture.store.submit(job, batch: "b", directory: "/").count == 0)
        #expect(try fixture.states().count == 3)
        let other = Sample.download("http://h.example/other", to: "a")
        #expect { try fixture.store.submit(other, batch: "b", directory: "/") } throws: {
            ($0 as? TransferError)?.code == .fileExists
        }
    }
}
