import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Downloads that fail", .timeLimit(.minutes(1)))
struct RefusedDownloadTests {
    private let temporary: TemporaryFolder
    private let places: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder("temporary")
        places = try TemporaryFolder("places")
    }

    private var leftOver: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: temporary.path) }
    }

    @Test func aRefusedDownloadDoesNotReplaceAFile() async throws {
        try await withTestServer { server async throws in
            server.script("/f", [], afterwards: .status(404, body: .text("an error page")))
            let good = URL(fileURLWithPath: try places.write("good", to: "file"))
            let seen = Calls<String>()
            let response = await makeSession(temporary).download(
                server.url("/f"), to: DownloadRequest.destination(good, options: .removePreviousFile)
            )
            .validate { _, _, url in
                seen.add((url.flatMap { try? String(contentsOf: $0, encoding: .utf8) }) ?? "nothing")
                return .success(())
            }
            .validate().serializingString().response
            #expect(response.error?.responseCode == 404)
            #expect(response.fileURL == nil)
            #expect(seen.all == ["an error page"])
            #expect(try places.text("file") == "good")
            #expect(try leftOver.isEmpty)
        }
    }

    @Test func theRequestItselfNamesTheFileToItsValidators() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", .text("content"))
            let request = makeSession(temporary).download(server.url("/f"))
            let same = Calls<Bool>()
            request.validate { [weak request] _, _, url in
                same.add(url != nil && request?.fileURL == url)
                return .success(())
            }
            let response = await request.serializingString().response
            #expect(response.value == "content")
            #expect(same.all == [true])
        }
    }

    @Test func anAcceptedDownloadReplacesAFile() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", .text("new"))
            let target = URL(fileURLWithPath: try places.write("old", to: "file"))
            let response = await makeSession(temporary).download(
                server.url("/f"), to: DownloadRequest.destination(target, options: .removePreviousFile)
            ).validate().serializingString().response
            #expect(response.value == "new" && response.fileURL == target)
            #expect(try places.text("file") == "new")
        }
    }

    @Test(arguments: [true, false])
    func anUnresumableFailureLeavesNothing(validates: Bool) async throws {
        try await withTestServer { server async throws in
            server.serve("/cut", .random(seed: 1, count: 200_000))
            server.script("/cut", [], afterwards: .cut(after: 100_000))
            server.script("/gone", [], afterwards: .status(404, body: .text("gone")))
            for path in validates ? ["/cut", "/gone"] : ["/cut"] {
                let download = makeSession(temporary).download(server.url(path))
                if validates { download.validate() }
                let response = await download.serializingData().response
                #expect(response.error != nil && response.resumeData == nil)
                #expect(try leftOver.isEmpty, "\(path)")
            }
        }
    }

    @Test func aCancellationWhileTheRulesAreLookedAtLeavesNothing() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", .text("file"))
            let target = URL(fileURLWithPath: places.path("file"))
            for _ in 0..<100 {
                let download = makeSession(temporary).download(
                    server.url("/f"), to: DownloadRequest.destination(target))
                download.validate { [weak download] _, _, _ in
                    download?.cancel()
                    return .success(())
                }
                let response = await download.serializingData().response
                #expect(response.error?.isExplicitlyCancelledError == true)
            }
            #expect(!FileManager.default.fileExists(atPath: target.path))
            #expect(try leftOver.isEmpty)
        }
    }

    /// The results of the rules are reported before the completion of the task, as for other requests.
    @Test func monitorsReceiveTheUsualOrder() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", .text("file"))
            let recorder = EventRecorder()
            var settings = SessionSettings()
            settings.temporaryFolder = temporary.path
            settings.eventMonitors = [recorder]
            _ = await Session(settings).download(server.url("/f")).validate(statusCode: 200..<300)
                .serializingData().response
            await recorder.until("didFinish")
            let story = recorder.story
            let order = [
                "didCreateDestinationURL", "didFinishDownloadingTo", "didFinishDownloading", "didValidate",
                "didCompleteTask", "didFinish",
            ]
            #expect(story.filter(order.contains) == order)
        }
    }
}
