import Foundation
import Testing
import TransferCore
import TransferEngine
import TransferTestSupport

@testable import TransferNetworking

@Suite("Multipart forms sent without a temporary file")
struct MultipartBodyTests {
    private let folder: TemporaryFolder
    private let form = MultipartFormData(boundary: "b")

    init() throws {
        folder = try TemporaryFolder("form")
        try folder.write(count: 100_000, seed: 1, to: "a.bin")
    }

    private func addStream(_ stream: InputStream, _ length: UInt64) {
        form.append(stream, withLength: length, name: "s", fileName: "s", mimeType: "a/b")
    }

    @Test(arguments: [1, 7, 4096, 1 << 20])
    func theBodyIsTheEncodedFormWhateverTheBuffersSize(size: Int) throws {
        form.append(Data("x".utf8), withName: "x")
        form.append(folder.url("a.bin"), withName: "f")
        form.append(Data(), withName: "empty")
        let expected = try form.encode()
        let body = try MultipartBody(form)
        #expect(body.length == Int64(expected.count))
        #expect(body.contentType == form.contentType)
        let reader = try body.open()
        let read = try reader.readAll(size: size)
        #expect(read == expected)
        reader.close()
    }

    @Test func aBodyOfDataAndFilesIsReadAgainForAnotherTry() throws {
        form.append(folder.url("a.bin"), withName: "f")
        let body = try MultipartBody(form)
        #expect(body.isReplayable)
        let half = try body.open()
        var buffer = [UInt8](repeating: 0, count: 1000)
        let count = try buffer.withUnsafeMutableBytes { try half.read(into: $0) }
        #expect(count == 1000)
        half.close()
        let whole = try body.open().readAll()
        let expected = try form.encode()
        #expect(whole == expected)
    }

    @Test func aBodyWithAStreamIsReadOnce() throws {
        addStream(ScriptedStream("123"), 3)
        let body = try MultipartBody(form)
        #expect(!body.isReplayable)
        let text = try body.open().readText()
        #expect(text.hasSuffix("\r\n\r\n123\r\n--b--\r\n"))
        #expect { try body.open() } throws: { ($0 as? TransferError)?.code == .bodyStreamConsumed }
    }

    @Test func aTryThatEndedBeforeTheStreamDoesNotConsumeIt() throws {
        form.append(Data(count: 5000), withName: "x")
        addStream(ScriptedStream("123"), 3)
        let body = try MultipartBody(form)
        let early = try body.open()
        var buffer = [UInt8](repeating: 0, count: 1000)
        _ = try buffer.withUnsafeMutableBytes { try early.read(into: $0) }
        early.close()
        let text = try body.open().readText()
        #expect(text.hasSuffix("123\r\n--b--\r\n"))
    }

    @Test func manySmallPartsFillTheBuffer() throws {
        for index in 0..<1000 { form.append(Data("\(index)".utf8), withName: "n") }
        let reader = try MultipartBody(form).open()
        var buffer = [UInt8](repeating: 0, count: 10_000)
        let count = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) }
        #expect(count == 10_000)
    }

    @Test func availableBytesAreSentBeforeASlowStreamIsReady() async throws {
        let gate = GatedStream.Gate()
        addStream(GatedStream(gate, last: 1), 1)
        let reader = try MultipartBody(form).open()
        var buffer = [UInt8](repeating: 0, count: 1000)
        let count = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) }
        #expect(String(decoding: buffer[..<count], as: UTF8.self).hasSuffix("Content-Type: a/b\r\n\r\n"))
        gate.release()
        let rest = try reader.readAll()
        #expect(rest == Data([0]) + Data("\r\n--b--\r\n".utf8))
    }

    @Test func aFileIsOpenedWhenItsTurnComesAndClosedAfterIt() throws {
        for index in 0..<20 {
            try folder.write("\(index)", to: "\(index).txt")
            form.append(folder.url("\(index).txt"), withName: "n")
        }
        let segments = try form.segments()
        var most = 0
        let source = FormSource(segments.segments)
        var byte = [UInt8](repeating: 0, count: 1)
        while try byte.withUnsafeMutableBytes({ try source.read(into: $0) }) > 0 {
            most = max(most, try openFiles())
        }
        #expect(most == 1)
        #expect(try openFiles() == 0)
    }

    @Test func aFileThatChangedFailsTheReading() throws {
        form.append(folder.url("a.bin"), withName: "f")
        let body = try MultipartBody(form)
        try folder.write("short", to: "a.bin")
        let reader = try body.open()
        #expect { try reader.readAll() } throws: { ($0 as? TransferError)?.code == .sourceChanged }
    }

    @Test func aStreamThatEndsEarlyFailsTheReading() throws {
        addStream(ScriptedStream("123"), 5)
        let reader = try MultipartBody(form).open()
        #expect { try reader.readAll() } throws: {
            ($0 as? TransferError)?.message == "the body stream ended after 3 of 5 bytes"
        }
    }

    @Test func anErrorOfAnAddedPartIsThrownAtOnce() {
        form.append(folder.url("nothing.txt"), withName: "f")
        #expect(throws: AFError.self) { try MultipartBody(form) }
    }

    @Test func partsAddedLaterAreNotInTheBody() throws {
        form.append(Data("1".utf8), withName: "a")
        let body = try MultipartBody(form)
        form.append(Data("2".utf8), withName: "b")
        let text = try body.open().readText()
        #expect(!text.contains("name=\"b\""))
    }

    /// Returns the number of this process's open descriptors in the test's folder.
    private func openFiles() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            return target?.hasPrefix(folder.path + "/") ?? false
        }
    }
}
