import Glibc
import Testing
import TransferCore
import TransferCrypto
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine
@testable import TransferJobs
@testable import TransferQueue

/// Downloads over several connections, through the whole queue.
@Suite(.timeLimit(.minutes(1))) struct SegmentRunTests {
    let folder: TemporaryFolder
    let content = Content.random(seed: 35, count: 24 << 20)

    init() throws { folder = try TemporaryFolder("segments") }

    func job(_ urls: [String], segments: SegmentCount = .exactly(4), checksum: Checksum? = nil) -> JobSpec {
        JobSpec(
            work: .download(
                JobSpec.Download(
                    urls: urls, destination: folder.path("x"), checksum: checksum, segments: segments)),
            settings: Sample.quick)
    }

    /// - Returns: The number of bytes that came over the network.
    @discardableResult
    func complete(_ job: JobSpec) async throws -> Int64 {
        let bytes = try await withQueue(folder) { queue in
            let totals = try await queue.complete([job])
            #expect(totals.completed == 1)
            return totals.bytes
        }
        #expect(try content.firstDifference(fromFileAt: folder.path("x")) == nil)
        #expect(try folder.files(below: ".").filter { $0.hasPrefix("x") && $0 != "x" } == [])
        return bytes
    }

    /// The first connection hangs: other connections fetch its missing bytes, and each asks for its part alone.
    @Test func otherConnectionsFetchTheMissingBytes() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [.stall(after: 3 << 20)])
            let bytes = try await complete(job([server.url("/x")]))
            let parts = server.requests.dropFirst()
            #expect(parts.count >= 3)
            #expect(parts.allSatisfy { $0.ifRange == "\"1\"" && $0.range?.hasSuffix("-") == false })
            // The only repeated bytes are those under way at the end of the hanging connection.
            #expect(bytes < content.count + (2 << 20))
        }
    }

    @Test func oneConnectionIsUsedOnRequest() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            try await complete(job([server.url("/x")], segments: .exactly(1)))
            #expect(server.requests.count == 1)
        }
    }

    static let wrongAnswers: [(String, Fault)] = [
        ("the whole file", .ignoreRange), ("another total", .contentRangeTotal(7 << 20)),
        ("no total", .contentRangeTotal(nil)),
        ("another range", .wrongContentRange(shiftedBy: 4096)), ("no range", .missingContentRange),
        ("several ranges", .multipartRanges),
        ("a coded part", .gzip), ("416", .rangeNotSatisfiable), ("503", .status(503)), ("429", .status(429)),
        ("404", .status(404)), ("a page", .status(200, headers: ["Content-Type": "text/html"], body: .text("<html>"))),
        ("a short part", .cut(after: 100_000)), ("a reset", .reset(after: 70_000)),
        ("nothing", .closeBeforeHead), ("garbage", .garbage()),
    ]

    /// A server's wrong answer to a request for a part ends that connection, and the file is right.
    @Test(arguments: wrongAnswers) func aWrongAnswerEndsItsConnectionAndNotTheFile(
        _ answer: (name: String, fault: Fault)
    ) async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [.stall(after: 3 << 20), answer.fault])
            try await complete(job([server.url("/x")]))
        }
    }

    /// A file without a proof that two answers are of the same version comes over one connection.
    @Test(arguments: [nil, "W/\"1\""] as [String?]) func withoutAStrongValidatorThereIsOneConnection(
        _ etag: String?
    ) async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: etag)
            server.script("/x", [.trickle(1 << 20, every: .milliseconds(20))])
            try await complete(job([server.url("/x")]))
            #expect(server.requests.count == 1)
        }
    }

    /// A resumed run keeps every range that it had, over several connections or over one.
    @Test(arguments: [SegmentCount.exactly(4), .exactly(1)]) func aResumedRunKeepsAllItsRanges(
        _ later: SegmentCount
    ) async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script(
                "/x", [.stall(after: 3 << 20), .stall(after: 1 << 20), .stall(after: 1 << 20), .stall(after: 1 << 20)])
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                let staged = try await queue.stage([job([server.url("/x")])])
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(4)
                try await log.wait(forBytes: (6 << 20) - (600 << 10))
                run.cancel()
                _ = try await within(.seconds(30)) { try await run.valueOrEnd() }
            }
            let bytes = try await complete(job([server.url("/x")], segments: later))
            #expect(bytes <= content.count - (5 << 20))
        }
    }

    // MARK: Several sources

    /// Returns the same content with a changed byte in the middle, or at the given position.
    func damaged(at position: Int = 12 << 20) -> Content {
        var bytes = content.bytes()
        bytes[position] ^= 0xFF
        return .bytes(bytes)
    }

    func sum(_ range: Range<Int64>? = nil) throws -> Checksum {
        let digest = try Digest(.sha256)
        content.bytes(in: range).withUnsafeBytes { digest.update($0) }
        return try digest.finish()
    }

    /// Serves two mirrors. The first mirror hangs, so that the second delivers most bytes, one of them wrong.
    func serveMirrors(_ server: TestServer) -> [String] {
        server.serve("/a", content, etag: "\"a\"")
        server.serve("/b", damaged(), etag: "\"b\"")
        server.script("/a", [.stall(after: 3 << 20)])
        return [server.url("/a"), server.url("/b")]
    }

    @Test func aDeadMirrorDelaysNoPart() async throws {
        try await withTestServer { server in
            server.serve("/a", content, etag: "\"a\"")
            server.serve("/b", content, etag: "\"b\"")
            server.serve("/c", content, etag: "\"c\"")
            server.script("/a", [.stall(after: 3 << 20)])
            server.script("/c", [], afterwards: .holdHead)
            try await complete(
                job([server.url("/a"), server.url("/b"), server.url("/c")], checksum: try sum()))
            #expect(server.requests.contains { $0.path == "/b" })
        }
    }

    /// Bytes of two mirrors are mixed only where a digest proves the result.
    @Test func withoutADigestOneMirrorIsUsed() async throws {
        try await withTestServer { server in
            try await complete(job(serveMirrors(server)))
            #expect(!server.requests.contains { $0.path == "/b" })
        }
    }

    @Test func bytesOfAWrongMirrorAreFetchedAgainFromAnother() async throws {
        try await withTestServer { server in
            let bytes = try await complete(job(serveMirrors(server), checksum: try sum()))
            #expect(server.requests.contains { $0.path == "/b" })
            #expect(Double(bytes) < Double(content.count) * 1.55)
        }
    }

    /// The mirror that began the file has no precedence over the other mirrors.
    @Test func bytesOfTheOtherMirrorStayWhenTheFirstIsWrong() async throws {
        try await withTestServer { server in
            server.serve("/a", damaged(at: 1 << 20), etag: "\"a\"")
            server.serve("/b", content, etag: "\"b\"")
            server.script("/a", [.stall(after: 3 << 20)])
            let bytes = try await complete(job([server.url("/a"), server.url("/b")], checksum: try sum()))
            #expect(Double(bytes) < Double(content.count) * 1.25)
        }
    }

    @Test func onlyTheWrongPieceIsFetchedAgainWithKnownPieces() async throws {
        let length: Int64 = 1 << 20
        let digests = try stride(from: 0, to: content.count, by: Int(length)).map {
            try sum($0..<min(content.count, $0 + length))
        }
        try await withTestServer { server in
            var job = job(serveMirrors(server))
            guard case .download(var download) = job.work else { return }
            download.pieces = PieceDigests(length: length, digests: digests)
            job.work = .download(download)
            let bytes = try await complete(job)
            #expect(bytes < content.count + 5 * length)
        }
    }

    @Test func aMissingBeginningIsFetched() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            let path = folder.path("x.part")
            let part = try PartFile.open(path)
            let held = ByteRanges((2 << 20)..<(20 << 20))
            let bytes = content.bytes(in: (2 << 20)..<(20 << 20))
            let count = bytes.withUnsafeBytes { pwrite(part.descriptor, $0.baseAddress, $0.count, 2 << 20) }
            #expect(count == bytes.count)
            var record = ResumeData(
                url: server.url("/x"), validator: Validator(etag: "\"1\""), total: content.count, written: held,
                synced: held, bootID: BootID.current, mount: part.mount, isSequential: false, partialFile: path)
            record.isSequential = false
            part.record(record)
            part.unlock()
            let moved = try await complete(job([server.url("/x")], segments: .exactly(1)))
            #expect(moved <= content.count - (17 << 20))
        }
    }
}
