import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// The observance of Retry-After: every kind of transfer × every request of it that may be refused.
///
/// The server refuses one kind of request with 503 and an hour to wait. The job reports a wait of about that length,
/// and the request is not repeated. Webhooks have the same rule in `HookQueueTests`.
@Suite(.timeLimit(.minutes(1))) struct RetryAfterMatrixTests {
    let folder: TemporaryFolder
    private static let count = 6 << 20

    init() throws {
        folder = try TemporaryFolder("retry-after")
        try folder.write(count: Self.count, seed: 60, to: "f")
    }

    enum Way: String, Sendable, CaseIterable {
        case get, put, post, tus, draft, upgrade, s3, webDAV, copySource, copyDestination
    }

    struct Cell: Sendable, CustomTestStringConvertible {
        let way: Way
        let method: String
        /// A part of the query string of the requests that are refused.
        var query: String?
        /// The method of the request that breaks off first, so that the client makes the other request.
        var cut: String?
        var isLostAnswer = false

        var testDescription: String { "\(way) \(method) \(query ?? "")\(cut.map { " after a cut \($0)" } ?? "")" }

        func concerns(_ head: RequestHead) -> Bool {
            if way == .copySource, head.path != "/x" { return false }
            if way == .copyDestination, head.path == "/x" { return false }
            guard head.method == method else { return false }
            // The first request of a file has no range.
            if way == .get || way == .copySource, cut != nil, head.range == nil { return false }
            return query.map { head.query?.contains($0) == true } ?? true
        }
    }

    static let cells: [Cell] = [
        Cell(way: .get, method: "GET"), Cell(way: .get, method: "GET", cut: "GET"),
        Cell(way: .put, method: "PUT"), Cell(way: .put, method: "HEAD", cut: "PUT", isLostAnswer: true),
        Cell(way: .webDAV, method: "MKCOL"),
        Cell(way: .tus, method: "POST"), Cell(way: .tus, method: "PATCH"),
        Cell(way: .tus, method: "HEAD", cut: "PATCH"),
        Cell(way: .draft, method: "POST"), Cell(way: .draft, method: "PATCH", cut: "POST"),
        Cell(way: .draft, method: "HEAD", cut: "PATCH"), Cell(way: .upgrade, method: "HEAD", cut: "POST"),
        Cell(way: .s3, method: "POST", query: "uploads="), Cell(way: .s3, method: "PUT", query: "partNumber="),
        Cell(way: .s3, method: "POST", query: "uploadId="), Cell(way: .copySource, method: "GET"),
        Cell(way: .copySource, method: "GET", cut: "GET"), Cell(way: .copyDestination, method: "PUT"),
    ]

    @Test(arguments: cells) func theTimeThatAServerAsksForIsWaited(_ cell: Cell) async throws {
        try await withTestServer { server in
            let job = prepare(cell, server)
            if let method = cell.cut {
                let fault: Fault =
                    cell.isLostAnswer
                    ? .loseAnswer : method == "GET" ? .cut(after: 1 << 20) : .cutUpload(after: 1 << 20)
                server.script("cut", for: { $0.method == method && $0.range == nil }, [fault])
            }
            server.script(
                "busy", for: { cell.concerns($0) }, [],
                afterwards: .status(503, headers: ["Retry-After": "3600"]))
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                let staged = try await queue.stage([job])
                let run = Task { try await queue.run([staged]) }
                try await log.wait { event in
                    switch event.kind {
                    case .retrying(_, let delay, _): delay > .seconds(3500)
                    case .waiting(_, .host(_, _, _, let remaining, _)),
                        .batchWaiting(.host(_, _, _, let remaining, _), _):
                        remaining > .seconds(3500)
                    default: false
                    }
                }
                queue.stop()
                _ = try await run.value
            }
            let refused = server.requests.filter { cell.concerns($0.head) }
            #expect(refused.count == 1, "\(server.requests.map { "\($0.method) \($0.target)" })")
        }
    }

    private func prepare(_ cell: Cell, _ server: TestServer) -> JobSpec {
        let source = folder.path("f")
        server.serve("/x", .random(seed: 2, count: Int64(Self.count)), etag: "\"1\"")
        switch cell.way {
        case .get: return Sample.download(server.url("/x"), to: folder.path("x"))
        case .put, .post, .webDAV:
            server.acceptUploads("/in*")
            var job = Sample.upload(source, to: server.url("/in/a/f"), protocol: cell.way == .post ? .post : .put)
            if case .upload(var upload) = job.work, cell.way == .webDAV {
                upload.options.createFolders = true
                job.work = .upload(upload)
                server.handle("PUT", "/in*") { _ in Response(status: 409) }
            }
            return job
        case .tus:
            server.serve("/files*", TusService(endpoint: "/files"))
            return Sample.upload(source, to: server.url("/files"), protocol: .tus)
        case .draft, .upgrade:
            server.serve("/*", ResumableService())
            return Sample.upload(source, to: server.url("/in/f"), protocol: cell.way == .draft ? .resumable : .post)
        case .s3:
            server.serve("/b*", ObjectStore())
            var job = Sample.upload(source, to: "s3://b/f", protocol: .s3)
            if case .upload(var upload) = job.work {
                (upload.options.chunkSize, upload.options.parallel) = (5 << 20, 1)
                job.work = .upload(upload)
            }
            var access = JobSettings.S3Access()
            (access.endpoint, access.region, access.style) = (server.url(""), "us-east-1", .path)
            (access.accessKey, access.secretKey) = (.literal("key"), .literal("secret"))
            job.settings.s3 = access
            return job
        case .copySource, .copyDestination:
            server.acceptUploads("/in*")
            let from = CopySource(
                JobSpec.Download(urls: [server.url("/x")], destination: ""), settings: Sample.quick)
            return JobSpec(
                id: "c", work: .upload(JobSpec.Upload(from: from, url: server.url("/in/f"), uploadProtocol: .put)),
                settings: Sample.quick)
        }
    }
}
