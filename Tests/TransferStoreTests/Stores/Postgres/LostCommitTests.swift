import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// Transactions whose connection is lost at the COMMIT, before or after the server receives it.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct LostCommitTests {
    /// The logins that may change the queue: its owner, and one that has the role of a worker and no other right.
    enum Login: CaseIterable {
        case owner, worker
    }

    /// A queue with four jobs, and a worker on a connection that loses a COMMIT.
    private struct Bench {
        let relay: LosingRelay
        let submitter: PostgresStore
        let worker: PostgresStore
        let batch: Int64

        var lane: Lane { Lane(batch: batch, origin: "http://h.example") }

        init(_ login: Login) async throws {
            let queue = UUID().uuidString.lowercased().replacing("-", with: "")
            let server = try await PostgresServer.shared
            relay = try LosingRelay(to: server)
            submitter = try PostgresStore(PostgresAddress(server.url(queue: queue)), .submitter)
            let jobs = (0..<4).map { Sample.download("http://h.example/", to: "\($0)", id: "\($0)") }
            batch = try submitter.stage(jobs).batch.id
            _ = try submitter.release(batch: batch, isComplete: false)
            let name = login == .owner ? "transfer" : try await server.login("work", in: queue)
            worker = try PostgresStore(
                PostgresAddress(relay.url(queue: queue, login: name)), .worker(PostgresWorker()))
        }
    }

    private static let cases = [LosingRelay.Loss.request, .answer].flatMap { loss in
        Login.allCases.map { (loss, $0) }
    }

    @Test(arguments: cases) func theEndOfAJobIsRecordedOnce(_ loss: LosingRelay.Loss, _ login: Login) async throws {
        let bench = try await Bench(login)
        let record = try #require(try bench.worker.claim(bench.lane, limit: 1, secrets: [:]).jobs.first?.record)
        bench.relay.loseNextCommit(loss)
        try bench.worker.succeed(record)
        #expect(bench.relay.hasLost)
        #expect(try bench.submitter.counts(bench.batch) == [.done: 1, .queued: 3])
        #expect(try bench.submitter.ends(after: 0, limit: 9).compactMap(\.cursor) == [1])
        #expect(try bench.worker.renew().generation == bench.worker.database.process, "it goes on with its lease")
    }

    @Test(arguments: cases) func jobsAreClaimedOnce(_ loss: LosingRelay.Loss, _ login: Login) async throws {
        let bench = try await Bench(login)
        bench.relay.loseNextCommit(loss)
        let claimed = try bench.worker.claim(bench.lane, limit: 2, secrets: [:])
        #expect(bench.relay.hasLost && claimed.jobs.map(\.record.identity) == ["0", "1"])
        #expect(try bench.submitter.counts(bench.batch) == [.claimed: 2, .queued: 2])
    }
}
