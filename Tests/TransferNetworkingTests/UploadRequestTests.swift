import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Uploads")
struct UploadRequestTests {
    @Test func dataIsSentWithPOSTAndTheAnswerIsKept() async throws {
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/in", answer: Response(status: 201, body: .text("thanks")))
            let response = await makeSession().upload(
                Data("hello".utf8), to: server.url("/in"), headers: [.contentType("text/plain")]
            ).validate().serializingString().response
            #expect(response.value == "thanks")
            let upload = try #require(sink.uploads.first)
            #expect(upload.method == "POST")
            #expect(upload.bytes == Array("hello".utf8))
            #expect(upload.headers["Content-Type"] == "text/plain")
        }
    }

    @Test func aFileIsSentWithPUTAndReportsProgress() async throws {
        let folder = try TemporaryFolder("upload")
        let file = URL(fileURLWithPath: try folder.write(count: 3_000_000, seed: 5, to: "file"))
        let expected = UploadDigest.of(.bytes([UInt8](try Data(contentsOf: file))))
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/in", keepsBytes: false)
            let calls = Calls<(Int64, Int64)>()
            let request = makeSession().upload(file, to: server.url("/in"), method: .put)
                .uploadProgress(queue: testQueue) { calls.add(($0.completedUnitCount, $0.totalUnitCount)) }
            #expect(await request.response().response?.statusCode == 201)
            #expect(await calls.first { $0.0 == 3_000_000 }?.1 == 3_000_000)
            let upload = try #require(sink.uploads.first)
            #expect(upload.method == "PUT")
            #expect(upload.digest == expected)
            #expect(upload.headers["Content-Length"] == "3000000")
        }
    }

    @Test func aFileThatIsNotThereFailsBeforeAnythingIsSent() async throws {
        try await withTestServer { server async throws in
            let response = await makeSession().upload(URL(fileURLWithPath: "/nowhere/x"), to: server.url("/in"))
                .response()
            guard case .createUploadableFailed = response.error else {
                Issue.record("\(String(describing: response.error))")
                return
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func aRetriedUploadIsSentWhole() async throws {
        let folder = try TemporaryFolder("upload")
        let file = URL(fileURLWithPath: try folder.write(count: 2_000_000, seed: 6, to: "file"))
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.cutUpload(after: 500_000)])
            let request = makeSession().upload(
                file, to: server.url("/in"), method: .put, interceptor: RetryPolicy(exponentialBackoffScale: 0.001))
            #expect(await request.response().response?.statusCode == 201)
            #expect(sink.uploads.last?.isComplete == true)
            #expect(sink.uploads.last?.count == 2_000_000)
            #expect(request.retryCount == 1)
        }
    }

    @Test func anUploadIsCancelledHalfWay() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/in", keepsBytes: false)
            server.script("/in", [.stallUpload(after: 1000)])
            let request = makeSession().upload(Data(count: 20_000_000), to: server.url("/in"))
            let task = request.serializingData()
            try await server.waitForHeld(1)
            request.cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
        }
    }
}
