import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Resuming downloads")
struct ResumeTests {
    let folder: TemporaryFolder
    let content = Content.random(seed: 7, count: 600_000)
    let other = Content.random(seed: 8, count: 600_000)

    init() throws { folder = try TemporaryFolder("resume") }

    /// Returns the resume data of a download that was cancelled after `bytes`.
    private func interrupted(
        _ server: TestServer, after bytes: Int64 = 300_000, _ fault: Fault = .none
    ) async throws -> Data {
        server.script("/f", [fault.and(.stall(after: bytes))])
        let there = Calls<Int64>()
        let request = makeSession(folder).download(server.url("/f"), headers: ["X-Team": "media"])
            .downloadProgress(queue: testQueue) { there.add($0.completedUnitCount) }
        let task = request.serializingDownloadedFileURL()
        _ = await there.first { $0 == bytes }
        request.cancel(producingResumeData: true)
        let response = await task.response
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(response.resumeData == request.resumeData)
        return try #require(response.resumeData)
    }

    private func resumed(_ data: Data) async -> AFDownloadResponse<URL> {
        await makeSession(folder).download(resumingWith: data).serializingDownloadedFileURL().response
    }

    private func expect(
        _ response: AFDownloadResponse<URL>, has content: Content, location: SourceLocation = #_sourceLocation
    ) throws {
        let path = try response.result.get().path
        let difference = try content.firstDifference(fromFileAt: path)
        #expect(difference == nil, sourceLocation: location)
    }

