import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing
import TransferCore
import TransferEngine
import TransferTestSupport

@testable import TransferNetworking

/// A stream whose first read waits until the gate is opened. It then gives zeros without end, or `last` of them.
final class GatedStream: InputStream {
    final class Gate: Sendable {
        let entered = Calls<Bool>()
        let closed = Calls<Bool>()
        private let semaphore = DispatchSemaphore(value: 0)
        func release() { semaphore.signal() }
        fileprivate func wait() { semaphore.wait() }
    }

    private let gate: Gate
    private var left: Int
    private var hasWaited = false

    init(_ gate: Gate, last: Int) {
        self.gate = gate
        left = last
        super.init(data: Data())
    }

    override var hasBytesAvailable: Bool { left > 0 }
    override func open() {}
    override func close() { gate.closed.add(true) }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        if !hasWaited {
            hasWaited = true
            gate.entered.add(true)
            gate.wait()
        }
        let count = min(left, length)
        buffer.update(repeating: 0, count: count)
        left -= count
        return count
    }
}

@Suite("Bodies out of an InputStream")
struct InputStreamBodyTests {
    private func code(_ body: () throws -> Void) -> TransferError.Code? {
        do { try body() } catch { return (error as? TransferError)?.code }
        return nil
    }

    @Test(arguments: [1, 3, 4096])
    func foundationsStreamIsReadWhole(size: Int) throws {
        let data = SampleData.bytes(10_000)
        let body = InputStreamBody(InputStream(data: data))
        #expect(body.length == nil)
        let read = try body.open().readAll(size: size)
        #expect(read == data)
    }

    @Test func aFilesStreamIsReadWhole() throws {
        let folder = try TemporaryFolder("stream")
        try folder.write(count: 1_000_000, seed: 1, to: "a")
        let body = InputStreamBody(try #require(InputStream(url: folder.url("a"))), length: 1_000_000)
        let read = try body.open().readAll(size: 65_536)
        let expected = try folder.data("a")
        #expect(read == expected)
    }

    @Test func anEmptyStreamIsAnEmptyBody() throws {
        let read = try InputStreamBody(InputStream(data: Data()), length: 0).open().readAll()
        #expect(read.isEmpty)
    }

    @Test func shortReadsAreNoEnd() throws {
        let stream = ScriptedStream([[1], [2, 3], [4, 5, 6]])
        let reader = try InputStreamBody(stream, length: 6).open()
        let read = try reader.readAll()
        #expect(read == Data([1, 2, 3, 4, 5, 6]))
        #expect(stream.opened == 1)
        reader.close()
        reader.close()
        #expect(stream.closed == 1)
    }

    @Test func noMoreIsAskedForThanFitsOrIsPromised() throws {
        let stream = ScriptedStream([[UInt8](repeating: 1, count: 1000)])
        _ = try InputStreamBody(stream).open().readAll(size: 100)
        #expect(stream.largestRead == 100)
        let short = ScriptedStream("abc")
        _ = try InputStreamBody(short, length: 3).open().readAll(size: 100)
        #expect(short.largestRead == 3)
    }

    @Test func aStreamThatEndsEarlyIsAnError() throws {
        let reader = try InputStreamBody(ScriptedStream("abc"), length: 4).open()
        #expect(code { _ = try reader.readAll() } == .sourceChanged)
    }

    @Test func aStreamThatHasMoreThanItsLengthIsAnError() throws {
        let folder = try TemporaryFolder("stream")
        try folder.write("abcde", to: "a")
        let file = try #require(InputStream(url: folder.url("a")))
        for stream in [ScriptedStream("abcde"), InputStream(data: Data("abcde".utf8)), file] {
            let reader = try InputStreamBody(stream, length: 4).open()
            #expect(code { _ = try reader.readAll() } == .sourceChanged, "\(stream)")
        }
    }

    @Test func aStreamOfExactlyItsLengthIsNone() throws {
        let folder = try TemporaryFolder("stream")
        try folder.write("abcd", to: "a")
        let file = try #require(InputStream(url: folder.url("a")))
        for stream in [ScriptedStream("abcd"), InputStream(data: Data("abcd".utf8)), file] {
            let text = try InputStreamBody(stream, length: 4).open().readText()
            #expect(text == "abcd", "\(stream)")
        }
    }

    @Test func aQuietStreamIsNotWaitedForAfterItsLastByte() throws {
        // A pipe that stays open: a read of one more byte would block forever.
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("abc".utf8))
        let path = "/proc/self/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        let stream = try #require(InputStream(fileAtPath: path))
        let text = try InputStreamBody(stream, length: 3).open().readText()
        #expect(text == "abc")
        try pipe.fileHandleForWriting.close()
    }

    @Test func aStreamWithoutAFileIsAnErrorWithItsReason() throws {
        let body = InputStreamBody(try #require(InputStream(fileAtPath: "/nowhere/x")))
        #expect { try body.open() } throws: { error in
            let error = error as? TransferError
            return error?.code == .bodyStreamFailed && error?.errno == ENOENT
                && error?.message.hasPrefix("cannot open the body stream: ") == true
        }
    }

