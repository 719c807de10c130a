import Testing
import TransferCore
import TransferCrypto
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore

/// The reports about the sources of a download: by events, by progress, by receipts, and to other processes.
@Suite(.timeLimit(.minutes(1))) struct SourceRunTests {
    let folder: TemporaryFolder
    let content = Content.random(seed: 53, count: 24 << 20)

    init() throws { folder = try TemporaryFolder("sources") }

    private func job(_ urls: [String], proven: Bool = true, segments: SegmentCount = .exactly(4)) throws -> JobSpec {
        var checksum: Checksum?
        if proven {
            let digest = try Digest(.sha256)
            content.bytes(in: nil).withUnsafeBytes { digest.update($0) }
            checksum = try digest.finish()
        }
        return JobSpec(
            id: "x",
            work: .download(
                JobSpec.Download(
                    urls: urls, destination: folder.path("x"), checksum: checksum, segments: segments)),
            settings: Sample.quick)
    }

    /// The reports of a run of one job.
    private struct Told {
        var receipt: JobReceipt?
        var failure: JobFailure?
        var changes: [JobSource] = []
        var progress: [JobProgress] = []

        init(_ events: [QueueEvent]) {
            for event in events {
                switch event.kind {
                case .finished(let receipt): self.receipt = receipt
                case .failed(let failure): self.failure = failure
                case .source("x", let source): changes.append(source)
                case .progress("x", let progress): self.progress.append(progress)
                default: break
                }
            }
        }
    }

    private func run(_ job: JobSpec, during body: (JobQueue) async throws -> Void = { _ in }) async throws -> Told {
        try await withQueue(folder) { queue in
            let log = EventLog(queue)
            let staged = try await queue.stage([job])
            let run = Task { try await queue.run([staged]) }
            try await body(queue)
            _ = try await within(.seconds(30)) { try await run.valueOrEnd() }
            let reported = Told(log.events)
            // The record has the same values for a later process.
            let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
            let later = try remote.explain(batch: "b", job: "x").sources.filter { $0.state != .unasked }
            #expect(later == reported.receipt?.sources ?? reported.failure?.sources)
            if let handle = try await queue.job("x", batch: "b"), let end = try await queue.end(of: handle) {
                #expect(Told([end]).receipt?.sources == reported.receipt?.sources)
            }
            return reported
        }
    }

    /// Serves `/x` at a pace that leaves work for the other sources.
    private func serve(_ server: TestServer, _ content: Content? = nil, every interval: Int = 10) -> String {
        server.serve("/x", content ?? self.content, etag: "\"\(server.port)\"")
        server.script("/x", [], afterwards: .trickle(256 << 10, every: .milliseconds(interval)))
        return server.url("/x")
    }

    @Test(.ofAFolder) func twoGoodMirrorsAreBothUsed() async throws {
        try await withTestServer { one in
            try await withTestServer { two in
                let (a, b) = (serve(one), serve(two))
                let reported = try await run(try job([a, b]))
                let sources = try #require(reported.receipt?.sources)
                #expect(sources.map(\.url) == [a, b] && sources.allSatisfy { $0.state == .used && $0.fault == nil })
                #expect(sources.allSatisfy { $0.bytes > 1 << 20 && ($0.rate ?? 0) > 1 << 20 && $0.connections > 0 })
                #expect(sources.reduce(0) { $0 + $1.bytes } == reported.receipt?.transferred)
                #expect(sources.reduce(0) { $0 + $1.connections } >= 3)
                #expect(reported.changes.isEmpty)
                let wide = try #require(reported.progress.max { $0.connections < $1.connections })
                #expect(wide.connections >= 3 && wide.connections <= 5 && wide.sources.map(\.url) == [a, b])
                // Bytes of unfinished connections are counted, too.
                for progress in reported.progress where !progress.sources.isEmpty {
                    let bytes = progress.sources.reduce(0) { $0 + $1.bytes }
                    #expect(bytes <= content.count && bytes >= progress.completed - (2 << 20))
                }
            }
        }
    }

    /// The pause holds for the connections that the other source's download gets, too.
    @Test(.ofAFolder) func aMirrorThatAskedForAPauseIsLeftAlone() async throws {
        try await withTestServer { one in
            try await withTestServer { two in
                let (a, b) = (serve(one), serve(two))
                one.script("/x", [.status(503, headers: ["Retry-After": "3600"])])
                let reported = try await run(try job([a, b]))
                #expect(reported.receipt != nil)
                #expect(one.requests(to: "/x").count == 1)
            }
        }
    }

    @Test(.ofAFolder) func oneServerOverSeveralConnectionsIsOneSource() async throws {
        try await withTestServer { server in
            let reported = try await run(try job([serve(server)], proven: false))
            let sources = try #require(reported.receipt?.sources)
            #expect(
                sources.count == 1 && sources[0].connections >= 3 && sources[0].bytes == reported.receipt?.transferred)
        }
    }

    @Test(.ofAFolder) func oneConnectionToOneServerIsNotReported() async throws {
        try await withTestServer { server in
            let reported = try await run(try job([serve(server, every: 1)], segments: .exactly(1)))
            #expect(
                reported.receipt?.sources == []
                    && reported.progress.allSatisfy { $0.sources.isEmpty && $0.connections == 1 })
        }
    }

    /// The fault of the second mirror in its answer to a part, and the reported cause.
    private static let faults: [(String, Fault, JobSource.Cause, String)] = [
        ("404", .status(404), .refused, "404 Not Found"), ("503", .status(503), .refused, "503 Service Unavailable"),
        ("another total", .contentRangeTotal(70 << 20), .otherLength, ""),
        ("a page", .status(200, headers: ["Content-Type": "text/html"], body: .text("<html>")), .otherLength, ""),
        ("garbage", .garbage(), .failed, ""), ("nothing", .closeBeforeHead, .failed, ""),
    ]

    @Test(.ofAFolder, arguments: faults) func aMirrorWithoutAPartIsReportedWithItsReason(
        _ name: String, _ fault: Fault, _ cause: JobSource.Cause, _ message: String
    ) async throws {
        try await withTestServer { one in
            try await withTestServer { two in
                let (a, b) = (serve(one), serve(two))
                two.script("/x", [], afterwards: fault)
                let reported = try await run(try job([a, b]))
                let sources = try #require(reported.receipt?.sources)
                #expect(sources.map(\.url) == [a, b] && sources.map(\.state) == [.used, .dropped])
                #expect(sources.last?.fault?.cause == cause, "\(sources)")
                #expect(sources.last?.fault?.message.isEmpty == false)
                if !message.isEmpty { #expect(sources.last?.fault?.message == message) }
                #expect(sources.first?.bytes ?? 0 > content.count - (64 << 10))
                let first = try #require(reported.changes.first)
                #expect(first.url == b && first.state == .paused && first.fault?.cause == cause)
                #expect(first.again ?? .zero > .zero && first.again ?? .zero <= .seconds(5))
            }
        }
    }

    @Test(.ofAFolder) func aMirrorWithAFileOfAnotherLengthIsReported() async throws {
        try await withTestServer { one in
            try await withTestServer { two in
                let urls = [serve(one), serve(two, Content.random(seed: 1, count: content.count + 1))]
                let reported = try await run(try job(urls))
                #expect(reported.receipt?.sources.map(\.fault?.cause) == [nil, .otherLength])
                #expect(reported.receipt?.sources.last?.bytes == 0)
            }
        }
    }

    @Test(.ofAFolder) func aDeadMirrorIsReported() async throws {
        let port = try RefusingPort()
        try await withTestServer { server in
            let urls = [serve(server), port.url + "/x"]
            let reported = try await run(try job(urls))
            #expect(reported.receipt?.sources.map(\.url) == urls)
            #expect(reported.receipt?.sources.map(\.state) == [.used, .dropped])
            #expect(reported.receipt?.sources.last?.fault?.cause == .failed)
        }
    }

    /// A much slower mirror loses its last part to the other mirror, and gets no further one.
    @Test(.ofAFolder) func aSlowMirrorIsReported() async throws {
        try await withTestServer { one in
            try await withTestServer { two in
                let urls = [serve(one), serve(two)]
                two.script("/x", [], afterwards: .trickle(4 << 10, every: .milliseconds(50)))
                let reported = try await run(try job(urls))
                let slow = try #require(reported.receipt?.sources.last)
                #expect(slow.url == urls[1] && slow.state == .dropped && slow.fault?.cause == .slow, "\(slow)")
                #expect(slow.bytes > 0 && slow.bytes < 4 << 20)
                #expect(reported.changes.contains { $0.url == urls[1] && $0.fault?.cause == .slow })
            }
        }
    }

    @Test(.ofAFolder) func aMirrorWithWrongBytesIsReported() async throws {
        var bytes = content.bytes()
        // One byte in each MiB is wrong, so every part of the file is wrong.
        for offset in stride(from: 1000, to: bytes.count, by: 1 << 20) { bytes[offset] ^= 0xFF }
        let damaged = Content.bytes(bytes)
        try await withTestServer { one in
            try await withTestServer { two in
                let urls = [serve(one), serve(two, damaged)]
                let reported = try await run(try job(urls))
                #expect(reported.receipt?.sources.map(\.fault?.cause) == [nil, .wrongBytes], "\(reported.changes)")
                #expect(
                    reported.changes.contains {
                        $0.url == urls[1] && $0.state == .dropped && $0.fault?.cause == .wrongBytes
                    })
            }
        }
    }

    // MARK: One after another

    /// Without a digest one mirror at a time is asked: the mirror that refused stays in the statistics.
    @Test(.ofAFolder) func aFailedMirrorIsReportedBesideTheSuccessfulOne() async throws {
        try await withTestServer { one in
            try await withTestServer { two in
                let urls = [one.url("/gone"), serve(two, every: 1)]
                let reported = try await run(try job(urls, proven: false, segments: .exactly(1)))
                let sources = try #require(reported.receipt?.sources)
                #expect(sources.map(\.url) == urls && sources.map(\.state) == [.dropped, .used])
                #expect(sources[0].fault == JobSource.Fault(.refused, "404 Not Found") && sources[0].bytes == 0)
                #expect(sources[1].bytes == content.count && sources[1].connections == 1)
                #expect(reported.changes.map(\.state) == [.dropped] && reported.changes.first?.url == urls[0])
            }
        }
    }

    @Test(.ofAFolder) func aFailedDownloadReportsTheAnswerOfEachMirror() async throws {
        try await withTestServer { one in
            try await withTestServer { two in
                two.script("/x", [], afterwards: .status(403))
                let reported = try await run(try job([one.url("/gone"), two.url("/x")], proven: false))
                #expect(reported.receipt == nil)
                #expect(reported.failure?.sources.map(\.fault?.message) == ["404 Not Found", "403 Forbidden"])
                #expect(reported.failure?.sources.allSatisfy { $0.state == .dropped } == true)
            }
        }
    }

    // MARK: Other processes

    @Test(.ofAFolder) func anotherProcessSeesTheSourcesDuringTheRun() async throws {
        try await withTestServer { one in
            try await withTestServer { two in
                let urls = [serve(one), serve(two), "http://127.0.0.1:1/never"]
                for server in [one, two] {
                    server.script("/x", [], afterwards: .trickle(16 << 10, every: .milliseconds(20)))
                }
                try await withQueue(folder) { queue in
                    let log = EventLog(queue)
                    let staged = try await queue.stage([try job(urls, segments: .exactly(2))])
                    let run = Task { try await queue.run([staged]) }
                    try await log.wait { event in
                        guard case .progress(_, let progress) = event.kind else { return false }
                        return progress.sources.count >= 2 && progress.sources.allSatisfy { $0.bytes > 1 << 16 }
                    }
                    // Reports to other processes follow those to listeners.
                    try await log.wait { event in
                        guard case .batchProgress = event.kind else { return false }
                        let remote = try? QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                        let reported = try? remote?.explain(batch: "b", job: "x")
                        return reported?.sources.filter { $0.connections > 0 && $0.bytes > 1 << 16 }.count == 2
                    }
                    let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                    let reported = try remote.explain(batch: "b", job: "x")
                    #expect(reported.sources.map(\.url) == urls && reported.sources.last?.state == .unasked)
                    run.cancel()
                    _ = try? await within(.seconds(30)) { try await run.valueOrEnd() }
                    // No process runs the job any longer.
                    #expect(try remote.explain(batch: "b", job: "x").sources.isEmpty)
                }
            }
        }
    }
}
