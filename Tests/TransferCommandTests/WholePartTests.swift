import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Complete partial files whose process was killed before the record: the next run proves them and fetches next to
/// nothing.
@Suite struct WholePartTests {
    let content = Content.random(seed: 46, count: 400_000)
    private static let once = #""retry": {"limit": 2, "scale": "10ms", "jitter": false}"#

    /// Makes a partial file that a run left cut short and that is completed afterwards. A process that is killed
    /// between the last byte and the record leaves the same state.
    private func killed(
        _ server: TestServer, _ place: Workplace, etag: String?, lastModified: Int? = nil, more: String = ""
    ) async throws {
        server.serve("/a", ServedFile(content, etag: etag, lastModified: lastModified))
        server.script("/a", [.cut(after: 300_000)], afterwards: .status(403))
        try place.jobs([download(server.url("/a"), to: "a.iso", Self.once + more)])
        let failed = try await place.runJobs()
        #expect(failed.exitCode == 1, "\(failed)")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: place.folder.path("a.iso.part")))
        try file.seekToEnd()
        try file.write(contentsOf: Data(content.bytes(in: 300_000..<400_000)))
        try file.close()
        server.script("/a", [])
    }

    private func finish(_ server: TestServer, _ place: Workplace, _ content: Content) async throws -> ProcessResult {
        let result = try await place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try content.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
        #expect(!place.folder.exists("a.iso.part"))
        return result
    }

    @Test func theLastByteProvesAWholePart() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try await killed(server, place, etag: "\"a1\"")
            let before = server.requests.count
            _ = try await finish(server, place, content)
            #expect(server.requests[before...].map(\.range) == ["bytes=399999-"])
            #expect(server.requests.last?.ifRange == "\"a1\"")
        }
    }

    @Test func aWeakTagIsValidated() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try await killed(server, place, etag: "W/\"a1\"")
            let before = server.requests.count
            _ = try await finish(server, place, content)
            #expect(server.requests[before...].map { $0.headers["If-None-Match"] } == ["W/\"a1\""])
        }
    }

    @Test func aDigestNeedsNoServer() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            _ = try place.folder.write(Data(content.bytes(in: 0..<400_000)), to: "whole")
            let digest = try await place.folder.sha256("whole")
            try await killed(server, place, etag: "\"a1\"", more: #", "checksum": "sha256:\#(digest)""#)
            let before = server.requests.count
            _ = try await finish(server, place, content)
            #expect(server.requests.count == before)
        }
    }

    /// The validator confirms a complete file, and the digest shows a loss: the file is fetched once more from the
    /// start.
    @Test func aWholePartWithWrongBytesIsFetchedAnew() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            _ = try place.folder.write(Data(content.bytes(in: 0..<400_000)), to: "whole")
            let digest = try await place.folder.sha256("whole")
            try await killed(server, place, etag: "\"a1\"", more: #", "checksum": "sha256:\#(digest)""#)
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: place.folder.path("a.iso.part")))
            try file.seek(toOffset: 100_000)
            try file.write(contentsOf: Data(count: 4096))
            try file.close()
            server.script("/a", [.ignoreRange])
            let before = server.requests.count
            _ = try await finish(server, place, content)
            #expect(server.requests[before...].map(\.range) == ["bytes=399999-", nil])
        }
    }

    /// A single 416 decides nothing and loses nothing.
    @Test func a416IsAskedOnceMore() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try await killed(server, place, etag: "\"a1\"")
            server.script("/a", [.status(416)])
            let before = server.requests.count
            _ = try await finish(server, place, content)
            #expect(server.requests[before...].map(\.range) == ["bytes=399999-", "bytes=399999-"])
        }
    }

    @Test func aNewVersionOfTheSameLengthIsFetched() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try await killed(server, place, etag: "\"a1\"")
            let other = Content.random(seed: 47, count: 400_000)
            server.serve("/a", ServedFile(other, etag: "\"b7\""))
            let result = try await finish(server, place, other)
            #expect(result.standardError.contains("changed on server (ETag a1→b7)"), "\(result)")
        }
    }

    /// The server ignores If-Range: the last byte differs, or is the same, but the tag identifies the version.
    @Test func aNewVersionOfAServerThatIgnoresConditionsIsFetchedWhole() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try await killed(server, place, etag: "\"a1\"")
            let other = Content.random(seed: 47, count: 400_000)
            server.serve("/a", ServedFile(other, etag: "\"b7\""))
            server.script("/a", [.serveRange(399_999..<400_000)])
            _ = try await finish(server, place, other)
        }
    }
}

