import Testing
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// Jobs that are staged as others while a worker has them claimed.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct RecallTests: SharedQueueTests {
    let address: PostgresAddress

    init() async throws { address = try await Self.newQueue() }

    private func job(_ url: String) -> JobSpec { Sample.download("http://h.example/\(url)", to: "a", id: "a") }

    /// Stages the job by a process that brings jobs.
    private func stage(_ store: PostgresStore, _ jobs: [JobSpec], _ options: StagingOptions) throws -> StagedJobs {
        let staged = try store.stage(BatchHeader(name: "b", directory: "/"), options) { intake in
            for job in jobs { try intake.add(job, at: nil) }
            return true
        }
        if staged.underWay.isEmpty { _ = try store.letGo(batch: staged.batch.id, isComplete: false) }
        return staged
    }

    @Test(arguments: [false, true]) func aRecalledJobBeginsAnewAsWhatItIsNow(isReload: Bool) throws {
        let batch = try bring([job("1")])
        let one = try worker()
        let claimed = try #require(one.claimAll(batch).first)
        let store = try PostgresStore(address, .submitter)
        var options = StagingOptions(isReload: isReload)
        #expect(try stage(store, [job("2")], options).underWay == [claimed.id])
        #expect(try store.recall([claimed.id]) == 1)
        #expect(try store.recall([claimed.id]) == 1)
        let asked = try one.takeCommands()
        #expect(asked.map(\.verb) == [.pause] && asked.map(\.job) == ["a"], "asked once")
        try one.release([claimed.id])
        #expect(try store.recall([claimed.id]) == 0)
        options.recalled = [claimed.id]
        #expect(try stage(store, [job("2")], options).underWay.isEmpty)
        #expect(try one.counts(batch) == [.queued: 1])
        #expect(try one.claimAll(batch).first?.spec.urls == ["http://h.example/2"])
    }

    @Test func aJobThatSomebodyHeldStaysHeldWhereTheBatchGoesOn() throws {
        let batch = try bring([job("1")])
        let one = try worker()
        _ = try PostgresStore(address, .onlooker).deliver(.pause, batch: "b", job: nil)
        let store = try PostgresStore(address, .submitter)
        #expect(try stage(store, [job("2")], StagingOptions(isReload: true)).underWay.isEmpty)
        #expect(try one.counts(batch) == [.paused: 1])
    }

    @Test func aJobThatAWorkerHasIsRecalledBeforeItGoes() throws {
        let batch = try bring([job("1")])
        let one = try worker()
        let claimed = try #require(one.claimAll(batch).first)
        let store = try PostgresStore(address, .submitter)
        #expect(try stage(store, [], StagingOptions()).underWay == [claimed.id])
        #expect(try one.counts(batch) == [.claimed: 1])
        #expect(try store.recall([claimed.id]) == 1)
        try one.release([claimed.id])
        #expect(try stage(store, [], StagingOptions()).underWay.isEmpty)
        #expect(try one.counts(batch) == [:])
    }

    @Test func theJobsOfALostWorkerAreFreeOnceItsLeaseIsOver() throws {
        let batch = try bring([job("1")])
        let one = try worker()
        let claimed = try #require(one.claimAll(batch).first)
        let store = try PostgresStore(address, .submitter)
        #expect(try store.recall([claimed.id]) == 1)
        try lose(one, to: worker())
        #expect(try store.recall([claimed.id]) == 0)
    }
}
