import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// Long locks on rows of the queue, as by a process that submits a large file again.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct RowLockTests: SharedQueueTests {
    let address: PostgresAddress

    init() async throws { address = try await Self.newQueue() }

    /// Begins a transaction of a second process, and leaves it open.
    private func holding(_ sql: String) throws -> PostgresConnection {
        let db = try PostgresConnection(address)
        try db.begin(address, as: .owner)
        try db.script("BEGIN; SET LOCAL lock_timeout = '10s'; \(sql)")
        return db
    }

    /// A second transaction locks the rows of a lost process that have to be taken over. Neither a new worker nor a
    /// living one waits for it.
    @Test func aLeaseIsGivenAndRenewedWhileTheJobsOfALostProcessAreLocked() throws {
        let batch = try bring(jobs)
        let (lost, living) = (try worker(), try worker())
        #expect(try lost.claimAll(batch).count == 4)
        let locked = try holding(
            """
            UPDATE process SET until = 0 WHERE generation = \(lost.database.process); COMMIT;
            BEGIN; SELECT FROM job FOR UPDATE
            """)
        let begun = MonotonicTime.now
        let lease = try living.renew()
        let new = try worker()
        #expect(MonotonicTime.now - begun < .seconds(20), "jobs stay locked for longer, and nobody waits for them")
        #expect(lease.until > begun + .seconds(20))
        #expect(try new.counts(batch) == [.claimed: 4])
        try locked.script("ROLLBACK")
        _ = try living.renew()
        #expect(try new.counts(batch) == [.queued: 4])
    }

    /// A process that cancels a batch locks its jobs before it takes numbers for their ends.
    @Test func anEndThatWaitsForItsJobsRowHasNoNumberYet() async throws {
        let batch = try bring(jobs)
        let one = try worker()
        let claimed = try #require(one.claimAll(batch).first)
        let steering = try holding("SELECT FROM job WHERE id = \(claimed.id) FOR UPDATE")
        let (recorder, recorded) = (WorkerPool(name: "recorder", threads: 1), AwaitedState<RecordedGroup?>(nil))
        defer { recorder.stop() }
        recorder.execute {
            let group = try? one.succeed(claimed)
            recorded.change { $0 = group }
        }
        try await untilWaiting()
        try steering.script("UPDATE counter SET value = value + 5 WHERE name = 'end'; COMMIT")
        await recorded.wait { $0 != nil }
        #expect(recorded.state?.cursors == [6])
    }

    /// Returns once a statement waits for a lock.
    private func untilWaiting() async throws {
        let question = PostgresStatement(
            direct: "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database"
                + " WHERE datname = current_database()) OR NOT granted AND database IS NULL)")
        let looker = try PostgresStore(address, .onlooker)
        for _ in 0..<2000 where try looker.database.read({ try $0.run(question).first?.flag(0) }) == true { return }
        throw TestSupportError("nothing waits for a lock")
    }

    // MARK: Dependents

    /// The jobs are a chain, a job that needs two of the cancelled ones, and one that is cancelled itself.
    @Test func dependentsOfACancelledJobAreSkippedAtOnce() throws {
        func job(_ id: String, needs: String...) -> JobSpec {
            var spec = Sample.download("http://h.example/", to: id, id: id)
            spec.needs = needs
            return spec
        }
        let chain = (1..<40).map { job("c\($0)", needs: "c\($0 - 1)") }
        let batch = try bring([job("c0")] + chain + [job("both", needs: "c0", "c5"), job("free")])
        let looker = try PostgresStore(address, .onlooker)
        #expect(try looker.deliver(.cancel, batch: "b", job: "c0") == .applied(jobs: 1))
        #expect(try looker.counts(batch) == [.cancelled: 1, .skipped: 40, .queued: 1])
        let ends = try looker.ends(after: 0, limit: 99)
        #expect(ends.map(\.cursor) == (1...41).map(Optional.some), "each has a number of its own")
        #expect(looker.names(ends).first == "cancelled c0" && looker.names(ends).contains("skipped both for c0"))
    }
}
