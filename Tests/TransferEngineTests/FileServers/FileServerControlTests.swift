import Foundation
import Glibc
import Testing
import TransferCore
import TransferEventLoop
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// Exchanges that are suspended or cancelled, or whose servers hang, do not delay other exchanges.
@Suite("Control of file servers", .enabled(if: FileServerPeer.isWanted), .serialized, .timeLimit(.minutes(2)))
struct FileServerControlTests {
    typealias Kind = FileServerPeer.Kind

    private func seconds(_ body: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await body()
        let time = ContinuousClock.now - start
        return Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    }

    @Test(arguments: Kind.allCases) func aCancelledTransferEndsAtOnceAndTheNextOneWorks(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            try peer.put(8_000_000, as: "x")
            let down = try bench.start(peer.url("x"), limiters: [RateLimiter(rate: 1_000_000)], peer.configure)
            await eventually { down.meter.position > 100_000 }
            let up = bench.send(
                "PUT", peer.url("y"), body: .bytes([UInt8](repeating: 1, count: 8_000_000)),
                limiters: [RateLimiter(rate: 1_000_000)], peer.configure)
            await eventually { up.meter.sent > 100_000 }
            let time = try await seconds {
                for attempt in [down, up] {
                    attempt.handle.cancel()
                    let outcome = try await attempt.end()
                    #expect(outcome.error?.code == .cancelled && attempt.log.ends == 1)
                }
            }
            #expect(time < 2)
            #expect(down.meter.position < 8_000_000)
            try peer.put(100, as: "z")
            let next = try await bench.download(peer.url("z"), peer.configure).outcome
            #expect(next.error == nil)
        }
    }

    /// The phases of a file: its middle, its beginning and its end. In some of these libcurl blocks until the server
    /// answers.
    @Test(arguments: Kind.allCases, ["download", "upload", "look", "small upload"])
    func aHungServerDoesNotDelayOtherExchanges(_ kind: Kind, _ what: String) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            try peer.put(8_000_000, as: "x")
            try peer.put(10, as: "warm")
            // A warm connection, so that the server stops after the login.
            let warm = try await bench.download(peer.url("warm"), peer.configure).outcome
            #expect(warm.error == nil)
            let limiters = [RateLimiter(rate: 2_000_000)]
            let attempt: Bench.Attempt
            switch what {
            case "download":
                attempt = try bench.start(peer.url("x"), limiters: limiters, peer.configure)
                await eventually { attempt.meter.position > 100_000 }
                peer.setStopped(true)
            case "upload":
                attempt = bench.send(
                    "PUT", peer.url("y"), body: .bytes([UInt8](repeating: 1, count: 64_000_000)), limiters: limiters,
                    peer.configure)
                await eventually { attempt.meter.sent > 100_000 }
                peer.setStopped(true)
            case "look":
                peer.setStopped(true)
                attempt = bench.send("HEAD", peer.url("x"), peer.configure)
            default:
                attempt = bench.send(
                    "PUT", peer.url("y"), body: .bytes([UInt8](repeating: 1, count: 20_000)),
                    limiters: [RateLimiter(rate: 20_000)], peer.configure)
                await eventually { attempt.meter.sent > 0 }
                peer.setStopped(true)
            }
            defer { peer.setStopped(false) }
            bench.server.serve("/x", ServedFile(.random(seed: 1, count: 100_000), etag: "\"a\""))
            // The buffer of libcurl may be sent by now, so that libcurl waits for the end of the upload.
            for _ in 0..<20 {
                let other = try await bench.send("GET", "/x").end()
                #expect(other.head?.status == 200)
            }
            let time = try await seconds {
                attempt.handle.cancel()
                let outcome = try await attempt.end()
                #expect(outcome.error?.code == .cancelled && attempt.log.ends == 1)
            }
            #expect(time < 2, "\(time) s")
        }
    }

    /// libcurl waits up to a minute for the confirmation of a stored file. A shut-down socket wakes it.
    @Test(arguments: [Kind.sftp, .ftp, .explicitTLS, .implicitTLS])
    func aWaitForTheConfirmationCanBeCancelled(_ kind: Kind)
        async throws
    {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            try peer.put(10, as: "warm")
            _ = try await bench.download(peer.url("warm"), peer.configure)
            let attempt = bench.send(
                "PUT", peer.url("y"), body: .stream(StoppingStream { peer.setStopped(true) }), peer.configure)
            defer { peer.setStopped(false) }
            await eventually { attempt.meter.sent == 1000 }
            // Meanwhile libcurl has sent the whole file.
            bench.server.serve("/x", ServedFile(.random(seed: 1, count: 1000), etag: "\"a\""))
            for _ in 0..<50 { _ = try await bench.send("GET", "/x").end() }
            let time = try await seconds {
                attempt.handle.cancel()
                let outcome = try await attempt.end()
                #expect(outcome.error?.code == .cancelled)
            }
            #expect(time < 2, "\(time) s")
        }
    }

    @Test(arguments: [Kind.sftp, .ftp, .implicitTLS]) func silenceEndsATransferByItsRule(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            try peer.put(8_000_000, as: "x")
            let attempt = try bench.start(peer.url("x"), limiters: [RateLimiter(rate: 2_000_000)]) {
                peer.configure(&$0)
                $0.idleTimeout = .milliseconds(700)
            }
            await eventually { attempt.meter.position > 100_000 }
            peer.setStopped(true)
            defer { peer.setStopped(false) }
            let outcome = try await attempt.end()
            #expect(
                outcome.error?.code == .timedOut && outcome.error?.isTransient == true && outcome.resumePoint != nil)
        }
    }

    /// A look-up moves no byte of a file, so libcurl's own speed limit would never end it.
    @Test(arguments: [Kind.sftp, .ftp, .implicitTLS]) func silenceEndsAHEADRequestToo(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            try peer.put(10, as: "x")
            let warm = try await bench.send("HEAD", peer.url("x"), peer.configure).end()
            #expect(warm.head?.status == 200)
            peer.setStopped(true)
            defer { peer.setStopped(false) }
            let look = try await bench.send("HEAD", peer.url("x")) {
                peer.configure(&$0)
                $0.lowSpeedTime = .seconds(1)
            }.end()
            #expect(look.error?.code == .timedOut && look.error?.isTransient == true, "\(look.result)")
            #expect(look.metrics.connectionsMade == 0)
        }
    }

    /// libcurl blocks in this wait, and the loop with it.
    @Test(arguments: [Kind.sftp, .ftp, .implicitTLS])
    func silenceEndsTheWaitForTheConfirmation(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let attempt = bench.send("PUT", peer.url("y"), body: .stream(StoppingStream { peer.setStopped(true) })) {
                peer.configure(&$0)
                $0.idleTimeout = .milliseconds(500)
            }
            let time = try await seconds {
                let outcome = try await attempt.end()
                #expect(outcome.error?.code == .timedOut && outcome.error?.isTransient == true, "\(outcome.result)")
            }
            peer.setStopped(false)
            #expect(time < 10, "\(time) s")
            let next = try await bench.send("PUT", peer.url("z"), body: .bytes([1]), peer.configure).end()
            #expect(next.head?.status == 201, "\(next.result)")
        }
    }

    /// libcurl blocks in this wait, and the loop with it; nothing that the answer says concerns the file.
    @Test func aWholeFileIsCompleteWithoutTheAnswerToCLOSE() async throws {
        let filters = try TemporaryFolder("filter")
        var options = SSHServer.Options()
        options.sftp = "exec /usr/bin/python3 -S -E \(try filters.write(SFTPFilterScript.text, to: "filter.py"))"
        let server = try await SSHServer.start(options)
        let served = try server.folder.folder("served")
        try server.folder.write(count: 300_000, seed: 1, to: "served/x")
        try server.folder.write(#"[{"op": "CLOSE", "mute": true, "times": 1}]"#, to: "served/fault.json")
        try await Bench.with { bench in
            func configure(_ settings: inout ExchangeSettings) {
                settings.files.knownHosts = server.knownHosts
                settings.files.privateKey = FileServerSettings.PrivateKey(path: server.userKey)
                settings.credentials = .password(user: SSHServer.userName, password: "")
                settings.idleTimeout = .seconds(60)
            }
            let time = try await seconds {
                let outcome = try await bench.download(server.url(served + "/x"), configure).outcome
                #expect(outcome.error == nil && outcome.position == 300_000, "\(outcome.result)")
            }
            #expect(time < 30, "\(time) s")
            let isSame = try bench.folder.data("x.part") == server.folder.data("served/x")
            #expect(isSame)
            let next = try await bench.send("HEAD", server.url(served + "/x"), configure).end()
            #expect(next.head?.status == 200, "\(next.result)")
        }
    }

    @Test(arguments: Kind.allCases) func aSuspendedTransferPausesAndResumes(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let bytes = try peer.put(6_000_000, as: "x")
            let down = try bench.start(peer.url("x"), limiters: [RateLimiter(rate: 6_000_000)], peer.configure)
            let up = bench.send(
                "PUT", peer.url("y"), body: .bytes(bytes), limiters: [RateLimiter(rate: 6_000_000)], peer.configure)
            await eventually { down.meter.position > 100_000 && up.meter.sent > 100_000 }
            for attempt in [down, up] { attempt.handle.suspend() }
            bench.server.serve("/x", ServedFile(.random(seed: 1, count: 1000), etag: "\"a\""))
            // No event reports that the loops have received the command.
            var before = (Int64(-1), Int64(-1))
            while before != (down.meter.position, up.meter.sent) {
                before = (down.meter.position, up.meter.sent)
                for _ in 0..<50 { _ = try await bench.send("GET", "/x").end() }
            }
            for _ in 0..<100 { _ = try await bench.send("GET", "/x").end() }
            #expect((down.meter.position, up.meter.sent) == before && before.0 < 6_000_000)
            for attempt in [down, up] { attempt.handle.resume() }
            let outcomes = (try await down.end(), try await up.end())
            #expect(outcomes.0.error == nil && outcomes.1.head?.status == 201)
            let isSame = (Array(try bench.folder.data("x.part")) == bytes, try peer.bytes("y") == bytes)
            #expect(isSame == (true, true))
        }
    }

    @Test(arguments: Kind.allCases) func aLostLinkInterruptsItsTransfers(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            try peer.put(8_000_000, as: "x")
            let attempt = try bench.start(peer.url("x"), limiters: [RateLimiter(rate: 1_000_000)], peer.configure)
            await eventually { attempt.meter.position > 100_000 }
            let gone = TransferError(.networkChanged, "gone", isTransient: true)
            attempt.handle.interrupt(gone) { $0.localAddress == IPAddress("10.9.9.9") }
            attempt.handle.interrupt(gone) { $0.localAddress == IPAddress("127.0.0.1") }
            let outcome = try await attempt.end()
            #expect(outcome.error == gone && outcome.resumePoint != nil)
        }
    }

    @Test(arguments: Kind.allCases) func aRateIsKept(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let bytes = try peer.put(1_500_000, as: "x")
            let time = try await seconds {
                let down = try bench.start(peer.url("x"), limiters: [RateLimiter(rate: 1_000_000)], peer.configure)
                let outcome = try await down.end()
                #expect(outcome.error == nil)
            }
            // A quarter of a second's allowance may be sent at once.
            #expect(time > 1.1, "\(time) s")
            let up = try await seconds {
                let outcome = try await bench.send(
                    "PUT", peer.url("y"), body: .bytes(bytes), limiters: [RateLimiter(rate: 1_000_000)], peer.configure
                ).end()
                #expect(outcome.head?.status == 201)
            }
            #expect(up > 1.1, "\(up) s")
        }
    }

    @Test(arguments: [Kind.sftp, .ftp]) func theEnginesEndClosesFileServerConnections(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            try peer.put(8_000_000, as: "x")
            let attempt = try bench.start(peer.url("x"), limiters: [RateLimiter(rate: 1_000_000)], peer.configure)
            await eventually { attempt.meter.position > 100_000 }
            peer.setStopped(true)
            defer { peer.setStopped(false) }
            bench.engine.shutDown()
            let outcome = await attempt.log.outcome
            #expect(outcome.error?.code == .cancelled)
            let late = bench.send("HEAD", peer.url("x"), peer.configure)
            let answer = await late.log.outcome
            #expect(answer.error?.code == .cancelled)
        }
    }

    @Test(arguments: Kind.allCases) func nothingIsLeftOfAnEngine(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try peer.put(100_000, as: "x")
        func descriptors() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }
        var before = 0
        for round in 0..<4 {
            try await peer.with { bench in
                let attempts = (0..<10).map { _ in bench.send("GET", peer.url("x"), peer.configure) }
                for attempt in attempts {
                    let outcome = try await attempt.end()
                    #expect(outcome.error == nil)
                }
            }
            if round == 0 { before = descriptors() } else { await eventually { descriptors() <= before + 5 } }
        }
    }

    @Test(arguments: [Kind.sftp, .ftp, .implicitTLS]) func bigFilesLeaveTheProcessSmall(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let count = 64 << 20
            try peer.root.write(count: count, seed: 1, to: "served/x")
            chmod(peer.disk("x"), 0o666)
            let before = try #require(ProcessFacts.peakMemory(getpid()))
            let down = try await bench.download(peer.url("x"), peer.configure).outcome
            #expect(down.error == nil && down.position == Int64(count))
            let up = try await bench.send("PUT", peer.url("y"), body: .file(try SourceFile(bench.file)), peer.configure)
                .end()
            #expect(up.head?.status == 201 && up.sent == Int64(count))
            let after = try #require(ProcessFacts.peakMemory(getpid()))
            #expect(after - before < 32 << 20, "grew by \(ByteCount.format(after - before))")
            let digests = (try await peer.root.sha256("served/x"), try await peer.root.sha256("served/y"))
            #expect(digests.0 == digests.1 && down.digest?.hex == digests.0)
        }
    }
}

/// A body of a thousand bytes that runs an action before its end is reported.
private struct StoppingStream: BodyStream {
    let length: Int64? = nil
    let atEnd: @Sendable () -> Void

    init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }

    func open() throws(TransferError) -> any BodyReader { Reader(atEnd) }

    final class Reader: BodyReader, @unchecked Sendable {  // Used by one thread at a time, as readers are.
        private let atEnd: @Sendable () -> Void
        private var reads = 0
        init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
            reads += 1
            guard reads == 1 else {
                atEnd()
                return 0
            }
            for index in 0..<1000 { buffer[index] = 1 }
            return 1000
        }

        func close() {}
    }
}
