import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Downloads that are suspended for longer than the session's limit.
@Suite("Long suspensions of downloads")
struct SuspensionTests {
    private let folder: TemporaryFolder
    private let content = Content.random(seed: 11, count: 600_000)
    private let half: Int64 = 300_000

    init() throws { folder = try TemporaryFolder("suspension") }

    private func makeSession(limit: Duration?, monitor: (any EventMonitor)? = nil) -> Session {
        var settings = SessionSettings()
        settings.loops = 1
        settings.suspensionLimit = limit
        settings.temporaryFolder = folder.path
        settings.eventMonitors = [monitor].compactMap { $0 }
        return Session(settings)
    }

    /// Starts a download, and waits until half of it has come and the server stalls.
    private func halfWay(
        _ session: Session, _ server: TestServer, method: HTTPMethod = .get
    ) async throws -> (request: DownloadRequest, task: DownloadTask<URL>) {
        server.script("/f", [.stall(after: half)])
        let there = Calls<Int64>()
        let request = session.download(server.url("/f"), method: method, parameters: nil as Parameters?)
            .downloadProgress(queue: testQueue) { there.add($0.completedUnitCount) }
        let task = request.serializingDownloadedFileURL()
        _ = await there.first { $0 == half }
        return (request, task)
    }

    private func expectContent(
        _ task: DownloadTask<URL>, of expected: Content? = nil, location: SourceLocation = #_sourceLocation
    ) async throws {
        let path = try await task.value.path
        let difference = try (expected ?? content).firstDifference(fromFileAt: path)
        #expect(difference == nil, sourceLocation: location)
    }