    @Test func anotherSessionResumesWhereTheFirstWasCancelled() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let response = await resumed(try await interrupted(server))
            try expect(response, has: content)
            #expect(response.response?.statusCode == 206)
            let second = try #require(server.requests.last)
            #expect(second.range == "bytes=300000-")
            #expect(second.ifRange == "\"1\"")
            #expect(second.headers["X-Team"] == "media")
            #expect(server.requests.count == 2)
        }
    }

    @Test func resumeDataIsHandedToTheOneWhoCancels() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            server.script("/f", [.stall(after: 300_000)])
            let there = Calls<Void>()
            let request = makeSession(folder).download(server.url("/f"))
                .downloadProgress(queue: testQueue) { if $0.completedUnitCount == 300_000 { there.add(()) } }
            request.response(queue: testQueue) { _ in }
            await there.first()
            let data = Calls<Data?>()
            request.cancel { data.add($0) }
            let first = await data.first() ?? nil
            #expect(first != nil)
            request.cancel { data.add($0) }
            #expect(await data.first() == first)
            try expect(await resumed(try #require(first)), has: content)
        }
    }

    @Test func thereIsNoResumeDataBeforeTheStart() async {
        let data = Calls<Data?>()
        makeSession(folder).download("http://127.0.0.1/").cancel { data.add($0) }
        #expect(await data.first() == .some(nil))
    }

    /// However the server shows a changed file, the result is the complete new file.
    @Test(arguments: ["changed tag", "ignored range", "tag ignored by the server", "416"])
    func aChangedFileIsNeverMixed(how: String) async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let data = try await interrupted(server)
            server.serve("/f", other, etag: "\"2\"")
            switch how {
            case "ignored range": server.script("/f", [.ignoreRange])
            case "tag ignored by the server": server.script("/f", [.serveRange(300_000..<600_000)])
            case "416": server.script("/f", [.rangeNotSatisfiable])
            default: break
            }
            let response = await resumed(data)
            try expect(response, has: other)
        }
    }

    @Test func aFileThatShrankIsFetchedAnew() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let data = try await interrupted(server)
            server.serve("/f", .text("short"), etag: "\"2\"")
            try expect(await resumed(data), has: .text("short"))
        }
    }

    @Test func aLostConnectionLeavesResumeDataToo() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            server.script("/f", [.cut(after: 100_000)])
            let failed = await makeSession(folder).download(server.url("/f")).serializingDownloadedFileURL().response
            #expect(failed.error?.isSessionTaskError == true)
            let response = await resumed(try #require(failed.resumeData))
            try expect(response, has: content)
            #expect(server.requests.last?.range == "bytes=100000-")
        }
    }

    @Test func aRetryResumesFromThePartialFile() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            server.script("/f", [.cut(after: 100_000), .status(503), .cut(after: 200_000)])
            let request = makeSession(folder).download(
                server.url("/f"), interceptor: RetryPolicy(retryLimit: 5, exponentialBackoffScale: 0.001)
            ).validate()
            let url = try await request.serializingDownloadedFileURL().value
            #expect(try content.firstDifference(fromFileAt: url.path) == nil)
            #expect(server.requests.map(\.range) == [nil, "bytes=100000-", "bytes=100000-", "bytes=300000-"])
            #expect(request.retryCount == 3)
        }
    }

    @Test func aRetryAfterTheFileChangedEndsWithTheNewOne() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let shorter = Content.random(seed: 9, count: 90_000)
            server.script("/f", [.cut(after: 100_000), .replace(with: ServedFile(shorter, etag: "\"2\""))])
            let url = try await makeSession(folder).download(
                server.url("/f"), interceptor: RetryPolicy(exponentialBackoffScale: 0.001)
            ).serializingDownloadedFileURL().value
            #expect(try shorter.firstDifference(fromFileAt: url.path) == nil)
        }
    }

    @Test(arguments: [nil, "W/\"weak\""])
    func withoutAStrongValidatorThereIsNoResumeData(etag: String?) async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: etag)
            server.script("/f", [.cut(after: 100_000)])
            let failed = await makeSession(folder).download(server.url("/f")).serializingDownloadedFileURL().response
            #expect(failed.error != nil)
            #expect(failed.resumeData == nil)
            #expect(try folder.files() == [])
        }
    }

    @Test func aPartialFileThatIsGoneMeansANewStart() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let data = try await interrupted(server)
            for file in try folder.files() { try FileManager.default.removeItem(atPath: folder.path(file)) }
            let response = await resumed(data)
            try expect(response, has: content)
            #expect(server.requests.last?.range == nil)
        }
    }

    @Test func aPartialFileOfAnotherSizeWithoutARecordIsNotTrusted() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let data = try await interrupted(server)
            let path = try #require(DownloadResumption(data).resume.partialFile)
            // Another process has restarted the file: other bytes, another inode, and no record.
            try FileManager.default.removeItem(atPath: path)
            try Data(other.bytes(in: 0..<123_456)).write(to: URL(fileURLWithPath: path))
            let response = await resumed(data)
            try expect(response, has: content)
        }
    }

    @Test func aRefusalKeepsThePartialFileAndItsResumeData() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let data = try await interrupted(server)
            server.script("/f", [.status(403, body: .text("no"))])
            let refused = await resumed(data)
            #expect(refused.error?.responseCode == 403)
            #expect(refused.response?.statusCode == 403)
            let response = await resumed(try #require(refused.resumeData))
            try expect(response, has: content)
            #expect(server.requests.last?.range == "bytes=300000-")
        }
    }

    @Test func aDownloadIsCompleteWhenEveryByteWasThere() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let data = try await interrupted(server, after: 600_000, .chunked())
            let response = await makeSession(folder).download(resumingWith: data).validate()
                .serializingDownloadedFileURL().response
            try expect(response, has: content)
        }
    }

    @Test func invalidResumeDataFailsTheRequest() async {
        let response = await makeSession(folder).download(resumingWith: Data("x".utf8)).serializingDownloadedFileURL()
            .response
        guard case .createURLRequestFailed(let error) = response.error else {
            Issue.record("\(String(describing: response.error))")
            return
        }
        #expect((error as? TransferError)?.code == .invalidResumeData)
    }

    @Test func progressOfAResumedDownloadCountsTheWholeFile() async throws {
        try await withTestServer { server async throws in
            server.serve("/f", content, etag: "\"1\"")
            let data = try await interrupted(server)
            let calls = Calls<Int64>()
            let request = makeSession(folder).download(resumingWith: data)
                .downloadProgress(queue: testQueue) { calls.add($0.completedUnitCount) }
            let response = await request.serializingDownloadedFileURL().response
            #expect(response.error == nil)
            #expect(await calls.first { $0 == 600_000 } == 600_000)
            let isOfTheWhole = calls.all.allSatisfy { $0 == 0 || $0 >= 300_000 }
            #expect(isOfTheWhole)
        }
    }
}
