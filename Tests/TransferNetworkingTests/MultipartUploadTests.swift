import Foundation
import FoundationNetworking
import Glibc
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Multipart uploads: memory or a temporary file")
struct MultipartUploadTests {
    private let folder: TemporaryFolder
    private let form = MultipartFormData(boundary: "b")

    init() throws { folder = try TemporaryFolder("form") }

    private func makeUpload(_ threshold: UInt64, headers: HTTPHeaders? = nil) throws -> MultipartUpload {
        MultipartUpload(
            encodingMemoryThreshold: threshold,
            request: try URLRequest(url: "http://127.0.0.1/", method: .post, headers: headers),
            multipartFormData: form, temporaryFolder: folder.url("tmp"))
    }

    @Test(arguments: [(UInt64(9), true), (10, true), (11, false)])
    func aFormIsInMemoryOnlyBelowTheThreshold(threshold: UInt64, usesFile: Bool) throws {
        form.append(Data(count: 10), withName: "a")
        let encoded = try makeUpload(threshold).makeUploadable()
        if case .file = encoded { #expect(usesFile) } else { #expect(!usesFile) }
    }

    @Test func bothWaysGiveTheSameBytes() throws {
        try folder.write("file", to: "a.txt")
        form.append(folder.url("a.txt"), withName: "f")
        let expected = try form.encode()
        let inMemory = try makeUpload(.max).makeUploadable()
        #expect(inMemory == .data(expected))
        let upload = try makeUpload(0)
        guard case .file(let url) = try upload.makeUploadable() else {
            Issue.record("not a file")
            return
        }
        let written = try Data(contentsOf: url)
        #expect(written == expected)
    }

    @Test func onlyTheUserMayReadTheTemporaryFile() throws {
        form.append(Data("secret".utf8), withName: "a")
        let upload = try makeUpload(0)
        _ = try upload.makeUploadable()
        let file = try #require(try folder.files(below: "tmp").first)
        var status = stat()
        #expect(stat(folder.path("tmp/\(file)"), &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
        let parent = URL(fileURLWithPath: folder.path("tmp/\(file)")).deletingLastPathComponent().path
        #expect(stat(parent, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o700)
    }

    @Test func theFormIsEncodedOnceForAllTries() throws {
        form.append(ScriptedStream("123"), withLength: 3, name: "s", fileName: "s", mimeType: "a/b")
        let upload = try makeUpload(0)
        let first = try upload.makeUploadable()
        let second = try upload.makeUploadable()
        #expect(first == second)
        let files = try folder.files(below: "tmp")
        #expect(files.count == 1)
    }

    @Test func cleaningUpRemovesTheFileAndItsFolder() throws {
        form.append(Data(count: 10), withName: "a")
        let upload = try makeUpload(0)
        _ = try upload.makeUploadable()
        upload.cleanUp()
        upload.cleanUp()
        #expect(try isTemporaryFolderEmpty())
        #expect(throws: AFError.self) { try upload.makeUploadable() }
        #expect(try isTemporaryFolderEmpty())
    }

    @Test func theFileGoesWithTheUpload() throws {
        form.append(Data(count: 10), withName: "a")
        do {
            let upload = try makeUpload(0)
            _ = try upload.makeUploadable()
            #expect(try !isTemporaryFolderEmpty())
        }
        #expect(try isTemporaryFolderEmpty())
    }

    @Test func aFormThatCannotBeCompletedLeavesNothing() throws {
        form.append(Data(count: 1_000_000), withName: "a")
        form.append(ScriptedStream("123"), withLength: 5, name: "s", fileName: "s", mimeType: "a/b")
        let upload = try makeUpload(0)
        let reason = multipartReason { _ = try upload.makeUploadable() }
        guard case .inputStreamReadFailed(let error) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect(error is AFError.UnexpectedInputStreamLength)
        #expect(try isTemporaryFolderEmpty())
    }

    @Test func cancellingWhileTheFormIsEncodedStopsItAndLeavesNothing() async throws {
        let gate = GatedStream.Gate()
        form.append(
            GatedStream(gate, last: 3_000_000), withLength: .init(Int64.max / 2), name: "s", fileName: "s",
            mimeType: "a/b")
        let upload = try makeUpload(0)
        let results = Calls<Bool>()
        DispatchQueue.global().async {
            do {
                _ = try upload.makeUploadable()
                results.add(false)
            } catch { results.add(error.asAFError?.isExplicitlyCancelledError ?? false) }
        }
        #expect(await gate.entered.first() != nil)
        let during = try folder.files(below: "tmp")
        #expect(during.count == 1)
        upload.cleanUp()
        #expect(try isTemporaryFolderEmpty())
        gate.release()
        #expect(await results.first() == true)
        #expect(try isTemporaryFolderEmpty())
    }

    @Test func theRequestNamesTheBoundaryInsteadOfItsOwnContentType() throws {
        let request = try makeUpload(0, headers: [.contentType("text/plain"), .accept("a/b")]).asURLRequest()
        #expect(request.headers["Content-Type"] == "multipart/form-data; boundary=b")
        #expect(request.headers["Accept"] == "a/b")
        #expect(request.httpMethod == "POST")
    }

    @Test func theDefaultThresholdIsTheDocumentedOne() throws {
        form.append(Data(count: 9_999_999), withName: "a")
        let small = MultipartUpload(
            request: try URLRequest(url: "http://127.0.0.1/", method: .post), multipartFormData: form,
            temporaryFolder: folder.url("tmp"))
        guard case .data = try small.makeUploadable() else {
            Issue.record("a file below the threshold")
            return
        }
        form.append(Data(count: 1), withName: "b")
        let big = MultipartUpload(
            request: try URLRequest(url: "http://127.0.0.1/", method: .post), multipartFormData: form,
            temporaryFolder: folder.url("tmp"))
        guard case .file = try big.makeUploadable() else {
            Issue.record("memory at the threshold")
            return
        }
    }

    @Test(arguments: [UInt64.max, 0])
    func aServerGetsTheFormAsItWasEncoded(threshold: UInt64) async throws {
        try folder.write(count: 300_000, seed: 3, to: "a.bin")
        form.append(Data("value".utf8), withName: "field")
        form.append(folder.url("a.bin"), withName: "file")
        let expected = try form.encode()
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/in")
            let upload = MultipartUpload(
                encodingMemoryThreshold: threshold, request: try URLRequest(url: server.url("/in"), method: .post),
                multipartFormData: form, temporaryFolder: folder.url("tmp"))
            let request =
                switch try upload.makeUploadable() {
                case .data(let data): makeSession().upload(data, with: upload)
                case .file(let url): makeSession().upload(url, with: upload)
                }
            #expect(await request.response().response?.statusCode == 201)
            upload.cleanUp()
            let received = try #require(sink.uploads.first)
            #expect(Data(received.bytes) == expected)
            #expect(received.headers["Content-Type"] == "multipart/form-data; boundary=b")
        }
        #expect(try isTemporaryFolderEmpty())
    }

