import Synchronization
import Testing
import TransferCore
import TransferCrypto
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// A source that is read over several connections while it is sent on, with faults of its server.
@Suite(.timeLimit(.minutes(2))) struct ReadAheadTests {
    private static let size: Int64 = 12 << 20
    private static let content = Content.random(seed: 3, count: size)
    /// A server whose connections are slow, so that each further one helps.
    private static let slow = Fault.trickle(64 << 10, every: .milliseconds(8))

    private struct Outcome {
        var error: TransferError?
        var uploads: [ReceivedUpload]
        /// The bytes that the source's server has sent.
        var sent: Int64
        var requests: [RecordedRequest]
        var peak: Int
        var lost: [TransferError]
    }

    /// Copies the source over the given number of connections.
    ///
    /// - Parameter faults: The faults of the requests after the first.
    private func copy(
        over count: Int = 4, expected: Checksum? = nil, etag: String? = "\"1\"", _ faults: [Fault] = []
    ) async throws -> Outcome {
        let found = Mutex<Outcome?>(nil)
        try await Bench.with(loops: 2) { bench in
            bench.server.serve("/f", Self.content, etag: etag)
            bench.server.script("/f", [Self.slow] + faults.map { $0.and(Self.slow) }, afterwards: Self.slow)
            let sink = bench.server.acceptUploads("/in")
            let lost = Mutex<[TransferError]>([])
            let url = bench.server.url("/f")
            let source = RemoteSource([url], expected: expected, digest: nil, engine: bench.engine) { news in
                if case .lost(let error, _, _, _) = news { lost.withLock { $0.append(error) } }
            } requests: { (_, point) throws(TransferError) in
                var settings = ExchangeSettings()
                settings.route.speaksHTTP1Only = true
                return ExchangeRequest(url: url, intent: .representation(point), settings: settings)
            }
            defer { source.close() }
            let version = try await withCheckedThrowingContinuation { continuation in
                source.open { continuation.resume(with: $0) }
            }
            #expect(version.size == Self.size)
            source.spread(over: count, pace: 1, now: 0)
            let window = source.window(0..<Self.size)
            let outcome = try await bench.send("PUT", bench.server.url("/in"), body: .window(window)).end()
            if outcome.error == nil { #expect(source.digest != nil) }
            found.withLock {
                $0 = Outcome(
                    error: outcome.error, uploads: sink.uploads, sent: bench.server.bytesSent("/f"),
                    requests: bench.server.requests(to: "/f"), peak: bench.server.peakRequests("/f"),
                    lost: lost.withLock { $0 })
            }
        }
        return try #require(found.withLock { $0 })
    }

    private func expectWhole(_ outcome: Outcome) {
        #expect(outcome.error == nil)
        #expect(outcome.uploads.map(\.digest) == [UploadDigest.of(Self.content)])
        #expect(outcome.uploads.allSatisfy { $0.isComplete })
    }

    @Test func severalConnectionsBringOneFileInItsOrder() async throws {
        let outcome = try await copy()
        expectWhole(outcome)
        #expect(outcome.peak > 2)
        #expect(outcome.sent < Self.size * 11 / 10, "\(outcome.sent)")
        // All parts but those of the first request have an end, and all name the version.
        let parts = outcome.requests.dropFirst()
        #expect(parts.allSatisfy { $0.headers["Range"]?.hasSuffix("-") == false && $0.headers["If-Range"] == "\"1\"" })
        #expect(outcome.lost.isEmpty)
    }

    @Test func oneConnectionMakesOneRequest() async throws {
        let outcome = try await copy(over: 1)
        expectWhole(outcome)
        #expect(outcome.requests.count == 1)
    }

    /// Without a validator only a digest of the whole proves that the parts belong together.
    @Test(arguments: [false, true]) func aSourceWithoutAVersionIsSharedOnlyWhereADigestDecides(
        _ isProven: Bool
    ) async throws {
        var digest = DurableDigest(.sha256)
        Self.content.bytes().withUnsafeBytes { digest.update($0) }
        let sum = isProven ? digest.checksum : nil
        let outcome = try await copy(expected: sum, etag: nil)
        expectWhole(outcome)
        #expect((outcome.requests.count > 1) == isProven)
    }

    @Test func aWrongSourceIsNeverWholeAtItsDestination() async throws {
        let sum = Checksum("sha256:\(String(repeating: "0", count: 64))")
        let outcome = try await copy(expected: sum)
        #expect(outcome.error?.code == .checksumMismatch)
        #expect(outcome.peak > 2)
        #expect(outcome.uploads.allSatisfy { !$0.isComplete })
    }

    /// Faults of the answers to parts. Whatever comes, the destination gets the bytes of the first version.
    private static let faults: [(String, Fault)] = [
        ("a server that ignores ranges", .ignoreRange), ("another version", .changeETag("\"2\"")),
        ("503", .status(503)), ("429", .status(429, headers: ["Retry-After": "60"])), ("404", .status(404)),
        ("416", .rangeNotSatisfiable), ("another place", .wrongContentRange(shiftedBy: 1000)),
        ("another length", .contentRangeTotal(5 << 20)), ("no place", .missingContentRange),
        ("several parts", .multipartRanges), ("a cut", .cut(after: 50_000)), ("a reset", .reset(after: 100)),
        ("a reset before the head", .resetBeforeHead), ("a head that does not come", .holdHead),
        ("a part of another range", .serveRange(0..<1000)), ("a longer part", .contentLength(off: 1000)),
        ("a shorter part", .contentLength(off: -1000)), ("a content coding", .header("Content-Encoding", "gzip")),
    ]

    @Test(arguments: faults.map(\.0), [1, 3]) func aFaultOfAPartCostsNoByte(_ name: String, _ count: Int) async throws {
        let fault = try #require(Self.faults.first { $0.0 == name }).1
        let outcome = try await copy(Array(repeating: fault, count: count))
        expectWhole(outcome)
        #expect(outcome.sent < Self.size * 11 / 10, "\(outcome.sent)")
        #expect(outcome.requests.count > 1)
    }
}