/// The URL that the bytes came from: a redirect that changes later mixes no bytes, and one that expires costs none.
@Suite struct AnsweringPlaceTests {
    let one = Content.random(seed: 48, count: 400_000)
    let two = Content.random(seed: 49, count: 400_000)

    private func jobs(_ server: TestServer, _ more: String = "") throws -> Workplace {
        let place = try Workplace()
        let retry = #""retry": {"limit": 4, "scale": "10ms", "jitter": false}"#
        try place.jobs([download(server.url("/latest"), to: "a.iso", retry + more)])
        return place
    }

    /// Serves two files with the same ETag, as servers do that count from 1.
    private func serve(_ server: TestServer, secret: String = "") {
        server.serve("/v1", one, etag: "\"1\"")
        server.serve("/v2", two, etag: "\"1\"")
        server.script(
            "/latest", [.redirect(to: "/v1\(secret)")],
            afterwards: .redirect(to: "/v2\(secret.isEmpty ? "" : "?sig=2")"))
    }

    @Test func theBytesContinueAtTheirURL() async throws {
        try await withTestServer { server in
            let place = try jobs(server)
            serve(server)
            server.script("/v1", [.cut(after: 200_000)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try one.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
            #expect(server.requests.map(\.path) == ["/latest", "/v1", "/v1"])
        }
    }

    @Test(arguments: [403, 404, 410]) func aRemovedURLLeadsToTheWholeNewVersion(_ status: Int) async throws {
        try await withTestServer { server in
            let place = try jobs(server)
            serve(server)
            server.script("/v1", [.cut(after: 200_000)], afterwards: .status(status))
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try two.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
            #expect(result.standardError.contains("from 0 again, another URL answers now"), "\(result)")
            #expect(try place.folder.files().filter { $0.hasPrefix("a.iso") } == ["a.iso"])
        }
    }

    /// A machine behind its gateway was taken out of service: no answer says that its URL is no longer valid.
    @Test func aURLThatFailsRepeatedlyLeadsBackToTheRedirect() async throws {
        try await withTestServer { server in
            let place = try jobs(server)
            serve(server)
            server.script("/v1", [.cut(after: 200_000)], afterwards: .status(502))
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try two.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
            let paths = ["/latest", "/v1", "/v1", "/v1", "/v1", "/latest", "/v2", "/v2"]
            #expect(server.requests.map(\.path) == paths, "\(result)")
        }
    }

    @Test func aURLThatFailsOnceIsAskedAgain() async throws {
        try await withTestServer { server in
            let place = try jobs(server)
            serve(server)
            server.script("/v1", [.cut(after: 200_000), .status(502), .status(503)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try one.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
            #expect(server.requests.map(\.path) == ["/latest", "/v1", "/v1", "/v1", "/v1"], "\(result)")
        }
    }

    @Test func aNewSignatureContinuesTheDownload() async throws {
        try await withTestServer { server in
            let place = try jobs(server)
            server.serve("/v1", one, etag: "\"1\"")
            server.script(
                "/latest", [.redirect(to: "/v1?sig=hunter1")], afterwards: .redirect(to: "/v1?sig=hunter2"))
            server.script("/v1", [.cut(after: 200_000), .status(403)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try one.firstDifference(fromFileAt: place.folder.path("a.iso")) == nil)
            #expect(server.requests.map(\.range) == [nil, nil, "bytes=200000-", "bytes=200000-", "bytes=200000-"])
            #expect(try place.secretIsNowhere("hunter"))
        }
    }
}
