import FoundationEssentials
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// Tests of the stores of several workers, with a queue of their own.
protocol SharedQueueTests {
    var address: PostgresAddress { get }
}

extension SharedQueueTests {
    static func newQueue() async throws -> PostgresAddress {
        let queue = UUID().uuidString.lowercased().replacing("-", with: "")
        return try PostgresAddress(await PostgresServer.shared.url(queue: queue))
    }

    func worker(_ tags: String...) throws -> PostgresStore {
        var worker = PostgresWorker()
        worker.tags = WorkerTags(tags) ?? .none
        return try PostgresStore(address, .worker(worker))
    }

    /// The lease of a process is over, and a worker takes over what it had.
    func lose(_ lost: PostgresStore, to other: PostgresStore) throws {
        try other.database.write { db in
            _ = try db.run(
                PostgresStatement(direct: "UPDATE process SET until = 0 WHERE generation = $1"), [lost.database.process]
            )
        }
        _ = try other.renew()
    }

    /// Stages a batch and leaves it to the workers.
    func bring(_ jobs: [JobSpec]) throws -> Int64 {
        let submitter = try PostgresStore(address, .submitter)
        let batch = try submitter.stage(jobs).batch.id
        _ = try submitter.letGo(batch: batch, isComplete: false)
        return batch
    }
}
