import Foundation
import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferNetworking

@Suite("Multipart forms: unavailable parts")
struct MultipartFailureTests {
    private let folder: TemporaryFolder
    private let form = MultipartFormData(boundary: "b")

    init() throws { folder = try TemporaryFolder("form") }

    @Test func anAddressOfTheNetIsNoFile() {
        form.append(URL(string: "https://example.com/a.png")!, withName: "a")
        guard case .bodyPartURLInvalid(let url) = form.encodingFailure() else { return wrong() }
        #expect(url.absoluteString == "https://example.com/a.png")
    }

    @Test func aFileWithoutAnExtensionNeedsATypeOfItsOwn() throws {
        try folder.write("x", to: "README")
        form.append(folder.url("README"), withName: "a")
        guard case .bodyPartFilenameInvalid(let url) = form.encodingFailure() else { return wrong() }
        #expect(url.lastPathComponent == "README")
    }

    @Test func aMissingFileIsReportedWithItsReason() {
        form.append(folder.url("nothing.txt"), withName: "a")
        guard case .bodyPartFileNotReachableWithError(let url, let error) = form.encodingFailure() else {
            return wrong()
        }
        #expect(url == folder.url("nothing.txt"))
        #expect((error as? TransferError)?.errno == ENOENT)
    }

    @Test func aFolderIsNotAcceptedAsAFile() throws {
        try folder.folder("in.txt")
        form.append(folder.url("in.txt"), withName: "a")
        guard case .bodyPartFileIsDirectory = form.encodingFailure() else { return wrong() }
    }

    @Test func aPipeIsRefusedAndNotWaitedFor() throws {
        #expect(mkfifo(folder.path("pipe.txt"), 0o600) == 0)
        form.append(folder.url("pipe.txt"), withName: "a")
        guard case .bodyPartFileNotReachableWithError = form.encodingFailure() else { return wrong() }
    }

    @Test func theFirstFailureStandsAndNothingIsWritten() throws {
        form.append(URL(string: "https://example.com/a.png")!, withName: "a")
        form.append(folder.url("nothing.txt"), withName: "b")
        form.append(Data("c".utf8), withName: "c")
        let reason = multipartReason { try form.writeEncodedData(to: folder.url("out")) }
        guard case .bodyPartURLInvalid = reason else { return wrong() }
        #expect(!folder.exists("out"))
    }

    @Test(arguments: ["longer than it was", "x"])
    func aFileThatChangedItsSizeIsAnErrorThatSaysSo(now: String) throws {
        let path = try folder.write("as it was", to: "a.txt")
        form.append(Data("d".utf8), withName: "d")
        form.append(folder.url("a.txt"), withName: "a")
        try folder.write(now, to: "a.txt")
        guard case .inputStreamReadFailed(let error as TransferError) = form.encodingFailure() else { return wrong() }
        #expect(error.code == .sourceChanged)
        let length = now.utf8.count == 1 ? "1 byte" : "\(now.utf8.count) bytes"
        #expect(error.message == "\(path) changed since it was added as 9 bytes: it is \(length) long")
        _ = multipartReason { try form.writeEncodedData(to: folder.url("out")) }
        #expect(!folder.exists("out"))
    }

    @Test func aFileThatWentAwayIsAnError() throws {
        try folder.write("x", to: "a.txt")
        form.append(folder.url("a.txt"), withName: "a")
        unlink(folder.path("a.txt"))
        guard case .inputStreamReadFailed(let error as TransferError) = form.encodingFailure() else { return wrong() }
        #expect(error.code == .fileMissing)
    }

    @Test func aFileThatIsCutWhileItIsReadIsAnError() throws {
        let path = try folder.write(count: 1_000_000, seed: 1, to: "a.bin")
        form.append(folder.url("a.bin"), withName: "a")
        let segments = try form.segments()
        #expect {
            try segments.forEachChunk { _ in #expect(truncate(path, 300_000) == 0) }
        } throws: { ($0 as? BodyReadFailure)?.transferError.code == .sourceChanged }
    }

