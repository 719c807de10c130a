import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

/// Downloads, uploads and streams that a `URLProtocol` carries.
@Suite("Downloads and uploads that a URLProtocol carries", .timeLimit(.minutes(1)))
struct ProtocolBodyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("url-protocol") }

    private func unique(_ name: String = #function) -> String { name.filter(\.isLetter) + UUID().uuidString }

    // MARK: Downloads

    @Test func aDownloadReachesItsDestination() async throws {
        let url = MockProtocol.answer(unique()) { mock, client in
            client.urlProtocol(mock, didReceive: mock.head(), cacheStoragePolicy: .notAllowed)
            for piece in ["one ", "two ", "three"] { client.urlProtocol(mock, didLoad: Data(piece.utf8)) }
            client.urlProtocolDidFinishLoading(mock)
        }
        let target = URL(fileURLWithPath: folder.path("deep/file"))
        let response = await makeMockedSession(folder).download(
            url, to: DownloadRequest.destination(target, options: .createIntermediateDirectories)
        ).validate().serializingString().response
        #expect(response.value == "one two three")
        #expect(response.fileURL == target)
        #expect(try folder.files() == ["deep/file"])
    }

    @Test func aDownloadThatFailsLeavesNothingBehind() async throws {
        let url = MockProtocol.answer(unique()) { mock, client in
            client.urlProtocol(mock, didReceive: mock.head(), cacheStoragePolicy: .notAllowed)
            client.urlProtocol(mock, didLoad: Data("half".utf8))
            client.urlProtocol(mock, didFailWithError: URLError(.networkConnectionLost))
        }
        let response = await makeMockedSession(folder).download(url).serializingData().response
        #expect(URLError.code(of: response.error) == .networkConnectionLost)
        #expect(try folder.files() == [])
    }

    // MARK: Uploads

    @Test func theBodyOfEachKindOfUploadCanBeRead() async throws {
        let url = MockProtocol.answer(unique()) { mock, _ in
            mock.respond(body: mock.body.map { String(decoding: $0, as: UTF8.self) } ?? "none")
        }
        let text = String(repeating: "a body of an upload; ", count: 400)
        let file = URL(fileURLWithPath: folder.path("upload.bin"))
        try Data(text.utf8).write(to: file)
        let session = makeMockedSession(folder)
        let uploads = [
            session.upload(Data(text.utf8), to: url), session.upload(file, to: url),
            session.upload(InputStream(data: Data(text.utf8)), to: url),
        ]
        for upload in uploads { #expect(try await upload.serializingString().value == text) }
        let form = session.upload(multipartFormData: { $0.append(Data("value".utf8), withName: "name") }, to: url)
        let sent = try await form.serializingString().value
        #expect(sent.contains("name=\"name\"\r\n\r\nvalue\r\n"))
        let fromFile = session.upload(
            multipartFormData: { $0.append(file, withName: "file") }, to: url, usingThreshold: 0)
        #expect(try await fromFile.serializingString().value.contains(text))
    }

    @Test func uploadProgressRunsToTheEnd() async throws {
        let url = MockProtocol.answer(unique()) { mock, _ in mock.respond(body: "x") }
        let upload = makeMockedSession(folder).upload(Data(count: 1000), to: url)
        _ = try await upload.serializingData().value
        #expect(upload.uploadProgress.fractionCompleted == 1)
    }

    // MARK: Streams

    @Test func aStreamGetsThePiecesAsTheyAreGiven() async throws {
        let url = MockProtocol.answer(unique()) { mock, client in
            client.urlProtocol(mock, didReceive: mock.head(), cacheStoragePolicy: .notAllowed)
            for piece in ["1", "2", "3"] { client.urlProtocol(mock, didLoad: Data(piece.utf8)) }
            client.urlProtocolDidFinishLoading(mock)
        }
        var pieces: [String] = []
        for await stream in makeMockedSession().streamRequest(url).streamTask().streamingStrings() {
            if case .stream(.success(let piece)) = stream.event { pieces.append(piece) }
        }
        #expect(pieces == ["1", "2", "3"])
    }

    @Test func aSuspendedRequestReceivesNothingBeforeItsResumption() async throws {
        let (started, pieces) = (Calls<HeldMock>(), Calls<String>())
        let url = MockProtocol.answer(unique()) { mock, _ in started.add(HeldMock(mock: mock)) }
        let recorder = EventRecorder()
        let session = makeMockedSession { $0.eventMonitors = [recorder] }
        let request = session.streamRequest(url).responseStreamString(on: testQueue) { stream in
            if case .stream(.success(let piece)) = stream.event { pieces.add(piece) }
        }
        let mock = try #require(await started.first()).mock
        request.suspend()
        // The thread that starts the transfer may still be running, and then suspends it.
        await recorder.until("didSuspendTask")
        mock.respond(body: "piece")
        #expect(request.isSuspended)
        #expect(pieces.all == [])
        request.resume()
        #expect(await pieces.first() == "piece")
    }
}
