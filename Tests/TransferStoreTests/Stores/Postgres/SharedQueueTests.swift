import FoundationEssentials
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// Tests of the stores of several workers, with a queue of their own.
protocol SharedQueueTests {
    var address: PostgresAddress { get }
}

extension SharedQueueTests {
    /// Four downloads from one origin.
    var jobs: [JobSpec] {
        (0..<4).map { Sample.download("http://h.example/\($0)", to: "\($0)", id: "\($0)") }
    }

    static func newQueue() async throws -> PostgresAddress {
        let queue = UUID().uuidString.lowercased().replacing("-", with: "")
        return try PostgresAddress(await PostgresServer.shared.url(queue: queue))
    }

    func worker(_ tags: String...) throws -> PostgresStore {
        var worker = PostgresWorker()
        worker.tags = WorkerTags(tags) ?? .none
        return try PostgresStore(address, .worker(worker))
    }

    /// Stages a batch and leaves it to the workers.
    func bring(_ jobs: [JobSpec]) throws -> Int64 {
        let submitter = try PostgresStore(address, .submitter)
        let batch = try submitter.stage(jobs).batch.id
        _ = try submitter.release(batch: batch, isComplete: false)
        return batch
    }
}
