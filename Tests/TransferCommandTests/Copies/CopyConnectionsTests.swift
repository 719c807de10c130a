import Testing
import TransferTestServer
import TransferTestSupport

/// Copies whose source is read over several connections, by the command.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CopyConnectionsTests {
    private static let size: Int64 = 12 << 20
    private static let source = Content.random(seed: 7, count: size)
    /// About 1 MB a second for each connection.
    private static let slow = Fault.trickle(16 << 10, every: .milliseconds(16))

    /// Copies the content under `/f` to `/in/f`.
    ///
    /// - Returns: The result, and the digests of the bodies that arrived whole.
    private func copy(
        _ server: TestServer, _ members: String = "", in place: Workplace
    ) async throws -> (result: ProcessResult, whole: [UInt64]) {
        let sink = server.acceptUploads("/in/*")
        try place.jobs(
            [#"{"download": "\#(server.url("/f"))", "to": "\#(server.url("/in/f"))", "id": "f"\#(members)}"#],
            extra: #""defaults": {"retry": {"scale": "50ms", "jitter": false, "limit": 5}}, "#)
        let result = try await place.runJobs()
        return (result, sink.uploads.filter(\.isComplete).map(\.digest))
    }

    @Test func aServerThatBoundsEachConnectionIsReadOverSeveral() async throws {
        try await withTestServer { server in
            server.serve("/f", Self.source, etag: "\"1\"")
            server.script("/f", [], afterwards: Self.slow)
            let (result, whole) = try await copy(server, in: try Workplace("copy-connections"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(whole == [UploadDigest.of(Self.source)])
            #expect(server.peakRequests("/f") > 2 && server.peakRequests("/f") <= 9)
            #expect(server.bytesSent("/f") < Self.size * 11 / 10, "\(server.bytesSent("/f"))")
        }
    }

    @Test(arguments: [1, 2]) func theNumberOfTheJobIsTheMost(_ count: Int) async throws {
        try await withTestServer { server in
            server.serve("/f", Self.source, etag: "\"1\"")
            server.script("/f", [], afterwards: .trickle(32 << 10, every: .milliseconds(8)))
            let (result, whole) = try await copy(
                server, #", "segments": \#(count)"#, in: try Workplace("copy-connections"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(whole == [UploadDigest.of(Self.source)])
            // A request that a chunk has ended may still be open at the server.
            #expect(server.peakRequests("/f") <= (count == 1 ? 1 : 3))
            if count == 1 { #expect(server.requests(to: "/f").count == 1) }
        }
    }

    /// One connection would have brought the file, so refusals of later requests must not end the attempt.
    @Test func aServerThatRefusesLaterRequestsCostsNoAttempt() async throws {
        try await withTestServer { server in
            server.serve("/f", Self.source, etag: "\"1\"")
            server.script(
                "/f", Array(repeating: Self.slow, count: 4) + Array(repeating: .status(503), count: 6),
                afterwards: Self.slow)
            let (result, whole) = try await copy(server, in: try Workplace("copy-connections"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(whole == [UploadDigest.of(Self.source)])
            #expect(try result.events().named("job.retrying").isEmpty, "\(result)")
        }
    }

    @Test func aConnectionThatFallsSilentIsReplaced() async throws {
        try await withTestServer { server in
            server.serve("/f", Self.source, etag: "\"1\"")
            server.script("/f", [Self.slow, Fault.stall(after: 50_000).and(Self.slow)], afterwards: Self.slow)
            let (result, whole) = try await copy(server, in: try Workplace("copy-connections"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(whole == [UploadDigest.of(Self.source)])
        }
    }

    @Test func aWrongSourceIsNeverWholeAtItsDestination() async throws {
        try await withTestServer { server in
            server.serve("/f", Self.source, etag: "\"1\"")
            server.script("/f", [], afterwards: Self.slow)
            let sum = String(repeating: "0", count: 64)
            let (result, whole) = try await copy(
                server, #", "checksum": "sha256:\#(sum)", "retry": {"limit": 0}"#, in: try Workplace("copy-connections")
            )
            #expect(result.exitCode == 1, "\(result)")
            #expect(try result.events().named("job.failed").first?["code"]?.string == "checksumMismatch", "\(result)")
            #expect(server.peakRequests("/f") > 2)
            #expect(whole.isEmpty)
        }
    }
}
