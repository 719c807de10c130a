import Dispatch
import Glibc
import Synchronization
import Testing
import TransferCore
import TransferEventLoop
import TransferTestSupport

@testable import TransferEngine

/// The record of a partial file while it is written, and the place where the record is kept.
@Suite(.timeLimit(.minutes(1))) struct FileSinkTests {
    /// The records that the owner of the transfer keeps, and the confirmations that they are stored.
    private final class Kept: Sendable {
        struct State {
            var records: [ResumeData] = []
            var waiting: [@Sendable () -> Void] = []
        }

        let state = Mutex(State())

        var recorder: ResumeRecorder {
            { record, kept in
                self.state.withLock {
                    $0.records.append(record)
                    $0.waiting.append(kept)
                }
            }
        }

        var records: [ResumeData] { state.withLock { $0.records } }

        func confirm() { for kept in state.withLock({ exchange(&$0.waiting, with: []) }) { kept() } }
    }

    private let url = "http://a.example/x"
    private let workers = WorkerPool(name: "test", threads: 1)

    /// Waits until all earlier jobs of the worker are done.
    private func finishWork() async {
        await withCheckedContinuation { continuation in workers.execute { continuation.resume() } }
    }

    private func sink(
        _ part: PartFile, at offset: Int64 = 0, earlier: ResumeData? = nil, _ kept: Kept? = nil
    ) -> FileSink {
        FileSink(
            part, offset: offset, url: url, algorithm: nil, workers: workers, state: FileSinkState(), earlier: earlier,
            recorder: kept?.recorder)
    }

    private func write(_ sink: FileSink, _ count: Int) throws {
        try [UInt8](repeating: 7, count: count).withUnsafeBytes { try sink.write($0) }
    }

    private func start(_ total: Int64?, etag: String = "\"v1\"", offset: Int64 = 0, overlap: Int64 = 0) -> BodyStart {
        BodyStart(
            head: head(offset + overlap > 0 ? 206 : 200, ["ETag": etag]), offset: offset, total: total, url: url,
            overlap: overlap)
    }

    /// Opens a partial file as on file systems without extended attributes.
    private func openPlain(_ path: String, size: Int64 = 0) throws -> PartFile {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        return PartFile(path: path, in: nil, descriptor: descriptor, size: size, record: nil, holdsRecords: false)
    }

    @Test func aBodyOfUnknownLengthIsRecordedAfterAMinimum() async throws {
        let folder = try TemporaryFolder("sink")
        let path = folder.path("x.part")
        let sink = sink(try PartFile.open(path))
        try sink.begin(start(nil))
        try write(sink, 200_000)
        await finishWork()
        #expect(PartFile.look(path)?.record == nil)
        try write(sink, 100_000)
        await finishWork()
        let record = try #require(PartFile.look(path)?.record)
        #expect(record.validator?.etag == "\"v1\"" && record.total == nil)
        #expect(
            record.trustedLength(onMount: record.mount ?? "none", fileSize: 300_000)
                == (record.mount == nil ? 0 : 300_000))
    }

    /// A kill loses the bytes that are not recorded. On a busy machine the workers run late.
    @Test(arguments: [8 << 20, nil] as [Int64?])
    func noMoreThanTwoMebibytesComeBeforeTheirRecord(_ total: Int64?) async throws {
        let folder = try TemporaryFolder("sink")
        let path = folder.path("x.part")
        let part = try PartFile.open(path)
        let (busy, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        workers.execute {
            busy.signal()
            release.wait()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                busy.wait()
                continuation.resume()
            }
        }
        defer { release.signal() }
        let sink = sink(part)
        try sink.begin(start(total))
        try write(sink, (2 << 20) - 1)
        #expect(PartFile.look(path)?.record == nil)
        try write(sink, 1)
        #expect(PartFile.look(path)?.record?.validator?.etag == "\"v1\"")
    }

    @Test(arguments: [1000, 1_000_000, nil] as [Int64?])
    func withoutARecordOnTheFileTheFirstByteWaitsForTheOwner(_ total: Int64?) throws {
        let folder = try TemporaryFolder("sink")
        let kept = Kept()
        let sink = sink(try openPlain(folder.path("x.part")), kept)
        try sink.begin(start(total))
        #expect(!sink.isReady)
        let record = try #require(kept.records.first)
        #expect(record.validator?.etag == "\"v1\"" && record.partialFile == folder.path("x.part"))
        #expect(record.partialInode != nil && record.written.prefixLength == 0)
        kept.confirm()
        #expect(sink.isReady)
    }

    @Test func aFileWithItsOwnRecordDoesNotWait() async throws {
        let folder = try TemporaryFolder("sink")
        let kept = Kept()
        let sink = sink(try PartFile.open(folder.path("x.part")), kept)
        try sink.begin(start(1_000_000))
        #expect(sink.isReady)
        await finishWork()
        #expect(kept.records.isEmpty)
    }

    /// The record of the former bytes must not be taken for a record of the new bytes.
    @Test func aNewBeginningWaitsAgain() throws {
        let folder = try TemporaryFolder("sink")
        let kept = Kept()
        let sink = sink(try openPlain(folder.path("x.part")), kept)
        try sink.begin(start(2000, etag: "\"v2\""))
        #expect(!sink.isReady && kept.records.map(\.validator?.etag) == ["\"v2\""])
        // The sink begins anew again before the first new start was recorded.
        try sink.begin(start(2000, etag: "\"v3\""))
        kept.confirm()
        #expect(sink.isReady && kept.records.last?.validator?.etag == "\"v3\"")
    }

    @Test func resumedBytesDoNotWait() async throws {
        let folder = try TemporaryFolder("sink")
        let path = try folder.write(count: 300_000, seed: 1, to: "x.part")
        let kept = Kept()
        let sink = sink(try openPlain(path, size: 300_000), at: 300_000, kept)
        try sink.begin(start(1_000_000, offset: 300_000))
        #expect(sink.isReady)
        await finishWork()
        #expect(kept.records.map(\.written.prefixLength) == [300_000])
    }

    @Test func theOwnerReceivesEachCheckpoint() async throws {
        let folder = try TemporaryFolder("sink")
        let kept = Kept()
        let sink = sink(try openPlain(folder.path("x.part")), kept)
        try sink.begin(start(100 << 20))
        kept.confirm()
        for _ in 0..<65 { try write(sink, 1 << 20) }
        await finishWork()
        #expect(kept.records.last?.synced.prefixLength == 64 << 20)
    }
}
