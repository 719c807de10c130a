import FoundationEssentials
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// Pending commands for jobs that a worker has claimed, and their outcome when that worker is gone.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct PendingCommandTests: SharedQueueTests {
    let address: PostgresAddress

    init() async throws { address = try await Self.newQueue() }

    @Test func aPendingCommandEndsWithItsClaim() throws {
        let batch = try bring([jobs[0]])
        let (one, other) = (try worker(), try worker())
        let claimed = try #require(one.claimAll(batch).first)
        _ = try PostgresStore(address, .onlooker).deliver(.cancel, batch: "b", job: nil)
        // The job failed before the worker received the command, and a user has it tried again.
        try one.fail(claimed)
        _ = try PostgresStore(address, .onlooker).deliver(.retry, batch: "b", job: nil)
        #expect(try one.claimAll(batch).count == 1)
        try one.endLease(by: other.database)
        #expect(try other.counts(batch) == [.queued: 1])
    }

    // MARK: Uploads

    private func cancelledUpload(_ tags: String...) throws -> Int64 {
        var spec = Sample.upload("a", to: "http://h.example/a", id: "a", protocol: .tus)
        spec.settings.worker.tags = WorkerTags(tags) ?? .none
        let batch = try bring([spec])
        let one = try worker("eu")
        let claimed = try #require(one.claimAll(batch).first)
        try one.note([.upload(.sample(), of: claimed.id)])
        try one.release([claimed.id])
        guard case .applied(jobs: 1) = try PostgresStore(address, .onlooker).deliver(.cancel, batch: "b", job: nil)
        else {
            Issue.record("it was not cancelled")
            return 0
        }
        return claimed.id
    }

    @Test func oneWorkerAtATimeNotifiesTheServerOfACancelledUpload() throws {
        let id = try cancelledUpload()
        let (one, other) = (try worker(), try worker())
        #expect(try one.takeAbandonedUploads(limit: 9).map(\.id) == [id])
        #expect(try other.takeAbandonedUploads(limit: 9).isEmpty)
        // The first worker could not reach the server: after a while a second worker tries.
        try other.database.write { db in
            _ = try db.run(PostgresStatement(direct: "UPDATE job SET drop_after = drop_after - 61000"))
        }
        #expect(try other.takeAbandonedUploads(limit: 9).map(\.id) == [id])
        try other.note([.abandoned(id)])
        try other.database.write { db in
            _ = try db.run(PostgresStatement(direct: "UPDATE job SET drop_after = drop_after - 1000000"))
        }
        #expect(try one.takeAbandonedUploads(limit: 9).isEmpty)
    }

    @Test func aWorkerNotifiesServersOnlyOfJobsWithItsTags() throws {
        let id = try cancelledUpload("eu")
        #expect(try worker("us").takeAbandonedUploads(limit: 9).isEmpty)
        #expect(try worker("eu", "gpu").takeAbandonedUploads(limit: 9).map(\.id) == [id])
    }

    /// A job that is changed, and a job that is removed from its file, leave uploads that no worker continues.
    @Test(arguments: [true, false]) func aChangedJobLeavesItsUploadToTheNextWorker(_ isChanged: Bool) throws {
        let old = Sample.upload("a", to: "http://h.example/a", id: "a", protocol: .tus)
        let batch = try bring([old])
        let one = try worker()
        let claimed = try #require(one.claimAll(batch).first)
        try one.note([.upload(.sample(), of: claimed.id)])
        try one.retire()
        let next = Sample.upload("b", to: "http://h.example/a", id: isChanged ? "a" : "b", protocol: .tus)
        #expect(try bring([next]) == batch)
        let (other, third) = (try worker(), try worker())
        let taken = try other.takeAbandonedUploads(limit: 9)
        #expect(taken.map(\.spec.fingerprint) == [old.fingerprint] && taken.map(\.upload) == [.sample()])
        #expect(try third.takeAbandonedUploads(limit: 9).isEmpty, "one tells the server")
        let fresh = try #require(third.claimAll(batch).first)
        #expect(fresh.spec.fingerprint == next.fingerprint && fresh.upload == nil)
        #expect(taken.first?.id != fresh.id)
        try other.note([.abandoned(try #require(taken.first).id)])
        try third.database.write { db in
            _ = try db.run(PostgresStatement(direct: "UPDATE replaced_upload SET drop_after = 0"))
        }
        #expect(try third.takeAbandonedUploads(limit: 9).isEmpty)
    }

    @Test func aCancelledUploadIsDroppedThoughItsBatchIsForgotten() throws {
        _ = try cancelledUpload("eu")
        #expect(try PostgresStore(address, .submitter).forget(name: "b", endedBefore: nil) == ["b"])
        #expect(try worker("us").takeAbandonedUploads(limit: 9).isEmpty)
        #expect(try worker("eu").takeAbandonedUploads(limit: 9).map(\.upload) == [.sample()])
    }

    @Test func aRetriedUploadIsNotDropped() throws {
        _ = try cancelledUpload()
        _ = try PostgresStore(address, .onlooker).deliver(.retry, batch: "b", job: nil)
        #expect(try worker().takeAbandonedUploads(limit: 9).isEmpty)
    }
}
