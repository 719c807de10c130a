import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// The ways in which a worker releases unfinished jobs. A command that was sent before the worker received it takes
/// effect for each of them.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1)))
struct PendingCommandReleaseTests: SharedQueueTests {
    let address: PostgresAddress

    init() async throws { address = try await Self.newQueue() }

    enum Way: CaseIterable {
        /// The job is given back unstarted.
        case release
        /// The job is postponed until its next attempt, or until the network is back.
        case wait
        /// The job returns to the queue after an attempt.
        case nextAttempt
        /// The job is given back by a worker that ends.
        case end
        /// The job is given back by a worker that ends while the database is away for a while.
        case hurriedEnd
        /// The worker's lease is over.
        case loss
    }

    private func leave(_ worker: PostgresStore, _ claimed: [JobRecord], by way: Way) throws {
        func step(_ state: JobState) throws {
            let steps = claimed.map { job in
                JobStep(
                    id: job.id, state: state, attempts: 1, mirror: 0, spentMirrors: 0,
                    due: state == .waiting ? .now + .seconds(60) : nil, origin: "http://h.example", batch: job.batch,
                    identity: job.identity)
            }
            _ = try worker.record([], steps)
        }
        switch way {
        case .release: try worker.release(claimed.map(\.id))
        case .wait: try step(.waiting)
        case .nextAttempt: try step(.queued)
        case .end: try worker.retire()
        case .hurriedEnd:
            worker.cancelWaits()
            try worker.retire()
        case .loss: try worker.endLease(by: self.worker().database)
        }
    }

    @Test(arguments: Way.allCases) func aCommandHoldsForEveryReleaseOfItsJob(_ way: Way) throws {
        let dependent = Sample.download("http://h.example/x", to: "x", id: "x", needs: ["0"])
        let batch = try bring(jobs + [dependent])
        let one = try worker()
        let claimed = try one.claimAll(batch)
        #expect(claimed.count == 4)
        let looker = try PostgresStore(address, .onlooker)
        for (verb, job) in [(QueueVerb.pause, "0"), (.cancel, "0"), (.pause, "1"), (.pause, "2"), (.resume, "2")] {
            guard case .handed = try looker.deliver(verb, batch: "b", job: job) else {
                Issue.record("nobody was asked to \(verb)")
                continue
            }
        }
        try leave(one, claimed, by: way)
        let rest: JobState = way == .wait ? .waiting : .queued
        let list = try looker.jobs(batch: "b", after: 0, failed: false, limit: 9)
        #expect(list.map(\.state) == [.cancelled, .paused, rest, rest, .skipped])
        let ends = try looker.ends(after: 0, limit: 9)
        #expect(looker.names(ends) == ["cancelled 0", "skipped x for 0"])
        // The commands arrive late.
        guard ![.end, .hurriedEnd, .loss].contains(way) else { return }
        for command in try one.takeCommands() { _ = try one.apply(command) }
        let late = try looker.jobs(batch: "b", after: 0, failed: false, limit: 9)
        #expect(late.map(\.state) == [.cancelled, .paused, .queued, rest, .skipped])
    }

    @Test func aCommandCallsTheHookOfTheJob() throws {
        var spec = jobs[0]
        spec.settings.onFinish = .command("tell")
        // A process that submits jobs for other processes submits none with a hook.
        let owner = try PostgresStore(address)
        let batch = try owner.stage([spec]).batch.id
        _ = try owner.release(batch: batch, isComplete: false)
        let one = try worker()
        let claimed = try #require(one.claimAll(batch).first)
        _ = try PostgresStore(address, .onlooker).deliver(.cancel, batch: "b", job: nil)
        let step = JobStep(
            id: claimed.id, state: .queued, attempts: 1, mirror: 0, spentMirrors: 0, origin: "http://h.example",
            batch: batch, identity: "0")
        #expect(try one.record([], [step]).hooked == [batch])
        #expect(try one.takeHookCalls(batch: batch, revivesFailed: false, limit: 9).count == 1)
    }

    /// The commanding process finds the job claimed, and the job is given back before the command is stored.
    @Test(arguments: [QueueVerb.pause, .cancel])
    func aCommandDuringTheReturnOfAJobHolds(_ verb: QueueVerb) async throws {
        let batch = try bring([jobs[0]])
        let one = try worker()
        #expect(try one.claimAll(batch).count == 1)
        let giving = try PostgresConnection(address)
        try giving.begin(address, as: .owner)
        try giving.script("BEGIN; UPDATE job SET state = \(JobStates.queued), owner = NULL")
        let looker = try PostgresStore(address, .onlooker)
        // The commanding process waits in a thread of its own.
        let (asking, asked) = (WorkerPool(name: "asking", threads: 1), AwaitedState<CommandDelivery?>(nil))
        defer { asking.stop() }
        asking.execute { asked.change { $0 = try? looker.deliver(verb, batch: "b", job: nil) } }
        try giving.script(
            """
            DO $$ BEGIN
                WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))) LOOP
                    -- The database tells nobody that a session waits for another one: it is looked at.
                    PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
                END LOOP;
            END $$;
            COMMIT
            """)
        await asked.wait { $0 != nil }
        #expect(asked.state == .applied(jobs: 1))
        #expect(try looker.counts(batch) == [verb == .pause ? .paused : .cancelled: 1])
    }

    /// A process that submits jobs holds their batch until it leaves it to the workers, and receives no commands.
    @Test(arguments: [true, false]) func aCommandDuringTheSubmissionOfABatchHolds(_ isLost: Bool) throws {
        let submitter = try PostgresStore(address, .submitter)
        let batch = try submitter.stage(jobs).batch.id
        let looker = try PostgresStore(address, .onlooker)
        for (verb, job) in [(QueueVerb.pause, nil as String?), (.cancel, "2")] {
            guard case .handed = try looker.deliver(verb, batch: "b", job: job) else {
                Issue.record("nobody was asked to \(verb)")
                continue
            }
        }
        if isLost {
            try submitter.endLease(by: worker().database)
        } else {
            _ = try submitter.release(batch: batch, isComplete: false)
        }
        #expect(try looker.counts(batch) == [.paused: 3, .cancelled: 1])
    }

    /// A new statement of that kind has to be a departure.
    @Test func everyStatementByWhichAJobLeavesItsWorkerEndsItOrIsADeparture() {
        let leaving = PostgresStatements.all.filter { statement in
            ["owner = NULL", "owner = CASE"].contains(where: statement.sql.contains)
                && statement.sql.contains("UPDATE job ")
        }
        let ends = [
            "doubt_jobs", "record_cancellation", "record_changed_source", "record_completion", "record_failure",
            "record_kept",
        ]
        #expect(leaving.compactMap(\.name).sorted() == (ends + Self.departures).sorted())
        let others = leaving.filter { !ends.contains($0.name ?? "") }
        #expect(others.allSatisfy { $0.sql.contains("FROM gone WHERE asked = 'cancel'") })
    }

    private static let departures = ["record_step", "recover_jobs", "release_jobs", "return_jobs"]
}
