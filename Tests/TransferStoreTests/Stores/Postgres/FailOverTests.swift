import Foundation
import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// Workers whose database fails permanently, and whose standby takes its place.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FailOverTests {
    /// A queue with four jobs on a server and a standby that follows it, and a worker with the addresses of both.
    private struct Bench {
        let primary: PostgresServer
        let standby: PostgresServer
        let relay: LosingRelay
        let worker: PostgresStore
        let batch: Int64
        private let queue = UUID().uuidString.lowercased().replacing("-", with: "")

        var lane: Lane { Lane(batch: batch, origin: "http://h.example") }

        init(_ primary: PostgresServer, _ standby: PostgresServer, isSynchronous: Bool) async throws {
            (self.primary, self.standby) = (primary, standby)
            relay = try LosingRelay(to: primary)
            let submitter = try PostgresStore(PostgresAddress(primary.url(queue: queue)), .submitter)
            let jobs = (0..<4).map { Sample.download("http://h.example/", to: "\($0)", id: "\($0)") }
            batch = try submitter.stage(jobs).batch.id
            _ = try submitter.release(batch: batch, isComplete: false)
            if isSynchronous {
                try await primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
                try await primary.ask("SELECT pg_reload_conf()")
                try await Bench.wait("*", primary, "SHOW synchronous_standby_names")
                try await Bench.wait("sync", primary, "SELECT sync_state FROM pg_stat_replication")
            }
            let place = standby.url(queue: queue).dropFirst("postgres://transfer@".count)
            let (host, rest) = (place.prefix { $0 != "/" }, place.drop { $0 != "/" })
            worker = try PostgresStore(
                PostgresAddress(
                    "postgres://transfer@127.0.0.1:\(relay.port),\(host)\(rest)&sslmode=disable&target_session_attrs=read-write"
                ), .worker(PostgresWorker()))
        }

        /// Opens a worker that connects after the standby has taken the server's place.
        func another() throws -> PostgresStore {
            try PostgresStore(PostgresAddress(standby.url(queue: queue)), .worker(PostgresWorker()))
        }

        func failOver() async throws {
            relay.shut()
            try await primary.kill()
            try await standby.ask("SELECT pg_promote()")
        }

        /// Cuts the standby off from further changes.
        func cutOff() async throws {
            try await standby.ask("ALTER SYSTEM SET primary_conninfo = ''")
            try await standby.ask("SELECT pg_reload_conf()")
            try await Bench.wait("0", primary, "SELECT count(*) FROM pg_stat_replication")
        }

        /// Waits until the standby has all changes of the server.
        func follow() async throws {
            let end = try await primary.ask("SELECT pg_current_wal_insert_lsn()")
            try await Bench.wait("t", standby, "SELECT pg_last_wal_replay_lsn() >= '\(end)'")
        }

        private static func wait(_ answer: String, _ server: PostgresServer, _ question: String) async throws {
            for _ in 0..<2000 where try await server.ask(question) == answer { return }
            throw TestSupportError("\(question) is not \(answer)")
        }
    }

    private func with(isSynchronous: Bool, _ body: (Bench) async throws -> Void) async throws {
        let primary = try await PostgresServer.start()
        let standby: PostgresServer
        do {
            standby = try await primary.startStandby()
        } catch {
            await primary.stop()
            throw error
        }
        let failure: (any Error)?
        do {
            try await body(try await Bench(primary, standby, isSynchronous: isSynchronous))
            failure = nil
        } catch {
            failure = error
        }
        await standby.stop()
        await primary.stop()
        if let failure { throw failure }
    }

    // MARK: Without loss

    @Test func aWorkerContinuesItsClaimsWhenTheStandbyHasThem() async throws {
        try await with(isSynchronous: true) { bench in
            let (worker, lane) = (bench.worker, bench.lane)
            let own = try worker.claim(lane, limit: 2, secrets: [:]).jobs.map(\.record)
            try await bench.failOver()
            let other = try bench.another()
            #expect(other.database.process >> 40 == 2 && worker.database.process >> 40 == 1)
            #expect(try other.claim(lane, limit: 9, secrets: [:]).jobs.map(\.record.identity) == ["2", "3"])
            try worker.succeed(own[0])
            #expect(try other.counts(bench.batch) == [.done: 1, .claimed: 3])
            #expect(try worker.renew().generation == worker.database.process)
            try worker.release([own[1].id])
            #expect(try worker.claim(lane, limit: 9, secrets: [:]).jobs.map(\.record.identity) == ["1"])
        }
    }

    /// The server dies at the end of each change; the expectation is the state of the standby.
    @Test(arguments: [LosingRelay.Loss.request, .answer])
    func anEndThatIsLostWithTheServerIsLookedUpOnTheStandby(_ loss: LosingRelay.Loss) async throws {
        try await with(isSynchronous: true) { bench in
            let (worker, lane, threads) = (bench.worker, bench.lane, WorkerPool(name: "test", threads: 1))
            let own = try worker.claim(lane, limit: 1, secrets: [:]).jobs.map(\.record)
            bench.relay.shut(after: loss)
            async let claimed = threads.run { try worker.claim(lane, limit: 1, secrets: [:]).jobs.map(\.record) }
            try await bench.relay.lost()
            try await bench.failOver()
            let more = try await claimed
            #expect(more.map(\.identity) == ["1"])
            for record in own + more { try worker.succeed(record) }
            threads.stop()
            let other = try bench.another()
            #expect(try other.counts(bench.batch) == [.done: 2, .queued: 2])
            #expect(try other.ends(after: 0, limit: 9).compactMap(\.cursor) == [1, 2])
        }
    }

    @Test(arguments: [LosingRelay.Loss.request, .answer])
    func anEndOfAJobThatIsLostWithTheServerIsRecordedOnce(_ loss: LosingRelay.Loss) async throws {
        try await with(isSynchronous: true) { bench in
            let (worker, threads) = (bench.worker, WorkerPool(name: "test", threads: 1))
            let own = try worker.claim(bench.lane, limit: 2, secrets: [:]).jobs.map(\.record)
            bench.relay.shut(after: loss)
            async let recorded = threads.run { try worker.succeed(own[0]) }
            try await bench.relay.lost()
            try await bench.failOver()
            #expect(try await recorded.cursors == [1])
            try worker.succeed(own[1])
            threads.stop()
            let other = try bench.another()
            #expect(try other.counts(bench.batch) == [.done: 2, .queued: 2])
            #expect(try other.ends(after: 0, limit: 9).compactMap(\.cursor) == [1, 2])
        }
    }

    // MARK: With loss

    @Test func aWorkerWhoseClaimsTheStandbyLacksBeginsAnew() async throws {
        try await with(isSynchronous: false) { bench in
            try await bench.follow()
            _ = try bench.worker.claim(bench.lane, limit: 1, secrets: [:])
            try await bench.cutOff()
            _ = try bench.worker.claim(bench.lane, limit: 1, secrets: [:])
            try await bench.failOver()
            let error = #expect(throws: TransferError.self) {
                try bench.worker.claim(bench.lane, limit: 9, secrets: [:])
            }
            #expect(error?.message.contains("lacks records") == true)
            try bench.worker.retire()
            #expect(try bench.another().counts(bench.batch) == [.queued: 4])
        }
    }

    @Test func aJobWhoseEndTheStandbyLacksIsDoneAgain() async throws {
        try await with(isSynchronous: false) { bench in
            let own = try bench.worker.claim(bench.lane, limit: 2, secrets: [:]).jobs.map(\.record)
            try await bench.follow()
            try await bench.cutOff()
            try bench.worker.succeed(own[0])
            try await bench.failOver()
            let error = #expect(throws: TransferError.self) { try bench.worker.succeed(own[1]) }
            #expect(error?.message.contains("lacks records") == true)
            try bench.worker.retire()
            #expect(try bench.another().counts(bench.batch) == [.queued: 4])
        }
    }

    /// A standby answers queries before it is promoted, and accepts no changes. The address names it alone, or does not
    /// ask for a primary server.
    @Test func aStandbyIsNotUsedUntilItIsPromoted() async throws {
        try await with(isSynchronous: true) { bench in
            try await bench.follow()
            let error = #expect(throws: TransferError.self) { _ = try bench.another() }
            #expect(error.map { PostgresFault.isUnavailable($0) } == true, "a worker waits for it")
            #expect(error?.message.contains("is a standby") == true)
            try await bench.failOver()
            #expect(try bench.another().counts(bench.batch) == [.queued: 4])
        }
    }
}
