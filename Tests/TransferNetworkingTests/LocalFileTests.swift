import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

@Suite("URLs of files", .timeLimit(.minutes(1)))
struct LocalFileTests {
    private let folder: TemporaryFolder
    private let file: URL

    init() throws {
        folder = try TemporaryFolder("files")
        file = URL(fileURLWithPath: try folder.write("{\"text\": \"hi\"}", to: "data/x.json"))
    }

    @Test func aDataRequestReadsIt() async throws {
        let request = makeSession(folder).request(file).validate()
        let response = await request.serializingDecodable(Greeting.self).response
        #expect(response.value == Greeting(text: "hi"))
        // A file URL has no head of an answer, as in Alamofire.
        #expect(response.response == nil)
        #expect(response.data == Data("{\"text\": \"hi\"}".utf8))
        #expect(response.metrics != nil && request.task?.state == .completed)
        #expect(request.isFinished)
    }

    @Test func aDownloadCopiesItAndLeavesItWhereItIs() async throws {
        let place = URL(fileURLWithPath: folder.path("place.json"))
        let download = makeSession(folder).download(file, to: DownloadRequest.destination(place)).validate()
        let url = try await download.serializingDownloadedFileURL().value
        #expect(try Data(contentsOf: url) == Data("{\"text\": \"hi\"}".utf8))
        #expect(url != file && url.pathExtension == "json")
        #expect(FileManager.default.fileExists(atPath: file.path))
        // A destination needs the head of an answer.
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test func missingFilesAndFoldersFailLikeATask() async throws {
        let session = makeSession(folder)
        let missing = URL(fileURLWithPath: folder.path("none"))
        let response = await session.request(missing).serializingData().response
        #expect(URLError.code(of: response.error) == .fileDoesNotExist)
        let download = await session.download(missing).serializingData().response
        #expect(URLError.code(of: download.error) == .fileDoesNotExist)
        let directory = await session.request(URL(fileURLWithPath: folder.path)).serializingData().response
        #expect(URLError.code(of: directory.error) == .fileIsDirectory)
    }

    @Test func anEmptyFileHasNoData() async throws {
        let empty = URL(fileURLWithPath: try folder.write("", to: "empty"))
        let response = await makeSession(folder).request(empty).serializingData(emptyResponseCodes: [204]).response
        #expect(response.data == nil)
        #expect(response.error?.isResponseSerializationError == true)
    }

    @Test func nothingIsUploadedToAFile() async throws {
        let response = await makeSession(folder).upload(Data("x".utf8), to: file).serializingData().response
        #expect(URLError.code(of: response.error) == .unsupportedURL)
        #expect("\(try #require(response.error))".contains(Self.wayOut))
    }

    @Test func aStreamOfAFileSaysWhatReadsIt() async throws {
        let request = makeSession(folder).streamRequest(file)
        var completion: DataStreamRequest.Completion?
        for await stream in request.streamTask().streamingStrings() {
            if case .complete(let end) = stream.event { completion = end }
        }
        let error = try #require(completion?.error)
        #expect(URLError.code(of: error) == .unsupportedURL && "\(error)".contains(Self.wayOut))
    }

    private static let wayOut = "a file is read by request(_:) and copied by download(_:to:)"

    @Test func manyAreReadWhateverTheLimitOfAHost() async throws {
        let session = makeSession(folder)
        let texts = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<50 { group.addTask { [file] in try? await session.request(file).serializingString().value } }
            return await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(texts.count == 50 && texts.allSatisfy { $0?.contains("hi") == true })
    }
}