    @Test func aFileThatIsWrittenToWhileItIsReadIsAnError() throws {
        try folder.write(count: 1_000_000, seed: 1, to: "a.bin")
        form.append(folder.url("a.bin"), withName: "a")
        let segments = try form.segments()
        #expect {
            try segments.forEachChunk { _ in
                let file = try FileHandle(forUpdating: folder.url("a.bin"))
                try file.write(contentsOf: Data("changed".utf8))
                try file.close()
                // The file system's clock may be too coarse to distinguish two writes.
                #expect(
                    utimes(folder.path("a.bin"), [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]) == 0)
            }
        } throws: { ($0 as? BodyReadFailure)?.transferError.code == .sourceChanged }
    }

    @Test func aFileThatHidesItsSizeIsNotSentEmpty() {
        // procfs reports a size of 0 bytes.
        form.append(URL(fileURLWithPath: "/proc/self/status"), withName: "a", fileName: "s", mimeType: "text/plain")
        guard case .inputStreamReadFailed = form.encodingFailure() else { return wrong() }
    }

    @Test func aStreamThatEndsEarlyIsAnError() {
        form.append(ScriptedStream("123"), withLength: 5, name: "s", fileName: "s", mimeType: "a/b")
        let error = unexpectedLength()
        #expect(error?.bytesExpected == 5)
        #expect(error?.bytesRead == 3)
    }

    /// As in Alamofire 5.8 and newer.
    @Test(arguments: [0, 1, 2, 3])
    func aStreamThatGivesMoreThanWasPromisedSendsWhatWasPromised(promised: Int) throws {
        let bytes: [UInt8] = [0xF1, 0xF2, 0xF3, 0xF4]
        let stream = ScriptedStream([Array(bytes[..<2]), Array(bytes[2...])])
        form.append(stream, withLength: UInt64(promised), name: "s", fileName: "s", mimeType: "a/b")
        let encoded = try form.encode()
        // No header field and no boundary has a byte of this kind.
        #expect(Array(encoded.filter { $0 >= 0xF0 }) == Array(bytes[..<promised]))
        #expect(encoded.suffix(2).elementsEqual("\r\n".utf8))
    }

    @Test func aStreamThatCannotBeOpenedIsAnErrorWithFoundationsReason() throws {
        let stream = try #require(InputStream(fileAtPath: folder.path("nothing")))
        form.append(stream, withLength: 5, name: "s", fileName: "s", mimeType: "a/b")
        guard case .inputStreamReadFailed(let error) = form.encodingFailure() else { return wrong() }
        #expect((error as NSError).domain == NSPOSIXErrorDomain)
        #expect((error as NSError).code == Int(ENOENT))
    }

    @Test func aStreamIsReadOnceOnly() throws {
        form.append(ScriptedStream("123"), withLength: 3, name: "s", fileName: "s", mimeType: "a/b")
        _ = try form.encode()
        guard case .inputStreamReadFailed(let error as TransferError) = form.encodingFailure() else { return wrong() }
        #expect(error.code == .bodyStreamConsumed)
    }

    @Test func anExistingFileIsNeitherReplacedNorTouched() throws {
        try folder.write("precious", to: "out")
        form.append(Data("x".utf8), withName: "x")
        let reason = multipartReason { try form.writeEncodedData(to: folder.url("out")) }
        guard case .outputStreamFileAlreadyExists(let url) = reason else { return wrong() }
        #expect(url == folder.url("out"))
        let text = try folder.text("out")
        #expect(text == "precious")
    }

    @Test func aLinkToNowhereIsNotFollowed() throws {
        #expect(symlink(folder.path("elsewhere"), folder.path("out")) == 0)
        form.append(Data("x".utf8), withName: "x")
        let reason = multipartReason { try form.writeEncodedData(to: folder.url("out")) }
        guard case .outputStreamFileAlreadyExists = reason else { return wrong() }
        #expect(!folder.exists("elsewhere"))
    }

    @Test func aFormIsNotWrittenToTheNetNorToAMissingFolder() {
        form.append(Data("x".utf8), withName: "x")
        let toNet = multipartReason { try form.writeEncodedData(to: URL(string: "https://example.com/out")!) }
        guard case .outputStreamURLInvalid = toNet else { return wrong() }
        let toNowhere = multipartReason { try form.writeEncodedData(to: folder.url("no/out")) }
        guard case .outputStreamCreationFailed = toNowhere else { return wrong() }
    }

    private func unexpectedLength() -> AFError.UnexpectedInputStreamLength? {
        guard case .inputStreamReadFailed(let error) = form.encodingFailure() else { return nil }
        return error as? AFError.UnexpectedInputStreamLength
    }

    private func wrong(_ location: SourceLocation = #_sourceLocation) {
        Issue.record("\(String(describing: form.encodingFailure()))", sourceLocation: location)
    }
}
