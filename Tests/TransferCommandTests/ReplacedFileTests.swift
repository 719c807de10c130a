import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The remote file is another one at the second try: the result is the new file, whole, and a line says why.
@Suite struct ReplacedFileTests {
    let old = Content.random(seed: 41, count: 400_000)
    let new = Content.random(seed: 42, count: 400_000)

    /// Cut half-way, then replaced within the same run.
    private func check(
        _ first: ServedFile, _ second: ServedFile, reason: String, more: Fault = .none
    ) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", first)
            server.script("/a", [.cut(after: 200_000), Fault.replace(with: second).and(more)])
            try place.jobs([download(server.url("/a"), to: "a.iso")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                try second.content.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil, "a mix or a part")
            #expect(result.standardError.contains(" warn a.iso: from 0 again, \(reason)\n"), "\(result)")
            #expect(try result.events().named("job.restarted").map { $0["reason"]?.string } == [reason])
        }
    }

    @Test func anotherETagStartsFromZero() async throws {
        try await check(
            ServedFile(old, etag: "\"a1\""), ServedFile(new, etag: "\"b7\""),
            reason: "changed on server (ETag a1→b7)")
    }

    @Test func anotherLengthToo() async throws {
        let longer = Content.random(seed: 43, count: 500_000)
        try await check(
            ServedFile(old, etag: "\"a1\""), ServedFile(longer, etag: "\"b7\""),
            reason: "changed on server (ETag a1→b7)")
    }

    @Test func aShorterFileToo() async throws {
        let shorter = Content.random(seed: 44, count: 100_000)
        try await check(
            ServedFile(old, etag: "\"a1\""), ServedFile(shorter, etag: "\"b7\""),
            reason: "changed on server (ETag a1→b7)")
    }

    @Test func anotherLastModifiedToo() async throws {
        try await check(
            ServedFile(old, lastModified: 1_600_000_000), ServedFile(new, lastModified: 1_600_009_999),
            reason:
                "changed on server (Last-Modified Sun, 13 Sep 2020 12:26:40 GMT→Sun, 13 Sep 2020 15:13:19 GMT)")
    }

    @Test func withoutAValidatorNothingIsContinued() async throws {
        try await check(
            ServedFile(old), ServedFile(new),
            reason: "the server gave neither ETag nor Last-Modified to continue by")
    }

    @Test func aWeakValidatorIsNoneToContinueBy() async throws {
        try await check(
            ServedFile(old, etag: "W/\"a1\""), ServedFile(new, etag: "W/\"a1\""),
            reason: "the server's validator is too weak to continue by")
    }

    /// It ignores If-Range and sends the rest of another file.
    @Test func aServerThatIgnoresIfRangeIsFoundOutByItsETag() async throws {
        try await check(
            ServedFile(old, etag: "\"a1\""), ServedFile(new, etag: "\"b7\""),
            reason: "changed on server (ETag a1→b7)", more: .serveRange(200_000..<400_000))
    }

    @Test func anIgnoredRangeIsTheWholeFile() async throws {
        try await check(
            ServedFile(old, etag: "\"a1\""), ServedFile(old, etag: "\"a1\""),
            reason: "the server sent the whole file instead of the rest", more: .ignoreRange)
    }

    static let wrongAnswers: [(Fault, String)] = [
        (.missingContentRange, "a 206 answer without Content-Range"),
        (
            .wrongContentRange(shiftedBy: -100),
            "asked for the bytes from 200000, the server sent those from 199900"
        ),
        (.serveRange(0..<400_000), "asked for the bytes from 200000, the server sent those from 0"),
        (.contentRangeTotal(7_000_000), "changed on server (400000→7000000 bytes)"),
        (.multipartRanges, "the server sent several ranges for one"),
        // The coded body is of another length.
        (.gzip, "changed on server (400000→400053 bytes)"),
    ]

    @Test(arguments: wrongAnswers.indices) func aWrongAnswerToARangeStartsFromZero(_ index: Int) async throws {
        let (fault, reason) = Self.wrongAnswers[index]
        try await check(ServedFile(old, etag: "\"a1\""), ServedFile(old, etag: "\"a1\""), reason: reason, more: fault)
    }

    @Test func a416StartsFromZero() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", old, etag: "\"a1\"")
            server.script("/a", [.cut(after: 200_000), .rangeNotSatisfiable])
            try place.jobs([download(server.url("/a"), to: "a")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try old.firstDifference(fromFileAt: place.folder.path("a")) == nil)
            #expect(result.standardError.contains("a: from 0 again, "), "\(result)")
        }
    }

    /// Between two runs, with a kill between them.
    @Test func aFileThatWasReplacedBetweenTwoRunsEndsAsTheNewOne() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", old, etag: "\"a1\"")
            server.script("/a", [.stall(after: 200_000)])
            try place.jobs([download(server.url("/a"), to: "a.iso")])
            let process = try place.startJobs()
            // What the server has sent is not yet what has arrived.
            try await process.event("batch.progress", where: { ($0["bytes"]?.int ?? 0) >= 100_000 })
            process.kill(SIGTERM)
            _ = try await process.result()
            server.serve("/a", new, etag: "\"b7\"")
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.last?.ifRange == "\"a1\"")
            #expect(try new.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
            #expect(
                result.standardError.contains(" warn a.iso: from 0 again, changed on server (ETag a1→b7)\n"),
                "\(result)")
        }
    }

    /// A new file whose range ends early must not be taken for the end of the old one.
    @Test func gzipOnTheWayNeverEndsInTheFile() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", old, etag: "\"a1\"")
            server.script("/a", [Fault.gzip.and(.cut(after: 200_000))])
            try place.jobs([download(server.url("/a"), to: "a")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.first?.headers["Accept-Encoding"] == "identity")
            #expect(try old.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        }
    }
}
