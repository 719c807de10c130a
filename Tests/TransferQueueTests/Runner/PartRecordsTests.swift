import Foundation
import Synchronization
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// Records of partial files that cannot bear a note: on their way to the database, and in it.
@Suite struct PartRecordsTests {
    private func record(_ etag: String, synced: Int64 = 0, total: Int64? = 100) -> ResumeData {
        ResumeData(
            url: "http://a.example/x", validator: Validator(etag: etag), total: total, synced: ByteRanges(0..<synced),
            bootID: "b", partialFile: "/x.part", partialInode: 7)
    }

    @Test func aGroupHasTheLatestRecordOfEachJobAndAllWaiters() throws {
        let reported = Mutex<[Int]>([])
        var records = PartRecords()
        let nothing = records.take()
        #expect(nothing == nil)
        for (index, (id, etag)) in [(1, "a"), (2, "b"), (1, "c")].enumerated() {
            records.add(record(etag), of: Int64(id)) { reported.withLock { $0.append(index) } }
        }
        let taken = records.take()
        let first = try #require(taken)
        #expect(first.records.mapValues { $0.validator?.etag } == [1: "c", 2: "b"])
        for kept in first.waiting.values.joined() { kept() }
        #expect(reported.withLock { $0.sorted() } == [0, 1, 2])
    }

    @Test func recordsDuringAWriteAreTheNextGroup() throws {
        var records = PartRecords()
        records.add(record("a"), of: 1) {}
        let first = records.take()
        #expect(first != nil)
        records.add(record("b"), of: 2) {}
        records.add(record("c"), of: 3) {}
        records.drop(3)
        let early = records.take()
        #expect(early == nil)
        records.written()
        let second = records.take()
        #expect(second?.records.keys.sorted() == [2])
    }

    /// The next process finds the record after a kill; the end of the job replaces it.
    @Test func theNextProcessFindsTheRecord() throws {
        let fixture = try StoreFixture()
        let staged = try fixture.stage([Sample.download("http://a.example/x", to: "/x", id: "x")])
        let job = try #require(try fixture.claimAll(staged.batch.id).first)
        for record in [record("a"), record("b", synced: 5, total: nil)] {
            try fixture.store.note([.part(record, of: job.id)])
        }
        try fixture.store.release([job.id])
        #expect(try fixture.claimAll(staged.batch.id).first?.resume == record("b", synced: 5, total: nil))
        let error = TransferError(.httpStatus, "404")
        var end = JobEnd(
            id: job.id, batch: staged.batch.id, identity: "x", outcome: .failed(error, attempts: 1, host: nil))
        end.resume = record("c")
        _ = try fixture.store.record([end], [])
        try fixture.store.note([.part(record("d"), of: job.id)])
        let text = try #require(try fixture.raw.run("SELECT resume FROM job").first?[0])
        #expect(try JSONDecoder().decode(ResumeData.self, from: Data(text.utf8)) == record("c"))
    }
}
