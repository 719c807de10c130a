import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Uploads from input streams that have to be sent more than once.
@Suite("Stream uploads: retries, redirects, progress")
struct StreamUploadTests {
    /// Makes streams, and counts them.
    private final class Source: Sendable {
        let content: Content
        private let bytes: Data
        private let counter = Mutex(0)
        var made: Int { counter.withLock { $0 } }

        init(_ content: Content) {
            self.content = content
            bytes = Data(content.bytes())
        }

        func make() -> InputStream {
            counter.withLock { $0 += 1 }
            return InputStream(data: bytes)
        }
    }

    private let source = Source(.random(seed: 21, count: 3_000_000))
    /// The digest of the whole body: a comparison of so many bytes would take minutes to show a difference.
    private let digest = UploadDigest.of(.random(seed: 21, count: 3_000_000))
    private let retries = RetryPolicy(
        retryLimit: 2, exponentialBackoffScale: 0.001, retryableHTTPMethods: [.post, .put])

    @Test func afterA503TheBodyIsSentAgainOutOfAFreshStream() async throws {
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.status(503)])
            let source = source
            let request = makeSession().upload(
                streamedBy: { source.make() }, to: server.url("/in"), interceptor: retries
            ).validate()
            #expect(await request.response().response?.statusCode == 201)
            #expect(request.retryCount == 1)
            #expect(source.made == 2)
            let upload = try #require(sink.uploads.last)
            #expect(upload.isComplete)
            #expect(upload.digest == digest)
        }
    }

    @Test(arguments: [0, 1, 700_000, 2_999_999] as [Int64])
    func afterACutConnectionTheBodyIsSentAgainFromItsBeginning(cut: Int64) async throws {
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.cutUpload(after: cut)])
            let source = source
            let request = makeSession().upload(
                streamedBy: { source.make() }, to: server.url("/in"), interceptor: retries
            ).validate()
            #expect(await request.response().response?.statusCode == 201)
            #expect(request.retryCount == 1)
            // An attempt that was cut before its first byte may not have read the stream.
            #expect(source.made == 2 || cut == 0)
            let upload = try #require(sink.uploads.last)
            #expect(upload.isComplete)
            #expect(upload.digest == digest)
        }
    }

    @Test func eachFurtherAttemptHasAStreamOfItsOwn() async throws {
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.status(503), .cutUpload(after: 500_000)])
            let source = source
            let request = makeSession().upload(
                streamedBy: { source.make() }, to: server.url("/in"), interceptor: retries
            ).validate()
            #expect(await request.response().response?.statusCode == 201)
            #expect(request.retryCount == 2)
            #expect(source.made == 3)
            #expect(sink.uploads.last?.digest == digest)
        }
    }

    @Test func aStreamThatWasGivenOnceFailsTheSecondAttemptClearly() async throws {
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.cutUpload(after: 500_000)])
            let request = makeSession().upload(source.make(), to: server.url("/in"), interceptor: retries)
            let error = try #require(await request.response().error)
            #expect((error.underlyingError as? URLError)?.transferError?.code == .bodyStreamConsumed, "\(error)")
            // A part of the body, or an empty body, is never sent as the whole.
            #expect(sink.uploads.allSatisfy { !$0.isComplete })
        }
    }

    @Test(arguments: [307, 308])
    func aRedirectThatKeepsTheMethodHasTheBodyAgain(status: Int) async throws {
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/there", keepsBytes: false)
            server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.redirect(to: "/there", status: status)])
            let source = source
            let request = makeSession().upload(streamedBy: { source.make() }, to: server.url("/in")).validate()
            let response = await request.response()
            #expect(response.response?.statusCode == 201)
            #expect(response.error == nil)
            let upload = try #require(sink.uploads.last)
            #expect(upload.method == "POST")
            #expect(upload.digest == digest)
            #expect(source.made == 2)
            #expect(request.retryCount == 0)
        }
    }

    @Test func aRedirectOfAStreamThatWasGivenOnceFailsClearly() async throws {
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/there", keepsBytes: false)
            server.script("/in", [.redirect(to: "/there", status: 307)])
            let request = makeSession().upload(source.make(), to: server.url("/in"))
            let error = try #require(await request.response().error)
            #expect((error.underlyingError as? URLError)?.transferError?.code == .bodyStreamConsumed, "\(error)")
            #expect(sink.uploads.allSatisfy { !$0.isComplete })
        }
    }

    // MARK: Progress

    @Test func theProgressEndsAtTheLengthThatWasAnnounced() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/in", keepsBytes: false)
            let (source, calls) = (source, Calls<(Int64, Int64)>())
            let request = makeSession().upload(
                streamedBy: { source.make() }, to: server.url("/in"), headers: ["Content-Length": "3000000"]
            ).uploadProgress(queue: testQueue) { calls.add(($0.completedUnitCount, $0.totalUnitCount)) }
            #expect(await request.response().response?.statusCode == 201)
            testQueue.sync {}
            let all = calls.all
            #expect(all.allSatisfy { $0.1 == 3_000_000 && $0.0 <= 3_000_000 })
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.0 <= $1.0 })
            #expect(all.last?.0 == 3_000_000)
            #expect(request.uploadProgress.completedUnitCount == 3_000_000)
            #expect(server.requests.last?.headers["Transfer-Encoding"] == nil)
        }
    }

    @Test func withoutALengthTheProgressCountsTheBodyAndNotItsFraming() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/in", keepsBytes: false)
            let (source, calls) = (source, Calls<Int64>())
            let request = makeSession().upload(streamedBy: { source.make() }, to: server.url("/in"))
                .uploadProgress(queue: testQueue) { calls.add($0.completedUnitCount) }
            #expect(await request.response().response?.statusCode == 201)
            testQueue.sync {}
            #expect(calls.all.allSatisfy { $0 <= 3_000_000 })
            #expect(request.uploadProgress.completedUnitCount == 3_000_000)
            #expect(server.requests.last?.headers["Transfer-Encoding"] == "chunked")
        }
    }

    @Test func afterARetryTheProgressIsThatOfTheLastAttempt() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.cutUpload(after: 1_000_000)])
            let source = source
            let request = makeSession().upload(
                streamedBy: { source.make() }, to: server.url("/in"), headers: ["Content-Length": "3000000"],
                interceptor: retries)
            #expect(await request.response().response?.statusCode == 201)
            #expect(request.retryCount == 1)
            #expect(request.uploadProgress.completedUnitCount == 3_000_000)
            #expect(request.uploadProgress.totalUnitCount == 3_000_000)
        }
    }

    /// No bytes are read ahead of the server's window, however many a stream could give.
    @Test func aStreamWithoutEndIsReadNoFasterThanTheServerTakesIt() async throws {
        final class Endless: InputStream {
            let count: Atomic<Int>
            init() {
                count = Atomic(0)
                super.init(data: Data())
            }
            override var streamStatus: Status { .open }
            override var hasBytesAvailable: Bool { true }
            override func open() {}
            override func close() {}
            override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
                buffer.initialize(repeating: 7, count: length)
                count.add(length, ordering: .relaxed)
                return length
            }
        }
        try await withTestServer { server async throws in
            server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.stallUpload(after: 1_000_000)])
            server.serve("/x", .random(seed: 1, count: 8_000_000))
            let stream = Endless()
            let session = makeSession()
            let request = session.upload(stream, to: server.url("/in"))
            let task = request.serializingData()
            try await server.waitForHeld(1)
            // Another transfer of 8 MB takes long enough for the stream to read far ahead.
            _ = try await session.request(server.url("/x")).serializingData().value
            // The bytes that the buffers of the sockets hold (tcp_wmem, tcp_rmem), and a chunk.
            #expect(stream.count.load(ordering: .relaxed) < 12_000_000)
            request.cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
        }
    }
}
