import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// The bound on requests: at most 60 a minute without progress, for every answer of a server.
///
/// A job's default rule makes at most seven attempts in a minute (see ``RetryRuleRateTests`` of the core), so an
/// attempt may have eight requests. Each cell is a server with one permanent answer, and a job with two attempts.
@Suite(.timeLimit(.minutes(1))) struct RequestRateTests {
    let folder: TemporaryFolder
    private static let count = 300_000
    private static let requestsOfAnAttempt = 8
    private static let attempts = 2

    init() throws {
        folder = try TemporaryFolder("rates")
        try folder.write(count: Self.count, seed: 50, to: "f")
    }

    struct Cell: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The largest number of requests of one attempt; a lasting failure has only one.
        var most = RequestRateTests.requestsOfAnAttempt
        var job: @Sendable (TestServer, TemporaryFolder) -> JobSpec

        init(
            _ name: String, most: Int = RequestRateTests.requestsOfAnAttempt,
            _ job: @escaping @Sendable (TestServer, TemporaryFolder) -> JobSpec
        ) {
            (testDescription, self.most, self.job) = (name, most, job)
        }
    }

    @Test(arguments: downloads + uploads + tus + resumable + s3 + copies) func anAttemptWithoutProgressHasFewRequests(
        _ cell: Cell
    ) async throws {
        try await withTestServer { server in
            var job = cell.job(server, folder)
            job.settings.retry = Sample.retries(Self.attempts - 1).retry
            try await withQueue(folder) { queue in
                let totals = try await queue.complete([job])
                #expect(totals.failed == 1 && totals.completed == 0)
            }
            let log = server.requests.map { "\($0.method) \($0.target) \($0.headers["Range"] ?? "")" }
            #expect(!log.isEmpty && log.count <= cell.most * Self.attempts, "\(log)")
        }
    }

    // MARK: Downloads

    private static func get(_ name: String, most: Int = requestsOfAnAttempt, _ fault: Fault) -> Cell {
        Cell(name, most: most) { server, folder in
            server.serve("/x", .random(seed: 1, count: 1_000_000), etag: "\"1\"")
            server.script("/x", [], afterwards: fault)
            return Sample.download(server.url("/x"), to: folder.path("x"))
        }
    }

    private static func parts(_ name: String, _ fault: Fault) -> Cell {
        Cell(name) { server, folder in
            server.serve("/x", .random(seed: 1, count: 1_000_000), etag: "\"1\"")
            server.script("/x", [.cut(after: 1000)], afterwards: fault)
            return Sample.download(server.url("/x"), to: folder.path("x"))
        }
    }

    static let downloads: [Cell] = [
        get("a circle of one redirect", most: 11, .redirect(to: "/x")),
        // One attempt makes all of these requests, and no attempt follows.
        Cell("redirects without an end", most: 11) { server, folder in
            server.handle("GET", "/r/*") { request in
                Response(status: 302, headers: ["Location": request.path + "x"])
            }
            return Sample.download(server.url("/r/x"), to: folder.path("x"))
        },
        get("1xx without an end", .interim(103, count: 5000)),
        get("the end behind the head", .cut(after: 0)), get("a byte of each answer", .cut(after: 1)),
        get("a KiB of each answer", .cut(after: 1024)), get("nothing", .closeBeforeHead),
        get("408", .status(408)), get("421", .status(421)), get("425", .status(425)), get("429", .status(429)),
        get("a challenge each time", .status(401, headers: ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\""])),
        get("a head without an end", .oversizedHeaders(2 << 20)),
        parts("an empty 206", .status(206, headers: ["Content-Range": "bytes 1000-999999/1000000", "ETag": "\"1\""])),
        parts("a 206 of nothing", .status(206, headers: ["ETag": "\"1\""])), parts("416", .rangeNotSatisfiable),
        parts("a 206 of a byte", .serveRange(1000..<1001)),
    ]

    // MARK: Uploads

    private static func put(_ name: String, most: Int = requestsOfAnAttempt, _ fault: Fault) -> Cell {
        Cell(name, most: most) { server, folder in
            server.acceptUploads("/in")
            server.script("/in", [], afterwards: fault)
            return Sample.upload(folder.path("f"), to: server.url("/in"))
        }
    }

    static let uploads: [Cell] = [
        put("PUT: a circle of redirects", most: 11, .redirect(to: "/in", status: 307)),
        put("PUT: 1xx without an end", .interim(103, count: 5000)), put("PUT: 503", .status(503)),
        put("PUT: 421", .status(421)), put("PUT: nothing", .closeBeforeHead),
        Cell("folders that are made and missing") { server, folder in
            server.handle("PUT", "/*") { _ in Response(status: 409) }
            server.handle("MKCOL", "/*") { _ in Response(status: 201) }
            var job = Sample.upload(folder.path("f"), to: server.url("/a/b/f"))
            if case .upload(var upload) = job.work {
                upload.options.createFolders = true
                job.work = .upload(upload)
            }
            return job
        },
    ]

    private static func tusCell(_ name: String, _ patch: Response) -> Cell {
        Cell("tus: \(name)") { server, folder in
            let version = ("Tus-Resumable", "1.0.0")
            server.handle("POST", "/files") { _ in
                Response(status: 201, headers: [version.0: version.1, "Location": "/files/u"])
            }
            server.handle("HEAD", "/files/u") { _ in
                Response(
                    headers: [version.0: version.1, "Upload-Offset": "0", "Upload-Length": "\(count)"])
            }
            server.handle("PATCH", "/files/u") { _ in
                var response = patch
                response.headers[version.0] = version.1
                return response
            }
            return Sample.upload(folder.path("f"), to: server.url("/files"), protocol: .tus)
        }
    }

    static let tus: [Cell] = [
        tusCell("no byte of each PATCH", Response(status: 204, headers: ["Upload-Offset": "0"])),
        tusCell("a byte of each PATCH", Response(status: 204, headers: ["Upload-Offset": "1"])),
        tusCell("no offset", Response(status: 204)), tusCell("another offset", Response(status: 409)),
        tusCell("locked", Response(status: 423)), tusCell("gone", Response(status: 404)),
        tusCell("a wrong sum", Response(status: 460)), tusCell("too much", Response(status: 413)),
    ]

    private static func draft(_ name: String, _ patch: Response) -> Cell {
        Cell("the draft: \(name)") { server, folder in
            let version = ("Upload-Draft-Interop-Version", "8")
            server.handle("POST", "/in") { _ in
                Response(
                    status: 201,
                    headers: [version.0: version.1, "Location": "/u", "Upload-Offset": "0", "Upload-Complete": "?0"])
            }
            server.handle("HEAD", "/u") { _ in
                Response(
                    status: 204,
                    headers: [
                        version.0: version.1, "Upload-Offset": "0", "Upload-Length": "\(count)",
                        "Upload-Complete": "?0",
                    ])
            }
            server.handle("PATCH", "/u") { _ in
                var response = patch
                response.headers[version.0] = version.1
                response.headers["Upload-Complete"] = "?0"
                return response
            }
            return Sample.upload(folder.path("f"), to: server.url("/in"), protocol: .resumable)
        }
    }

    static let resumable: [Cell] = [
        draft("no byte of each PATCH", Response(status: 204, headers: ["Upload-Offset": "0"])),
        draft("a byte of each PATCH", Response(status: 204, headers: ["Upload-Offset": "1"])),
        draft("no offset", Response(status: 204)), draft("another offset", Response(status: 409)),
        draft("gone", Response(status: 404)), draft("too much", Response(status: 413)),
    ]

    private static func s3Cell(
        _ name: String, part: Response = Response(headers: ["ETag": "\"1\""]),
        complete: Response = Response(status: 503)
    ) -> Cell {
        Cell("S3: \(name)") { server, folder in
            server.handle(nil, "/b/f") { request in
                let query = request.query ?? ""
                switch (request.method, query.contains("uploadId")) {
                case ("POST", false): return xml("<InitiateMultipartUploadResult><UploadId>u</UploadId>", "Initiate")
                case ("PUT", true): return part
                case ("POST", true): return complete
                case ("GET", true):
                    let marker = query.split(separator: "&").first { $0.hasPrefix("part-number-marker=") }
                    let next = (marker.flatMap { Int($0.dropFirst(19)) } ?? 0) + 1
                    return Response(
                        body: .text(
                            "<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>\(next)"
                                + "</NextPartNumberMarker></ListPartsResult>"))
                case ("DELETE", _): return Response(status: 204)
                default: return Response(status: 404)
                }
            }
            var job = Sample.upload(folder.path("large"), to: "s3://b/f", protocol: .s3)
            _ = try? folder.write(count: 6 << 20, seed: 51, to: "large")
            if case .upload(var upload) = job.work {
                // Each further part would be a request that advances the file.
                upload.options.chunkSize = 5 << 20
                upload.options.parallel = 1
                job.work = .upload(upload)
            }
            var access = JobSettings.S3Access()
            (access.endpoint, access.region, access.style) = (server.url(""), "us-east-1", .path)
            (access.accessKey, access.secretKey) = (.literal("key"), .literal("secret"))
            job.settings.s3 = access
            return job
        }
    }

    private static func xml(_ text: String, _ operation: String) -> Response {
        Response(body: .text("\(text)</\(operation)MultipartUploadResult>"))
    }

    private static func fault(_ status: Int, _ code: String) -> Response {
        Response(status: status, body: .text("<Error><Code>\(code)</Code></Error>"))
    }

    static let s3: [Cell] = [
        s3Cell("parts are refused", part: fault(503, "SlowDown")), s3Cell("pages of parts without an end"),
        s3Cell("parts are of no upload", part: fault(404, "NoSuchUpload")),
        s3Cell("the end is a 200 with an error", complete: fault(200, "InternalError")),
        s3Cell("the end is a 200 without words", complete: Response()),
    ]

    // MARK: Copies

    private static func copy(_ name: String, _ fault: Fault) -> Cell {
        Cell("copy: \(name)") { server, _ in
            server.serve("/x", .random(seed: 1, count: 10_000_000), etag: "\"1\"")
            server.script("/x", [], afterwards: fault)
            server.acceptUploads("/in")
            let source = CopySource(
                JobSpec.Download(urls: [server.url("/x")], destination: ""), settings: Sample.retries(1))
            return JobSpec(
                id: "c", work: .upload(JobSpec.Upload(from: source, url: server.url("/in"), uploadProtocol: .put)),
                settings: Sample.quick)
        }
    }

    static let copies: [Cell] = [
        copy("a KiB of each answer", .cut(after: 1024)), copy("nothing behind the head", .cut(after: 0)),
        copy("1xx without an end", .interim(103, count: 5000)),
    ]

    // MARK: FTP

    struct FTPCell: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var isUpload = false
        var command: String
        var fault: FTPScriptServer.Fault
    }

    @Test(
        arguments: [
            FTPCell(testDescription: "RETR is cut", command: "RETR", fault: .cut(after: 1000, reply: "426 cut")),
            FTPCell(testDescription: "REST is refused", command: "REST", fault: .reply("501 no")),
            FTPCell(testDescription: "RETR is short", command: "RETR", fault: .short(after: 1000)),
            FTPCell(testDescription: "421 to the login", command: "USER", fault: .reply("421 busy")),
            FTPCell(testDescription: "425 to EPSV", command: "EPSV", fault: .reply("425 no port")),
            FTPCell(
                testDescription: "STOR is cut", isUpload: true, command: "STOR", fault: .cut(after: 0, reply: "426 cut")
            ),
            FTPCell(testDescription: "RNTO is refused", isUpload: true, command: "RNTO", fault: .reply("450 busy")),
        ], [false, true])
    func anAttemptOverFTPWithoutProgressHasFewConversations(_ cell: FTPCell, _ ignoresOffsets: Bool) async throws {
        let server = try FTPScriptServer()
        defer { server.stop() }
        server.serve("/x", [UInt8](repeating: 7, count: 1_000_000))
        if ignoresOffsets { server.ignoreOffsets() }
        if cell.command == "REST" { server.script("RETR", [], afterwards: .cut(after: 1000, reply: "426 cut")) }
        server.script(cell.command, [], afterwards: cell.fault)
        var job =
            cell.isUpload
            ? Sample.upload(folder.path("f"), to: server.url("/in/f"))
            : Sample.download(server.url("/x"), to: folder.path("x"))
        if case .upload(var upload) = job.work {
            upload.uploadProtocol = .ftp
            job.work = .upload(upload)
        }
        job.settings.retry = Sample.retries(Self.attempts - 1).retry
        try await withQueue(folder) { queue in
            // Some of these servers have the whole file in the end, as the client finds a different method.
            _ = try await queue.complete([job])
        }
        // Only commands that move bytes, or would move them, count; the commands around them belong to one
        // conversation.
        let moves = server.commands.filter { ["RETR", "STOR", "APPE", "USER", "RNTO", "EPSV"].contains($0) }
        let limit = Self.requestsOfAnAttempt * Self.attempts
        for name in Set(moves) {
            #expect(moves.filter { $0 == name }.count <= limit, "\(server.commands)")
        }
    }
}
