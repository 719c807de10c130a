import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// Jobs that are staged with changes while a worker has them claimed.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct ClaimRevocationTests: SharedQueueTests {
    let address: PostgresAddress

    init() async throws { address = try await Self.newQueue() }

    private func job(_ url: String) -> JobSpec { Sample.download("http://h.example/\(url)", to: "a", id: "a") }

    /// Stages the job from a process that submits jobs.
    private func stage(_ store: PostgresStore, _ jobs: [JobSpec], _ options: StagingOptions) throws -> StagedJobs {
        let staged = try store.stage(BatchHeader(name: "b", directory: "/"), options) { intake in
            for job in jobs { try intake.add(job, at: nil) }
            return true
        }
        if staged.underWay.isEmpty { _ = try store.release(batch: staged.batch.id, isComplete: false) }
        return staged
    }

    /// Gives the recalled job back: it waits for a minute, if no new staging follows.
    private func takeBack(_ worker: PostgresStore, _ record: JobRecord) throws {
        try worker.step(record, to: .waiting, due: MonotonicTime.now + .seconds(60))
    }

    @Test(arguments: [false, true]) func aRecalledJobBeginsAnewWithItsChange(isReload: Bool) throws {
        let batch = try bring([job("1")])
        let (one, other) = (try worker(), try worker())
        let claimed = try #require(one.claimAll(batch).first)
        let store = try PostgresStore(address, .submitter)
        let options = StagingOptions(isReload: isReload)
        #expect(try stage(store, [job("2")], options).underWay == [claimed.id])
        #expect(try one.revoked().isEmpty)
        #expect(try store.revoke([claimed.id]) == 1)
        #expect(try one.revoked() == [claimed.id])
        #expect(try other.revoked().isEmpty)
        try takeBack(one, claimed)
        #expect(try store.revoke([claimed.id]) == 0)
        #expect(try one.revoked().isEmpty)
        #expect(try stage(store, [job("2")], options).underWay.isEmpty)
        #expect(try other.claimAll(batch).first?.spec.urls == ["http://h.example/2"])
        #expect(try other.revoked().isEmpty, "the new claim is not asked for")
    }

    /// The process that recalled the job is gone, or the file was changed back: the job continues unchanged.
    @Test func aRecallWithoutAChangeLeavesTheJobUnchanged() throws {
        let batch = try bring([job("1")])
        let (one, other) = (try worker(), try worker())
        let claimed = try #require(one.claimAll(batch).first)
        #expect(try PostgresStore(address, .submitter).revoke([claimed.id]) == 1)
        try takeBack(one, claimed)
        #expect(try other.wake([claimed.id]).count == 1)
        #expect(try other.claimAll(batch).first?.spec.urls == ["http://h.example/1"])
    }

    @Test func aPauseSentToTheWorkerHolds() throws {
        let batch = try bring([job("1")])
        let one = try worker()
        let claimed = try #require(one.claimAll(batch).first)
        _ = try PostgresStore(address, .onlooker).deliver(.pause, batch: "b", job: "a")
        let store = try PostgresStore(address, .submitter)
        #expect(try store.revoke([claimed.id]) == 1)
        #expect(try one.revoked().isEmpty, "the pause takes it back")
        try one.release([claimed.id])
        #expect(try stage(store, [job("2")], StagingOptions(isReload: true)).underWay.isEmpty)
        #expect(try one.counts(batch) == [.paused: 1])
    }

    @Test func aHeldJobStaysHeldWhenTheBatchContinues() throws {
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
        #expect(try store.revoke([claimed.id]) == 1)
        try one.release([claimed.id])
        #expect(try stage(store, [], StagingOptions()).underWay.isEmpty)
        #expect(try one.counts(batch) == [:])
    }

    /// The staging process waits for a worker's uncommitted claim, and the claim counts.
    @Test func aJobThatIsClaimedWhileItIsStagedAnewIsUnderWay() async throws {
        let batch = try bring([job("1")])
        let (one, store) = (try worker(), try PostgresStore(address, .submitter))
        let (thread, staged) = (WorkerPool(name: "staging", threads: 1), AwaitedState<Set<Int64>?>(nil))
        try one.database.write { db in
            _ = try db.run(
                PostgresStatement(direct: "UPDATE job SET state = \(JobStates.claimed), owner = $1"),
                [one.database.process])
            thread.execute {
                let jobs = try? stage(store, [job("2")], StagingOptions()).underWay
                staged.change { $0 = jobs ?? [] }
            }
            let isWaitedFor = PostgresStatement(
                direct:
                    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid)))")
            while try db.run(isWaitedFor).first?.flag(0) != true {}
        }
        await staged.wait { $0 != nil }
        #expect(staged.state?.count == 1)
        #expect(try one.counts(batch) == [.claimed: 1])
        thread.stop()
    }

    @Test func theJobsOfALostWorkerAreFreeOnceItsLeaseIsOver() throws {
        let batch = try bring([job("1")])
        let one = try worker()
        let claimed = try #require(one.claimAll(batch).first)
        let store = try PostgresStore(address, .submitter)
        #expect(try store.revoke([claimed.id]) == 1)
        try one.endLease(by: worker().database)
        #expect(try store.revoke([claimed.id]) == 0)
    }
}