    @Test func aReadThatFailsIsAnErrorWithItsReason() throws {
        // A folder can be opened, but not read.
        let reader = try InputStreamBody(try #require(InputStream(fileAtPath: "/"))).open()
        #expect { try reader.readAll() } throws: { error in
            let error = error as? TransferError
            return error?.code == .bodyStreamFailed && error?.errno == EISDIR
        }
    }

    @Test func aFailingSubclassWithoutAnErrorDoesNotTrap() throws {
        // Foundation's streamError would end the process here.
        let reader = try InputStreamBody(ScriptedStream([[1]], endsBadly: true)).open()
        #expect(code { _ = try reader.readAll() } == .bodyStreamFailed)
    }

    @Test func aStreamThatNeverOpensIsAnError() throws {
        final class Stuck: InputStream {
            init() { super.init(data: Data("never".utf8)) }
            override func open() {}
        }
        let reader = try InputStreamBody(Stuck()).open()
        #expect(code { _ = try reader.readAll() } == .bodyStreamFailed)
    }

    @Test func aStreamThatIsClosedAlreadyIsAnErrorAndNotAnEmptyBody() {
        let stream = InputStream(data: Data("abc".utf8))
        stream.open()
        stream.close()
        let body = InputStreamBody(stream)
        #expect(code { _ = try body.open() } == .bodyStreamConsumed)
    }

    @Test func aStreamThatIsOpenAlreadyIsReadFromWhereItStands() throws {
        let stream = InputStream(data: Data("abc".utf8))
        stream.open()
        var byte: UInt8 = 0
        #expect(stream.read(&byte, maxLength: 1) == 1)
        let text = try InputStreamBody(stream).open().readText()
        #expect(text == "bc")
    }

    @Test func aSecondReadingWithoutAFreshStreamIsAnErrorThatSaysSo() throws {
        let body = InputStreamBody(InputStream(data: Data("abc".utf8)))
        _ = try body.open().readAll()
        #expect { try body.open() } throws: { error in
            let error = error as? TransferError
            return error?.code == .bodyStreamConsumed && error?.message.contains("cannot be sent again") == true
        }
    }

    @Test func eachFurtherReadingAsksForAFreshStream() throws {
        let asked = Mutex(0)
        let body = InputStreamBody(
            InputStream(data: Data("abc".utf8)), length: 3,
            freshStream: {
                asked.withLock { $0 += 1 }
                return InputStream(data: Data("abc".utf8))
            })
        let half = try body.open()
        var byte = [UInt8](repeating: 0, count: 1)
        _ = try byte.withUnsafeMutableBytes { try half.read(into: $0) }
        half.close()
        #expect(asked.withLock { $0 } == 0)
        for count in 1...2 {
            let text = try body.open().readText()
            #expect(text == "abc")
            #expect(asked.withLock { $0 } == count)
        }
    }

    @Test func aProviderWithNothingToGiveEndsInTheSameError() throws {
        let body = InputStreamBody(InputStream(data: Data("abc".utf8)), freshStream: { nil })
        _ = try body.open().readAll()
        #expect(code { _ = try body.open() } == .bodyStreamConsumed)
    }

    @Test func aProviderThatGivesTheSameStreamAgainIsAnErrorAndNotAnEmptyBody() throws {
        let given = GivenStream(stream: ScriptedStream("abc"))
        let body = InputStreamBody(given.stream, freshStream: { given.stream })
        _ = try body.open().readAll()
        #expect(code { _ = try body.open() } == .bodyStreamConsumed)
    }

    @Test func aReaderThatWasClosedGivesNothingMore() throws {
        let reader = try InputStreamBody(ScriptedStream("abc")).open()
        reader.close()
        #expect(code { _ = try reader.readAll() } == .cancelled)
    }

    @Test func aReaderThatIsDroppedClosesItsStream() throws {
        let stream = ScriptedStream("abc")
        _ = try InputStreamBody(stream).open()
        #expect(stream.closed == 1)
    }

    @Test func closingDuringAReadReturnsAtOnceAndClosesTheStreamAfterIt() async throws {
        let gate = GatedStream.Gate()
        let reader = try InputStreamBody(GatedStream(gate, last: 100)).open()
        let results = Calls<Int>()
        DispatchQueue.global().async {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 10, alignment: 1)
            defer { buffer.deallocate() }
            results.add((try? reader.read(into: buffer)) ?? -1)
        }
        #expect(await gate.entered.first() != nil)
        reader.close()
        #expect(gate.closed.all.isEmpty)
        gate.release()
        #expect(await results.first() == 10)
        #expect(await gate.closed.first() != nil)
        #expect(code { _ = try reader.readAll() } == .cancelled)
        #expect(gate.closed.all.count == 1)
    }
}

private enum SampleData {
    static func bytes(_ count: Int) -> Data {
        var generator = SampleBytes(seed: 9)
        return generator.next(count)
    }
}
