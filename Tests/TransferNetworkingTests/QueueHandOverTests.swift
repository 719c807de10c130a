import Foundation
import Testing
import TransferCore
import TransferKit
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Handing requests to the durable queue")
struct QueueHandOverTests {
    let target = URL(fileURLWithPath: "/srv/x.iso")

    @Test func aDownloadBecomesAJobWithItsDestinationAndFields() throws {
        let request = makeSession().download(
            "https://a.example/x.iso?q=1", headers: ["X-Team": "media"],
            to: DownloadRequest.destination(target, options: .removePreviousFile))
        let job = try JobSpec(request, id: "x")
        guard case .download(let download) = job.work else {
            Issue.record("not a download")
            return
        }
        #expect(job.identity == "x")
        #expect(download.urls == ["https://a.example/x.iso?q=1"])
        #expect(download.destination == "/srv/x.iso")
        #expect(download.ifExists == .overwrite)
        #expect(job.settings.headers == [.init(name: "X-Team", value: .literal("media"))])
        #expect(request.isInitialized)
    }

    @Test func anUnstorableRequestIsRefused() throws {
        let session = makeSession()
        let destination = DownloadRequest.destination(target)
        #expect(throws: TransferError.self) { try JobSpec(session.download("https://a.example/x")) }
        #expect(throws: TransferError.self) {
            try JobSpec(
                session.download(
                    "https://a.example/x", headers: [.authorization(bearerToken: "t")], to: destination))
        }
        #expect(throws: TransferError.self) { try JobSpec(session.upload(Data(), to: "https://a.example/x")) }
        let cancelled = session.download("https://a.example/x", to: destination).cancel()
        #expect(throws: TransferError.self) { try JobSpec(cancelled) }
    }

    @Test func anUploadOfAFileBecomesAJobOfItsMethod() throws {
        let file = URL(fileURLWithPath: "/srv/report.pdf")
        let job = try JobSpec(makeSession().upload(file, to: "https://a.example/in", method: .patch))
        guard case .upload(let upload) = job.work else {
            Issue.record("not an upload")
            return
        }
        #expect(upload.source == "/srv/report.pdf")
        #expect(upload.method == "PATCH")
    }

    @Test func theQueueDoesWhatTheRequestWouldHaveDone() async throws {
        let folder = try TemporaryFolder("hand-over")
        try await withTestServer { server async throws in
            server.serve("/f", .text("queued"), etag: "\"1\"")
            let queue = try await TransferQueue.open(.init(state: folder.path("state")))
            let running = Task { try await queue.run() }
            let request = makeSession().download(
                server.url("/f"), to: DownloadRequest.destination(URL(fileURLWithPath: folder.path("out/f"))))
            let job = try await queue.submit(request, batch: "b")
            let receipt = try await job.receipt()
            #expect(receipt.bytes == 6)
            let text = try folder.text("out/f")
            #expect(text == "queued")
            running.cancel()
            _ = try? await running.value
            await queue.close()
        }
    }
}