    @Test func aBigFileIsWrittenPieceByPiece() async throws {
        let size = 64 << 20
        try folder.write(count: size, seed: 4, to: "a.bin")
        form.append(folder.url("a.bin"), withName: "f")
        let segments = try form.segments()
        var largest = 0
        var sum = 0
        try segments.forEachChunk { chunk in
            largest = max(largest, chunk.count)
            sum += chunk.count
        }
        #expect(largest <= 256 * 1024)
        #expect(sum == Int(segments.length))

        try form.writeEncodedData(to: folder.url("out"))
        #expect(folder.size("out") == segments.length)
        let head = try #require(try form.encodedHead())
        let body = try FileHandle(forReadingFrom: folder.url("out"))
        try body.seek(toOffset: UInt64(head.count))
        let start = try body.read(upToCount: 1 << 20)
        let original = try FileHandle(forReadingFrom: folder.url("a.bin")).read(upToCount: 1 << 20)
        #expect(start == original)
    }

    @Test func aBigStreamIsReadInPiecesOfBoundedSize() throws {
        let stream = ScriptedStream(Array(repeating: [UInt8](repeating: 7, count: 1 << 20), count: 20))
        form.append(stream, withLength: 20 << 20, name: "s", fileName: "s", mimeType: "a/b")
        try form.writeEncodedData(to: folder.url("out"))
        #expect(stream.largestRead <= 256 * 1024)
        #expect(stream.closed == 1)
    }

    private func isTemporaryFolderEmpty() throws -> Bool {
        try !folder.exists("tmp") || FileManager.default.contentsOfDirectory(atPath: folder.path("tmp")).isEmpty
    }
}

extension MultipartFormData {
    /// Returns the bytes before the first content.
    fileprivate func encodedHead() throws -> Data? {
        if case .bytes(let data)? = try segments().segments.first { return data }
        return nil
    }
}
