import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Tasks and metrics of failed requests", .timeLimit(.minutes(1)))
struct RequestMetricsTests {
    @Test(arguments: ["gopher://127.0.0.1/x", "http://127.0.0.1:1/x", "http://nobody.invalid/x"])
    func aRequestThatFailsBeforeAConnectionHasMetricsAndATask(url: String) async throws {
        let folder = try TemporaryFolder("metrics")
        let session = makeSession(folder)
        let data = session.request(url)
        let response = await data.serializingData().response
        #expect(response.metrics?.transactionMetrics.count == 1)
        #expect(data.tasks.count == 1 && data.task?.error is URLError && data.task?.state == .completed)
        let download = session.download(url)
        let file = await download.serializingData().response
        #expect(file.metrics?.transactionMetrics.count == 1)
        #expect(download.task is URLSessionDownloadTask)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func anUnsupportedURLIsTheFailureOfATask() async throws {
        let recorder = EventRecorder()
        var settings = SessionSettings()
        settings.eventMonitors = [recorder]
        let error = await Session(settings).request("gopher://127.0.0.1/x").serializingData().response.error
        #expect(URLError.code(of: error) == .unsupportedURL)
        await recorder.until("didParse Data")
        #expect(
            recorder.story == [
                "didResume", "didCreateInitialURLRequest", "didCreateURLRequest", "didCreateTask", "didResumeTask",
                "didFinishCollectingMetrics", "didGatherMetrics", "didComplete", "didCompleteTask", "didFinish",
                "didParse Data",
            ])
        #expect(recorder.all("didCreateTask").count == 1)
        #expect(recorder.all("didResumeTask").count == 1)
        #expect(recorder.all("didGatherMetrics").count == 1)
        #expect(recorder.all("didCompleteTask").count == 1)
    }

    @Test func aCacheOnlyMissHasAFailedTaskToo() async throws {
        var request = URLRequest(url: URL(string: "http://127.0.0.1:1/x")!)
        request.cachePolicy = .returnCacheDataDontLoad
        let made = makeSession().request(request)
        let response = await made.serializingData().response
        #expect(URLError.code(of: response.error) == .resourceUnavailable)
        #expect((made.task?.error as? URLError)?.code == .resourceUnavailable)
        #expect(response.metrics != nil)
    }

    @Test func aHundredRequestsToOneHostAreAHundredTasksAtOnce() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .holdHead)
            let recorder = EventRecorder()
            var settings = SessionSettings()
            settings.loops = 1
            settings.eventMonitors = [recorder]
            let session = Session(settings)
            let requests = (0..<100).map { _ in
                session.request(server.url("/x")).response(queue: testQueue) { _ in }
            }
            for _ in 0..<100 { await recorder.until("didResumeTask") }
            #expect(recorder.all("didCreateTask").count == 100)
            #expect(Set(requests.compactMap { $0.task?.taskIdentifier }).count == 100)
            #expect(requests.allSatisfy { $0.task?.state == .running })
            let tasks = await withCheckedContinuation { continuation in
                session.session.getAllTasks { continuation.resume(returning: $0.count) }
            }
            #expect(tasks == 100)
            // Requests that wait for a connection end with metrics too.
            for request in requests { request.cancel() }
            for _ in 0..<100 { await recorder.until("didFinish") }
            #expect(recorder.all("didCancelTask").count == 100)
            #expect(recorder.all("didCompleteTask").count == 100)
            #expect(requests.allSatisfy { $0.metrics != nil })
        }
    }

    @Test func tasksOfASessionAreReportedByKind() async throws {
        let folder = try TemporaryFolder("tasks")
        try await withTestServer { server async throws in
            server.script("/x", [], afterwards: .holdHead)
            let session = makeSession(folder)
            session.request(server.url("/x")).response(queue: testQueue) { _ in }
            session.download(server.url("/x")).response(queue: testQueue) { _ in }
            session.upload(Data("x".utf8), to: server.url("/x")).response(queue: testQueue) { _ in }
            try await server.waitForHeld(3)
            let counts = await withCheckedContinuation { continuation in
                session.session.getTasksWithCompletionHandler { data, uploads, downloads in
                    continuation.resume(returning: [data.count, uploads.count, downloads.count])
                }
            }
            #expect(counts == [1, 1, 1])
            await withCheckedContinuation { continuation in
                session.cancelAllRequests(completingOnQueue: testQueue) { continuation.resume() }
            }
        }
    }

    @Test func theErrorOfADownloadThatCanBeContinuedHasItsResumeData() async throws {
        let folder = try TemporaryFolder("resume")
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 5, count: 200_000), etag: "\"1\"")
            server.script("/x", [.cut(after: 100_000)])
            let response = await makeSession(folder).download(server.url("/x")).serializingData().response
            let data = try #require(response.error?.downloadResumeData)
            #expect(data == response.resumeData)
        }
    }
}
