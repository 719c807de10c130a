import Synchronization
import Testing
import TransferCore
import TransferCrypto
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine
@testable import TransferJobs
@testable import TransferQueue

/// Several connections never do worse than one: a server's answer to each further request × the number of connections.
///
/// The server gives the whole file to the first request, and the same wrong answer to each request with a range. The
/// file comes whole by the first connection, and the other connections cost few requests and few bytes.
@Suite(.timeLimit(.minutes(2))) struct SegmentRefusalTests {
    let folder: TemporaryFolder
    static let content = Content.random(seed: 36, count: 8 << 20)

    init() throws { folder = try TemporaryFolder("refusals") }

    static let answers: [(name: String, fault: Fault)] = [
        ("400", .status(400)), ("401", .status(401)), ("403", .status(403)), ("404", .status(404)),
        ("410", .status(410)), ("416", .rangeNotSatisfiable), ("429", .status(429)), ("500", .status(500)),
        ("503", .status(503)), ("a page", .status(200, headers: ["Content-Type": "text/html"], body: .text("<html>"))),
        ("an empty success", .status(204)), ("a redirect to nowhere", .status(302)),
        ("the whole file", .ignoreRange), ("no range", .missingContentRange), ("several ranges", .multipartRanges),
        ("another total", .contentRangeTotal(7 << 20)), ("another version", .changeETag("\"2\"")),
        ("a length that is not the range's", .contentLength(off: 4096)), ("a coded part", .gzip),
        ("a byte of each range", .cut(after: 1)), ("a range of a byte", .serveRange((4 << 20)..<((4 << 20) + 1))),
        ("nothing", .closeBeforeHead), ("a reset", .resetBeforeHead), ("garbage", .garbage()),
        (
            "two ranges",
            .garbage(
                Array(
                    ("HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Range: bytes 0-9/8388608\r\n"
                        + "Content-Range: bytes 4194304-4194313/8388608\r\nContent-Length: 10\r\n\r\n0123456789").utf8))
        ),
    ]

    private func job(_ url: String, _ segments: SegmentCount) -> JobSpec {
        JobSpec(
            work: .download(
                JobSpec.Download(urls: [url], destination: folder.path("x"), checksum: nil, segments: segments)),
            settings: Sample.quick)
    }

    @Test(arguments: answers, [SegmentCount.exactly(2), .exactly(8)]) func theFirstConnectionFetchesTheFile(
        _ answer: (name: String, fault: Fault), _ segments: SegmentCount
    ) async throws {
        let content = Self.content
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [.trickle(128 << 10, every: .milliseconds(10))])
            server.script("parts", for: { $0.range != nil }, [], afterwards: answer.fault)
            let bytes = try await withQueue(folder) { queue in
                let totals = try await queue.complete([job(server.url("/x"), segments)])
                #expect(totals.completed == 1)
                return totals.bytes
            }
            #expect(try content.firstDifference(fromFileAt: folder.path("x")) == nil)
            #expect(bytes < content.count * 2, "fetched in vain")
            // The bound is one request for each connection, and few more.
            #expect(server.requests.count <= 24, "\(server.requests.count) requests")
        }
    }

    /// Each request of the job's own URL is redirected to a new URL, which is valid for one request.
    @Test(arguments: [SegmentCount.exactly(4), .automatic]) func linksForOneRequestEachAreEnough(
        _ segments: SegmentCount
    ) async throws {
        let content = Self.content
        try await withTestServer { server in
            let count = Mutex(0)
            server.handle("GET", "/x") { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return Response(status: 302, headers: ["Location": "/one/\(number)"])
            }
            for number in 1...60 {
                server.serve("/one/\(number)", content, etag: "\"1\"")
                let first = number == 1 ? Fault.trickle(128 << 10, every: .milliseconds(10)) : .none
                server.script("/one/\(number)", [first], afterwards: .status(410))
            }
            try await withQueue(folder) { queue in
                let totals = try await queue.complete([job(server.url("/x"), segments)])
                #expect(totals.completed == 1)
            }
            #expect(try content.firstDifference(fromFileAt: folder.path("x")) == nil)
            #expect(server.requests.count <= 60)
        }
    }

    /// The first answer breaks off. A range request asks for the missing bytes, and the server refuses it.
    @Test(arguments: [400, 403, 405, 500, 503]) func aServerThatRefusesRangesIsAskedForTheWholeFile(
        _ status: Int
    ) async throws {
        let content = Self.content
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [.cut(after: 5 << 20)])
            server.script("parts", for: { $0.range != nil }, [], afterwards: .status(status))
            try await withQueue(folder) { queue in
                let totals = try await queue.complete([job(server.url("/x"), .exactly(1))])
                #expect(totals.completed == 1)
            }
            #expect(try content.firstDifference(fromFileAt: folder.path("x")) == nil)
            #expect(server.requests.count <= 8)
        }
    }

    /// Each part is delivered one byte at a time: an attempt without further progress ends, and the next one waits
    /// longer.
    @Test(arguments: [SegmentCount.exactly(1), .exactly(4), .exactly(16)]) func aServerThatGivesAByteATimeIsAskedSeldom(
        _ segments: SegmentCount
    ) async throws {
        let content = Self.content
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [.cut(after: 5 << 20)])
            server.script(
                "parts", for: { $0.range != nil }, [], afterwards: .serveRange((5 << 20)..<((5 << 20) + 1)))
            try await withQueue(folder) { queue in
                var job = job(server.url("/x"), segments)
                job.settings = Sample.retries(2)
                let totals = try await queue.complete([job])
                #expect(totals.failed == 1)
            }
            #expect(server.requests.count <= 60, "\(server.requests.count) requests")
        }
    }

    /// The second mirror finishes all but the end of the first one's part, which would take the first mirror an hour.
    @Test func theEndOfASlowSourcesPartIsTakenByAFastOne() async throws {
        let content = Self.content
        try await withTestServer { server in
            server.serve("/slow", content, etag: "\"1\"")
            server.serve("/fast", content, etag: "\"2\"")
            server.script("/slow", [], afterwards: .trickle(20, every: .milliseconds(100)))
            let digest = try Digest(.sha256)
            content.bytes(in: nil).withUnsafeBytes { digest.update($0) }
            let sum = try digest.finish()
            try await withQueue(folder) { queue in
                var job = job(server.url("/slow"), .automatic)
                guard case .download(var download) = job.work else { return }
                (download.urls, download.checksum) = ([server.url("/slow"), server.url("/fast")], sum)
                job.work = .download(download)
                let totals = try await queue.complete([job])
                #expect(totals.completed == 1)
            }
            #expect(try content.firstDifference(fromFileAt: folder.path("x")) == nil)
        }
    }
}