    @Test func theConnectionIsClosedAndTheRestAskedForOnResume() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let session = makeSession(limit: .milliseconds(20))
            let (request, task) = try await halfWay(session, server)
            request.suspend()
            try await server.waitForConnections(closed: 1)
            #expect(request.isSuspended)
            #expect(server.requests.count == 1)
            request.resume()
            try await expectContent(task)
            #expect(server.requests.count == 2)
            #expect(server.requests.last?.range == "bytes=\(half)-")
            #expect(server.requests.last?.ifRange == "\"1\"")
            #expect(request.retryCount == 0)
            #expect(request.error == nil)
            #expect(request.isFinished)
        }
    }

    @Test func resumingBeforeTheConnectionIsClosedContinuesTheTransfer() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            // The timer and the resumption meet in any order.
            for pause in 0..<20 {
                let session = makeSession(limit: .milliseconds(1))
                let (request, task) = try await halfWay(session, server)
                request.suspend()
                for _ in 0..<pause * 20 { await Task.yield() }
                request.resume()
                server.release()
                try await expectContent(task)
                #expect(request.retryCount == 0)
                #expect(request.isFinished)
            }
        }
    }

    @Test func aResumptionBeforeTheLimitKeepsTheConnection() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let session = makeSession(limit: .seconds(600))
            let (request, task) = try await halfWay(session, server)
            request.suspend()
            request.resume()
            server.release()
            try await expectContent(task)
            #expect(server.requests.count == 1)
            #expect(server.connectionCount == 1)
        }
    }

    /// The limit of an earlier suspension has no effect on a later one.
    @Test func everySuspensionHasItsOwnLimit() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let session = makeSession(limit: .milliseconds(300))
            let (request, task) = try await halfWay(session, server)
            let begin = ContinuousClock.now
            request.suspend().resume()
            try await untilRootQueue(of: session, is: .milliseconds(200), after: begin)
            request.suspend()
            let again = ContinuousClock.now
            try await server.waitForConnections(closed: 1)
            #expect(ContinuousClock.now - again >= .milliseconds(290))
            request.resume()
            try await expectContent(task)
        }
    }

    /// Waits for a time on the queue that runs the timers.
    private func untilRootQueue(
        of session: Session, is pause: Duration, after begin: ContinuousClock.Instant
    ) async throws {
        await withCheckedContinuation { continuation in
            session.rootQueue.asyncAfter(deadline: .now() + .milliseconds(200)) { continuation.resume() }
        }
        #expect(ContinuousClock.now - begin >= pause)
    }

    @Test(arguments: [nil, "W/\"1\""] as [String?])
    func withoutAStrongValidatorTheConnectionStays(etag: String?) async throws {
        try await withTestServer { server async throws in
            server.serve("/f", ServedFile(content, etag: etag))
            let session = makeSession(limit: .milliseconds(5))
            let (request, task) = try await halfWay(session, server)
            request.suspend()
            await timersArePast(session)
            #expect(server.openConnections == 1)
            request.resume()
            server.release()
            try await expectContent(task)
            #expect(server.requests.count == 1)
        }
    }

    @Test func withoutALimitTheConnectionStays() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let session = makeSession(limit: nil)
            let (request, task) = try await halfWay(session, server)
            request.suspend()
            await timersArePast(session)
            request.resume()
            server.release()
            try await expectContent(task)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aDownloadByPOSTIsNotRequestedAgain() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            server.handle("POST", "/f") { [content] _ in Response(headers: ["ETag": "\"1\""], body: content) }
            let session = makeSession(limit: .milliseconds(5))
            let (request, task) = try await halfWay(session, server, method: .post)
            request.suspend()
            await timersArePast(session)
            request.resume()
            server.release()
            try await expectContent(task)
            #expect(server.requests.count == 1)
        }
    }

    /// Waits until the due timers of the root queue have run, with a margin.
    private func timersArePast(_ session: Session) async {
        await withCheckedContinuation { continuation in
            session.rootQueue.asyncAfter(deadline: .now() + .milliseconds(60)) { continuation.resume() }
        }
    }

    @Test func aDownloadCancelledWhileParkedKeepsItsBytes() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let session = makeSession(limit: .milliseconds(5))
            let (request, task) = try await halfWay(session, server)
            request.suspend()
            try await server.waitForConnections(closed: 1)
            request.cancel(producingResumeData: true)
            let response = await task.response
            #expect(response.error?.isExplicitlyCancelledError == true)
            let data = try #require(response.resumeData)
            let resumed = session.download(resumingWith: data).serializingDownloadedFileURL()
            try await expectContent(resumed)
            #expect(server.requests.last?.range == "bytes=\(half)-")
        }
    }

    @Test func aDownloadCancelledWhileParkedLeavesNoFile() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let (request, task) = try await halfWay(makeSession(limit: .milliseconds(5)), server)
            request.suspend()
            try await server.waitForConnections(closed: 1)
            request.cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
            #expect(request.resumeData == nil)
            let left = try folder.files()
            #expect(left.isEmpty)
        }
    }

    @Test func aFileThatChangedMeanwhileStartsAgainAndIsNeverMixed() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let (request, task) = try await halfWay(makeSession(limit: .milliseconds(5)), server)
            request.suspend()
            try await server.waitForConnections(closed: 1)
            let other = Content.random(seed: 12, count: 600_000)
            server.serve("/f", other, etag: "\"2\"")
            request.resume()
            try await expectContent(task, of: other)
            #expect(request.retryCount == 0)
        }
    }

    @Test func aDownloadIsParkedAsOftenAsItIsSuspended() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let session = makeSession(limit: .milliseconds(5))
            let points: [Int64] = [100_000, 250_000, 400_000]
            // Each stall is counted from the first byte of its own answer.
            server.script("/f", [.stall(after: 100_000), .stall(after: 150_000), .stall(after: 150_000)])
            let there = Calls<Int64>()
            let request = session.download(server.url("/f"))
                .downloadProgress(queue: testQueue) { there.add($0.completedUnitCount) }
            let task = request.serializingDownloadedFileURL()
            for (index, point) in points.enumerated() {
                _ = await there.first { $0 == point }
                request.suspend()
                try await server.waitForConnections(closed: index + 1)
                request.resume()
            }
            try await expectContent(task)
            let ranges = server.requests.map(\.range)
            #expect(ranges == [nil, "bytes=100000-", "bytes=250000-", "bytes=400000-"])
            #expect(request.retryCount == 0)
            #expect(request.tasks.count == 4)
        }
    }

    @Test func noHandlerIsCalledWhileItIsParked() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let session = makeSession(limit: .milliseconds(5))
            let (request, task) = try await halfWay(session, server)
            let calls = Calls<Int>()
            request.response(queue: testQueue) { _ in calls.add(1) }
            request.suspend()
            try await server.waitForConnections(closed: 1)
            await timersArePast(session)
            testQueue.sync {}
            #expect(calls.all.isEmpty)
            request.resume()
            try await expectContent(task)
            #expect(await calls.first() == 1)
            testQueue.sync {}
            #expect(calls.all.count == 1)
        }
    }
}
