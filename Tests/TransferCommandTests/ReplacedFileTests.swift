import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A remote file that has changed at the second attempt: the result is the new file, whole, and a line reports the
/// reason.
@Suite struct ReplacedFileTests {
    let old = Content.random(seed: 41, count: 400_000)
    let new = Content.random(seed: 42, count: 400_000)

    /// Checks a transfer that is cut half-way, with a file that is replaced within the same run.
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

    @Test func aLongerFileStartsFromZero() async throws {
        let longer = Content.random(seed: 43, count: 500_000)
        try await check(
            ServedFile(old, etag: "\"a1\""), ServedFile(longer, etag: "\"b7\""),
            reason: "changed on server (ETag a1→b7)")
    }

    @Test func aShorterFileStartsFromZero() async throws {
        let shorter = Content.random(seed: 44, count: 100_000)
        try await check(
            ServedFile(old, etag: "\"a1\""), ServedFile(shorter, etag: "\"b7\""),
            reason: "changed on server (ETag a1→b7)")
    }

    @Test func anotherLastModifiedStartsFromZero() async throws {
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

    /// The server ignores If-Range and sends the rest of a different file.
    @Test func aServerThatIgnoresIfRangeIsDetectedByItsETag() async throws {
        try await check(
            ServedFile(old, etag: "\"a1\""), ServedFile(new, etag: "\"b7\""),
            reason: "changed on server (ETag a1→b7)", more: .serveRange(200_000..<400_000))
    }

    /// The server ignores If-Range and sends the rest of a different file without its date, which a 206 to If-Range may
    /// leave out.
    @Test func aServerThatIgnoresIfRangeIsDetectedByItsDateWithoutTheCondition() async throws {
        try await check(
            ServedFile(old, lastModified: 1_600_000_000), ServedFile(new, lastModified: 1_600_009_999),
            reason:
                "changed on server (Last-Modified Sun, 13 Sep 2020 12:26:40 GMT→Sun, 13 Sep 2020 15:13:19 GMT)",
            more: Fault.serveRange(200_000..<400_000).and(.header("Last-Modified", nil)))
    }

    @Test func aPartThatLeavesOutTheDateOfTheSameVersionIsContinued() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", ServedFile(old, lastModified: 1_600_000_000))
            server.script("/a", [.cut(after: 200_000), .header("Last-Modified", nil)])
            try place.jobs([download(server.url("/a"), to: "a.iso", #""retry": {"scale": "10ms", "jitter": false}"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try old.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
            #expect(server.requests.map(\.range) == [nil, "bytes=200000-", "bytes=200000-"])
            #expect(server.requests.map { $0.ifRange == nil } == [true, false, true])
        }
    }

    /// Checks an unchanged version: the transfer is cut half-way, then these answers follow, then right ones.
    private func checkSame(_ answers: [Fault], _ result: (ProcessResult, TestServer) throws -> Void) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", old, etag: "\"a1\"")
            server.script("/a", [.cut(after: 200_000)] + answers)
            try place.jobs([download(server.url("/a"), to: "a.iso", #""retry": {"scale": "10ms", "jitter": false}"#)])
            let ended = try await place.runJobs()
            #expect(ended.exitCode == 0, "\(ended)")
            #expect(try old.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
            #expect(!ended.standardError.contains("from 0 again"), "\(ended)")
            try result(ended, server)
        }
    }

    /// The server does not accept the condition: the next request has the range alone, and its ETag shows whether it
    /// fits.
    @Test func anIgnoredRangeIsRequestedUnconditionally() async throws {
        try await checkSame([.ignoreRange]) { _, server in
            #expect(server.requests.map(\.range) == [nil, "bytes=200000-", "bytes=200000-"])
            #expect(server.requests.map(\.ifRange) == [nil, "\"a1\"", nil])
        }
    }

    /// Bytes that are sent once more are compared with the local ones.
    @Test func aServerWithoutRangesStartsNothingAnew() async throws {
        try await checkSame([.ignoreRange, .ignoreRange]) { _, server in #expect(server.requests.count == 3) }
    }

    @Test func aPartThatBeginsEarlierIsCompared() async throws {
        try await checkSame([.serveRange(0..<400_000)]) { _, server in #expect(server.requests.count == 2) }
    }

    static let oddAnswers: [(Fault, String)] = [
        (.missingContentRange, "a 206 answer without Content-Range"),
        (.wrongContentRange(shiftedBy: -100), "the server's bytes differ from those that are there"),
        (.wrongContentRange(shiftedBy: 100), "an answer with a malformed Content-Range"),
        (.serveRange(200_100..<400_000), "asked for the bytes from 200000, the server sent those from 200100"),
        (.contentRangeTotal(7_000_000), "changed on server (400000→7000000 bytes)"),
        (.multipartRanges, "the server sent several ranges for one"),
        // The coded body has a different length.
        (.gzip, "changed on server (400000→400053 bytes)"),
        (.rangeNotSatisfiable, "the server has no bytes from 200000 on (of 400000)"),
        (.status(416), "the server has no bytes from 200000 on"),
        (
            .status(200, headers: ["Content-Type": "text/html"], body: .text("<html>log in</html>")),
            "a page of HTML came instead of the file"
        ),
        (
            .status(200, body: .text("no")),
            "the answer does not say of which version it is (to begin anew, remove the partial file)"
        ),
    ]

    /// A single odd answer proves nothing: it costs an attempt, and no byte.
    @Test(arguments: oddAnswers.indices) func oneOddAnswerCostsAnAttempt(_ index: Int) async throws {
        let (fault, reason) = Self.oddAnswers[index]
        try await checkSame([fault]) { result, server in
            #expect(result.standardError.contains("\(reason), again in"), "\(result)")
            #expect(server.requests.map(\.range) == [nil, "bytes=200000-", "bytes=200000-"])
        }
    }

    /// After repeated odd answers the whole file is requested and compared with the local bytes, as it is the same
    /// version.
    @Test(arguments: [Fault.missingContentRange, .rangeNotSatisfiable, .wrongContentRange(shiftedBy: 100)])
    func anOddAnswerIsBelievedAtTheThirdTime(_ fault: Fault) async throws {
        try await checkSame([fault, fault, fault]) { result, server in
            let range = "bytes=200000-"
            #expect(server.requests.map(\.range) == [nil, range, range, range, nil], "\(result)")
        }
    }

    /// A login page never becomes the file: the job fails, and its bytes are there for the next run.
    @Test func aPageThatStaysFailsTheJobAndKeepsItsBytes() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let page = Fault.status(200, headers: ["Content-Type": "text/html"], body: .text("<html>log in</html>"))
            server.serve("/a", old, etag: "\"a1\"")
            server.script("/a", [.cut(after: 300_000)], afterwards: page)
            let retry = #""retry": {"limit": 4, "scale": "10ms", "jitter": false}"#
            try place.jobs([download(server.url("/a"), to: "a.iso", retry)])
            let failed = try await place.runJobs()
            #expect(failed.exitCode == 1 && !place.folder.exists("a.iso"), "\(failed)")
            #expect(place.folder.size("a.iso.part") == 300_000)
            server.script("/a", [])
            let done = try await place.runJobs()
            #expect(done.exitCode == 0, "\(done)")
            #expect(server.requests.last?.range == "bytes=300000-")
            #expect(try old.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
        }
    }

    /// The bytes of the old version stay beside those of the new one until it is whole: the answer of a single node is
    /// not final.
    @Test func theOldVersionStaysUntilTheNewOneIsWhole() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let big = Content.random(seed: 45, count: 900_000)
            server.serve("/a", big, etag: "\"a1\"")
            // The new version breaks off before it is worth a record, and does not return.
            server.script(
                "/a",
                [.cut(after: 800_000), Fault.changeETag("\"b7\"").and(.cut(after: 0)), .changeETag("\"a1\"")])
            try place.jobs([
                download(server.url("/a"), to: "a.iso", #""retry": {"scale": "10ms", "jitter": false}"#)
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.map(\.range) == [nil, "bytes=800000-", "bytes=800000-"], "\(result)")
            #expect(try big.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
            #expect(try place.folder.files().filter { $0.hasPrefix("a.iso") } == ["a.iso"])
        }
    }

    /// The replacement comes between two runs, with a kill between them.
    @Test func aFileThatWasReplacedBetweenTwoRunsEndsAsTheNewOne() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", old, etag: "\"a1\"")
            server.script("/a", [.stall(after: 200_000)])
            try place.jobs([download(server.url("/a"), to: "a.iso")])
            let process = try place.startJobs()
            // Sent bytes have not necessarily arrived.
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
