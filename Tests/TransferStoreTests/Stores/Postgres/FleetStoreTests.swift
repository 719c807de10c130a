import FoundationEssentials
import Synchronization
import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferScheduling
@testable import TransferStore
@testable import TransferStorePostgres

/// The guarantees of the store for several workers, apart from those of every store.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct FleetStoreTests {
    let address: PostgresAddress

    init() async throws {
        let queue = UUID().uuidString.lowercased().replacing("-", with: "")
        address = try PostgresAddress(await PostgresServer.shared.url(queue: queue))
    }

    private func worker(term: Duration = .seconds(30)) throws -> PostgresStore {
        var worker = PostgresWorker()
        worker.term = term
        worker.folder = "/srv/files"
        return try PostgresStore(address, .worker(worker))
    }

    private let jobs = (0..<3).map { Sample.download("http://h.example/", to: "\($0)", id: "\($0)") }

    // MARK: Transactions

    @Test func aTransactionWhoseEndIsUnknownIsLookedUp() throws {
        let store = try worker()
        func isCommitted(_ number: String) throws -> Bool {
            try store.database.read { db in
                try PostgresTransaction.Unsettled(
                    number: number, timeline: db.timeline, outcome: PostgresOutcome(1)
                ).isCommitted(db)
            }
        }
        let db = try PostgresConnection(address)
        let begin = "BEGIN; SELECT pg_current_xact_id()"
        let kept = try #require(db.script(begin).first?.text(0))
        let error = #expect(throws: TransferError.self) { try isCommitted(kept) }
        #expect(error?.isTransient == true, "it is under way")
        try db.script("COMMIT")
        #expect(try isCommitted(kept))
        let dropped = try #require(db.script(begin).first?.text(0))
        try db.script("ROLLBACK")
        #expect(try !isCommitted(dropped))
    }

    @Test func aLostLeaseEndsTheWaitForADatabaseThatIsAway() {
        let lease = PostgresLeaseEnd()
        let patience = PostgresRetries(.worker(PostgresWorker()), lease)
        lease.renewed(until: .now + .seconds(30))
        lease.lost()
        #expect(throws: LeaseLost.self) { try patience.wait(after: LeaseLost(), attempts: 2) { _ in nil } }
    }

    // MARK: Bounds

    @Test func workersTogetherKeepTheConfiguredLimitOfAnOrigin() throws {
        let workers = try (0..<2).map { _ in try worker() }
        func share(_ worker: Int, held: Int, wanted: Int, at origin: String = "http://h.example") throws -> Int? {
            let use = SharedPermits.Use(held: held, wanted: wanted)
            let ask = SharedPermits.Ask(origin: origin, places: .exactly(4), use: use)
            return try workers[worker].sharedRules?.sharePlaces([ask]).first?.count
        }
        #expect(try share(0, held: 0, wanted: 3) == 3)
        #expect(try share(1, held: 0, wanted: 3) == 1)
        #expect(try share(1, held: 0, wanted: 3, at: "http://other.example") == 3)
        #expect(try share(0, held: 3, wanted: 3) == 2, "the other one has less than its share")
        #expect(try share(1, held: 1, wanted: 3) == 1, "three are under way still")
        #expect(try share(0, held: 2, wanted: 3) == 2)
        #expect(try share(1, held: 1, wanted: 3) == 2)
        #expect(try share(0, held: 0, wanted: 0) == 0)
        #expect(try share(1, held: 2, wanted: 9) == 4)
    }

    @Test func placesOfAWorkerThatIsGoneAreFree() throws {
        let ask = SharedPermits.Ask(
            origin: "http://h.example", places: .exactly(2), use: SharedPermits.Use(held: 0, wanted: 2))
        let (gone, other) = (try worker(), try worker())
        #expect(try gone.rules.sharePlaces([ask])[0].count == 2)
        #expect(try other.rules.sharePlaces([ask])[0].count == 0)
        let end = PostgresStatement(direct: "UPDATE process SET until = 0 WHERE generation = $1")
        let process = gone.database.process
        try worker().database.write { db in _ = try db.run(end, [process]) }
        #expect(try other.rules.sharePlaces([ask])[0].count == 2)
    }

    @Test func workersFindTogetherHowManyJobsAnOriginIsWorth() throws {
        let workers = try (0..<2).map { _ in try worker() }
        func share(_ worker: Int, held: Int, refusals: Int = 0) throws -> Int {
            var seen = OriginObservations()
            for _ in 0..<refusals { seen.refused(OriginObservations.Refusal(.answer, since: .now)) }
            let ask = SharedPermits.Ask(
                origin: "ftp://h.example", places: .automatic, use: SharedPermits.Use(held: held, wanted: 20),
                seen: seen)
            return try workers[worker].rules.sharePlaces([ask])[0].count
        }
        #expect(try share(0, held: 0) == ConcurrencyProbe.firstOfFiles)
        #expect(try share(1, held: 0) == 0)
        #expect(try share(0, held: 8) == 4)
        #expect(try share(0, held: 4) == 4)
        #expect(try share(1, held: 0) == 4)
        #expect(try share(1, held: 4, refusals: 2) == 0, "there are four places now, and eight under way")
        #expect(try share(0, held: 4) == 0)
        #expect(try share(0, held: 1) == 0 && share(1, held: 1) == 2)
        #expect(try share(0, held: 1) == 2)
    }

    @Test func noTwoWorkersGetTheSameTimeForAStart() throws {
        let workers = try (0..<2).map { _ in try worker() }
        let ask = SharedRateTokens.Ask(origin: "http://h.example", perSecond: 10, count: 5)
        let given = try (0..<6).map { try #require(workers[$0 % 2].sharedRules?.reserveStarts([ask]).first) }
        for (one, next) in zip(given, given.dropFirst()) {
            let gap = next.first - one.first
            #expect(gap > .milliseconds(500) && gap < .milliseconds(700), "\(gap)")
        }
        let other = SharedRateTokens.Ask(origin: "http://other.example", perSecond: 10, count: 1)
        #expect(try workers[0].rules.reserveStarts([other])[0].first <= .now + .milliseconds(1))
        #expect(try PostgresStore(address).sharedRules == nil, "a process that has batches for itself")
    }

    @Test func theLongerPauseOfAnOriginHolds() throws {
        let store = try worker()
        for seconds in [9, 3] {
            try store.publish(
                .pause(
                    StoredPause(
                        origin: "http://h.example", remaining: .seconds(seconds), status: 429, message: "busy")))
        }
        #expect(try store.pauses().map { $0.remaining > .seconds(8) } == [true])
    }

    // MARK: Notifications

    @Test func workersAreNotifiedOfJobsCommandsAndTheEndOfTheirLease() async throws {
        let (one, submitter) = (try worker(term: .seconds(3)), try PostgresStore(address, .submitter))
        let heard = AwaitedState<[String]>([])
        one.follow { news in
            heard.change { heard in
                switch news {
                case .changed: heard.append("changed")
                case .commanded: heard.append("commanded")
                case .revoked: heard.append("recalled")
                case .paused: heard.append("paused")
                case .unpaused: heard.append("unpaused")
                case .watched: heard.append("watched")
                case .leaseIsOver: heard.append("over")
                }
            }
        }
        await heard.wait { $0 == ["changed", "commanded", "recalled"] }
        let batch = try submitter.stage(jobs).batch.id
        _ = try submitter.release(batch: batch, isComplete: false)
        await heard.wait { $0 == ["changed", "commanded", "recalled", "changed"] }
        try submitter.publish(
            .pause(StoredPause(origin: "http://h.example", remaining: .seconds(9), status: 429, message: "busy")))
        await heard.wait { $0.last == "paused" }
        try submitter.publish(.noPauses)
        await heard.wait { $0.last == "unpaused" }
        let claimed = try #require(one.claimAll(batch, limit: 1).first)
        #expect(try submitter.revoke([claimed.id]) == 1)
        await heard.wait { $0.last == "recalled" }
        #expect(try one.pauses().isEmpty)
        _ = try one.claimAll(batch, limit: 1)
        _ = try PostgresStore(address, .onlooker).deliver(.pause, batch: "b", job: nil)
        // Jobs that were paused at once are reported in the same transaction, before or after the command.
        await heard.wait { $0.suffix(2).contains("commanded") }
        try one.database.write { db in
            _ = try db.run(
                PostgresStatement(direct: "DELETE FROM process WHERE generation = $1"), [one.database.process])
        }
        await heard.wait { $0.last == "over" }
        #expect(throws: LeaseLost.self) { try one.release([1]) }
    }

    // MARK: Observers

    @Test func workersReportTransfersToAnObserver() async throws {
        let (one, looker) = (try worker(), try PostgresStore(address, .onlooker))
        let heard = AwaitedState(0)
        one.follow { if case .watched = $0 { heard.change { $0 += 1 } } else { heard.change { $0 += 10 } } }
        await heard.wait { $0 == 20 }
        let batch = try PostgresStore(address, .submitter).stageAndLeave(jobs)
        let claimed = try one.claimAll(batch)
        #expect(try looker.jobsUnderWay(limit: 9).isEmpty)
        await heard.wait { $0 % 10 == 1 }
        func tell(_ rows: [RunProgress.Row]) throws {
            var word = RunProgress(
                batch: batch, totals: BatchTotals(), rate: 7, eta: nil, active: 2, underWay: claimed.map(\.id),
                waitingFor: nil)
            word.rows = rows
            try one.publish(.progress(word))
        }
        var copy = JobProgress(completed: 5, total: nil, rate: 0, phase: .connecting)
        copy.isCopy = true
        let large = JobProgress(completed: 40, total: 900, rate: 7, phase: .verifying)
        try tell([.init(id: claimed[0].id, progress: copy), .init(id: claimed[1].id, progress: large)])
        let reported = try looker.jobsUnderWay(limit: 9)
        #expect(reported.map(\.job) == ["1", "0"] && reported.allSatisfy { $0.batch == "b" && !$0.isUpload })
        #expect(reported.map(\.progress.completed) == [40, 5] && reported.map(\.progress.total) == [900, nil])
        #expect(
            reported.map(\.progress.phase) == [.verifying, .connecting]
                && reported.map(\.progress.isCopy) == [false, true])
        #expect(reported.allSatisfy { $0.progress.worker == MachineName.current })
        #expect(try looker.statuses(name: "b").first?.active == 2)
        // A job that has ended is not under way, whatever was reported before.
        try one.succeed(claimed[1])
        #expect(try looker.jobsUnderWay(limit: 9).map(\.job) == ["0"])
        try tell([])
        #expect(try looker.jobsUnderWay(limit: 9).isEmpty)
    }

    @Test func anOnlookerSeesBatchesJobsAndWorkersAndHoldsNothing() throws {
        let (one, other) = (try worker(), try worker())
        let batch = try PostgresStore(address, .submitter).stageAndLeave(jobs)
        _ = try one.claimAll(batch, limit: 1)
        try one.publish(
            .progress(
                RunProgress(
                    batch: batch, totals: BatchTotals(), rate: 1000, eta: 30, active: 1, underWay: [1], waitingFor: nil)
            ))
        try other.publish(
            .progress(
                RunProgress(
                    batch: batch, totals: BatchTotals(), rate: 500, eta: 30, active: 2, underWay: [], waitingFor: "x")))
        let looker = try PostgresStore(address, .onlooker)
        #expect(looker.database.process == 0)
        let status = try #require(looker.statuses(name: "b").first)
        #expect(status.total == 3 && status.remaining == 3 && status.rate == 1500 && status.eta == .seconds(15))
        #expect(status.waitingFor == nil, "one of both goes on")
        let workers = try looker.workers()
        #expect(workers.map(\.rate) == [1000, 500] && workers.map(\.claimed) == [1, 0])
        #expect(workers.allSatisfy { $0.lease > .seconds(20) })
        let list = try looker.jobs(batch: "b", after: 0, failed: false, limit: 9)
        #expect(list.map(\.state) == [.claimed, .queued, .queued])
        #expect(try looker.facts(batch: "b", job: "0")?.run?.isUnderWay == true)
        #expect(try looker.facts(batch: "b", job: "1")?.run?.isUnderWay == false)
        #expect(try looker.facts(batch: "b", job: "9") == nil)
        #expect(throws: LeaseLost.self) { try looker.release([1]) }
    }

    @Test func aWorkerHasItsOwnFolderAndASubmitterBringsNoSecret() throws {
        let submitter = try PostgresStore(address, .submitter)
        _ = try submitter.stageAndLeave(jobs)
        #expect(try worker().hold(.unfinished).map(\.directory) == ["/srv/files"])
        let secret = Sample.download("https://h.example/x?X-Amz-Signature=abc&X-Amz-Credential=k", to: "x")
        let failure = #expect(throws: StagingFailure.self) { try submitter.stage([secret], "secret") }
        guard case .faults(let report)? = failure else {
            Issue.record("it was taken")
            return
        }
        #expect(report.faults.first?.message.contains("hold a secret") == true)
        #expect(report.faults.first?.message.contains("abc") == false)
    }
}

extension PostgresStore {
    /// Stages a batch and leaves it to the workers.
    fileprivate func stageAndLeave(_ jobs: [JobSpec]) throws -> Int64 {
        let batch = try stage(jobs).batch.id
        _ = try release(batch: batch, isComplete: false)
        return batch
    }
}
