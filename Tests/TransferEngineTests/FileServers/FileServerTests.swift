import Foundation
import Glibc
import Testing
import TransferCore
import TransferEventLoop
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// The behaviour that all file servers share, whatever their protocol: against OpenSSH, vsftpd and pyftpdlib.
@Suite("File servers", .enabled(if: FileServerPeer.isWanted), .timeLimit(.minutes(2)))
struct FileServerTests {
    typealias Kind = FileServerPeer.Kind

    // MARK: Down

    @Test(arguments: Kind.allCases, [0, 1, 5000, 3_000_000])
    func aFileComesWholeWithItsValidator(_ kind: Kind, _ count: Int) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let bytes = try peer.put(count, as: "a b?ü")
            let attempt = try bench.start(peer.url("a%20b%3F%C3%BC"), peer.configure)
            let outcome = try await attempt.end()
            #expect(outcome.error == nil && outcome.position == Int64(count) && outcome.received == Int64(count))
            #expect(outcome.head?.status == 200 && outcome.head?.contentLength == Int64(count))
            #expect(outcome.head?.value("Last-Modified") == "Sun, 13 Sep 2020 12:26:40 GMT")
            // The length of an empty file may be unknown with SFTP's servers.
            #expect(kind.isSSH && count == 0 || outcome.head?.value("ETag") == "\"\(count)-1600000000\"")
            #expect(attempt.meter.position == Int64(count) && attempt.log.ends == 1 && attempt.log.starts.count == 1)
            let isSame = Array(try bench.folder.data("x.part")) == bytes
            #expect(isSame && attempt.meter.total == Int64(count))
        }
    }

    @Test(arguments: Kind.allCases) func aLookUpDescribesTheFile(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            for count in [0, 70_000] {
                try peer.put(count, as: "x")
                let outcome = try await bench.send("HEAD", peer.url("x"), peer.configure).end()
                #expect(outcome.head?.status == 200 && outcome.head?.contentLength == Int64(count))
                #expect(outcome.head?.value("ETag") == "\"\(count)-1600000000\"" && outcome.received == 0)
            }
            let missing = try await bench.send("HEAD", peer.url("y"), peer.configure).end()
            #expect(missing.head?.status == 404)
            let deep = try await bench.send("HEAD", peer.url("no/y"), peer.configure).end()
            #expect(deep.head?.status == 404)
        }
    }

    @Test(arguments: Kind.allCases) func aMissingFileIsReported(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let outcome = try await bench.download(peer.url("no"), peer.configure).outcome
            #expect(outcome.error?.status == 404 && outcome.error?.isTransient == false && outcome.position == 0)
            // The connection is as usable as before the failure.
            try peer.put(10, as: "x")
            let next = try await bench.download(peer.url("x"), peer.configure).outcome
            // FTP opens one more connection for each file. With TLS, a failure also ends the control connection.
            let made = [Kind.sftp: 0, .active: 0, .ftp: 1][kind] ?? 2
            #expect(next.error == nil && next.metrics.connectionsMade == made)
        }
    }

    @Test(arguments: Kind.allCases) func aCutDownloadResumesWhereItStopped(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let count = 24_000_000
            let bytes = try peer.put(count, as: "x")
            let limiter = RateLimiter(rate: 4_000_000)
            let attempt = try bench.start(peer.url("x"), limiters: [limiter], peer.configure)
            await eventually { attempt.meter.position > 500_000 }
            peer.cut()
            let cut = try await attempt.end()
            #expect(cut.error?.isTransient == true && cut.position > 0 && cut.position < Int64(count))
            #expect(cut.error?.code == .connectionLost, "\(cut.error?.message ?? "")")
            let point = try #require(cut.resumePoint)
            let rest = try await bench.download(peer.url("x"), resume: point, peer.configure)
            #expect(rest.outcome.error == nil, "\(rest.outcome.error.map { "\($0)" } ?? "")")
            #expect(rest.outcome.position == Int64(count) && rest.log.restarts.isEmpty)
            #expect(rest.outcome.head?.status == 206 && rest.outcome.received == Int64(count) - point.offset)
            let isSame = Array(try bench.folder.data("x.part")) == bytes
            #expect(isSame)
            // The same once more with the complete file.
            let whole = ResumePoint(offset: Int64(count), validator: point.validator, total: point.total)
            let again = try await bench.download(peer.url("x"), resume: whole, peer.configure)
            #expect(again.outcome.error == nil && again.outcome.received <= 1 && again.log.restarts.isEmpty)
        }
    }

    @Test(arguments: Kind.allCases) func aChangedFileStartsAgain(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            try peer.put(100_000, seed: 1, as: "x")
            let head = try await bench.send("HEAD", peer.url("x"), peer.configure).end().head
            let validator = head.flatMap { Validator($0) }
            let old = Array(try peer.root.data("served/x").prefix(40_000))
            for (count, time) in [(100_000, 1_600_000_001), (90_000, 1_600_000_000), (20_000, 1_600_000_000)] {
                let bytes = try peer.put(count, seed: 2, as: "x")
                try peer.setTime(time, of: "x")
                try bench.leavePart(old)
                let point = ResumePoint(offset: 40_000, validator: validator, total: 100_000)
                let (outcome, log) = try await bench.download(peer.url("x"), resume: point, peer.configure)
                #expect(outcome.error == nil && log.restarts.count == 1, "\(outcome.error?.message ?? "")")
                let isSame = Array(try bench.folder.data("x.part")) == bytes
                #expect(isSame)
            }
        }
    }

    @Test func aServerWithoutTimesOrRestartsIsServedWhole() async throws {
        for lacks in [["MDTM"], ["REST"], ["SIZE"]] {
            var options = FTPServer.Options()
            options.lacks = lacks
            let server = try await FTPServer.start(options)
            try await Bench.with { bench in
                let bytes = [UInt8](repeating: 7, count: 100_000)
                try Data(bytes).write(to: URL(fileURLWithPath: server.root + "/x"))
                let first = try await bench.download(server.url("/x")).outcome
                #expect(first.error == nil && (first.head?.value("ETag") == nil) == (lacks != ["REST"]))
                try await expectANewStart(bench, server, bytes)
            }
        }
    }

    /// Expects a restart from the beginning although some bytes of another version are present.
    private func expectANewStart(
        _ bench: Bench, _ server: FTPServer, _ bytes: [UInt8], _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try bench.leavePart(Array(bytes.prefix(5000)))
        let point = ResumePoint(offset: 5000, validator: Validator(etag: "\"a\""), total: nil)
        let (outcome, log) = try await bench.download(server.url("/x"), resume: point)
        #expect(outcome.error == nil && log.restarts.count == 1, sourceLocation: location)
        #expect(outcome.position == Int64(bytes.count), sourceLocation: location)
        let isSame = Array(try bench.folder.data("x.part")) == bytes
        #expect(isSame, sourceLocation: location)
    }

    /// RFC 3659 §4: SIZE is optional, and some servers refuse it with 550.
    @Test(arguments: ["550 SIZE not allowed", "550 Could not get file size."])
    func aRefusedSizeIsNoMissingFile(_ reply: String) async throws {
        var options = FTPServer.Options()
        options.replies["SIZE"] = Array(repeating: reply, count: 20)
        let server = try await FTPServer.start(options)
        try await Bench.with { bench in
            let bytes = [UInt8](repeating: 7, count: 100_000)
            try Data(bytes).write(to: URL(fileURLWithPath: server.root + "/x"))
            let first = try await bench.download(server.url("/x")).outcome
            #expect(first.error == nil && first.position == 100_000, "\(first.result)")
            // The same with a partial file present.
            try await expectANewStart(bench, server, bytes)
            // The server answers RETR of a missing file with a refusal.
            let missing = try await bench.download(server.url("/y")).outcome
            #expect(missing.error?.status == 404, "\(missing.result)")
            let look = try await bench.send("HEAD", server.url("/x")).end()
            #expect(look.head?.status == 403, "\(look.result)")
        }
    }

    /// libcurl would read as many bytes as SIZE declared, and accept them as the file.
    @Test(arguments: ["213 2", "213 0", "213 500000"])
    func aWrongSizeIsDetected(_ reply: String) async throws {
        var options = FTPServer.Options()
        options.replies["SIZE"] = Array(repeating: reply, count: 20)
        let server = try await FTPServer.start(options)
        try await Bench.with { bench in
            try Data(repeating: 7, count: 100_000).write(to: URL(fileURLWithPath: server.root + "/x"))
            let outcome = try await bench.download(server.url("/x")).outcome
            let words = outcome.error?.message ?? ""
            #expect(outcome.error?.isTransient == true, "\(outcome.result)")
            #expect(
                words.contains("sent 100000 bytes of a file of") || words.contains("bytes early")
                    || words.contains("no further") || words.contains("sent none of"), "\(words)")
        }
    }

    /// A denied STAT does not mean "0 bytes are there".
    @Test func aFileOfUnknownLengthOverSFTPIsNotEmpty() async throws {
        var options = SSHServer.Options()
        options.sftp = "internal-sftp -P stat,lstat,fstat"
        let server = try await SSHServer.start(options)
        try await Bench.with { bench in
            try server.folder.write("hello", to: "x")
            let look = try await bench.send("HEAD", server.url(server.folder.path("x"))) {
                $0.files.knownHosts = server.knownHosts
                $0.files.privateKey = FileServerSettings.PrivateKey(path: server.userKey)
                $0.credentials = .password(user: SSHServer.userName, password: "")
            }.end()
            #expect(look.head?.status == 200 && look.head?.contentLength == nil, "\(look.result)")
        }
    }

    // MARK: Up

    @Test(arguments: Kind.allCases, [0, 1, 5000, 3_000_000])
    func aFileArrivesAsItIs(_ kind: Kind, _ count: Int) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let source = try bench.folder.write(count: count, seed: 3, to: "source")
            try peer.put(9, as: "x")
            let attempt = bench.send("PUT", peer.url("x"), body: .file(try SourceFile(source)), peer.configure)
            let outcome = try await attempt.end()
            #expect(outcome.head?.status == 201 && outcome.sent == Int64(count), "\(outcome.result)")
            #expect(attempt.meter.sent == Int64(count) && attempt.log.ends == 1)
            let isSame = try peer.bytes("x") == Array(bench.folder.data("source"))
            #expect(isSame)
        }
    }

    @Test(arguments: Kind.allCases, [true, false])
    func bytesAndStreamsArriveToo(_ kind: Kind, _ isLengthKnown: Bool) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let bytes = Content.random(seed: 2, count: 400_000).bytes()
            let stream = ByteStream(bytes, length: isLengthKnown ? Int64(bytes.count) : nil)
            for (index, body) in [RequestBody.bytes(bytes), .stream(stream), .none].enumerated() {
                let outcome = try await bench.send("PUT", peer.url("x\(index)"), body: body, peer.configure).end()
                #expect(outcome.head?.status == 201, "\(outcome.result)")
                let isSame = try peer.bytes("x\(index)") == (index == 2 ? [] : bytes)
                #expect(isSame)
            }
        }
    }

    @Test(arguments: Kind.allCases) func aRestIsAppendedExactlyAfterTheStoredBytes(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            func patch(_ name: String, at offset: Int64, _ bytes: [UInt8]) async throws -> ResponseHead? {
                try await bench.send(
                    "PATCH", peer.url(name), body: .bytes(bytes),
                    headers: [HeaderField("Upload-Offset", "\(offset)")], peer.configure
                ).end().head
            }
            let whole = Content.random(seed: 4, count: 300_000).bytes()
            let made = try await patch("x", at: 0, Array(whole[..<100_000]))
            #expect(made?.status == 204 && made?.value("Upload-Offset") == "100000")
            for offset in [0, 99_999, 100_001] as [Int64] {
                let refused = try await patch("x", at: offset, [1, 2, 3])
                #expect(refused?.status == 409 && refused?.value("Upload-Offset") == "100000")
            }
            let rest = try await patch("x", at: 100_000, Array(whole[100_000...]))
            #expect(rest?.status == 204 && rest?.value("Upload-Offset") == "300000")
            let isSame = try peer.bytes("x") == whole
            #expect(isSame)
            let missing = try await patch("y", at: 5, [1])
            #expect(missing?.status == 409 && missing?.value("Upload-Offset") == "0" && !peer.exists("y"))
        }
    }

    @Test(arguments: Kind.allCases) func aCutUploadResumesFromTheStoredBytes(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let whole = Content.random(seed: 5, count: 8_000_000).bytes()
            let attempt = bench.send(
                "PUT", peer.url("x"), body: .bytes(whole), limiters: [RateLimiter(rate: 4_000_000)], peer.configure)
            await eventually { attempt.meter.sent > 2_000_000 }
            peer.cut()
            let cut = try await attempt.end()
            #expect(cut.error?.isTransient == true && cut.sent > 0 && cut.sent < Int64(whole.count))
            // Bytes on their way may still be written, so the offset is the one that the server reports.
            var offset: Int64 = 0
            for _ in 0..<10 {
                let patch = bench.send(
                    "PATCH", peer.url("x"), body: .bytes(Array(whole[Int(offset)...])),
                    headers: [HeaderField("Upload-Offset", "\(offset)")], peer.configure)
                let outcome = try await patch.end()
                let head = try #require(outcome.head, "\(outcome.result)")
                if head.status == 204 { break }
                #expect(head.status == 409)
                offset = try #require(head.value("Upload-Offset").flatMap { Int64($0) })
            }
            #expect(offset > 0)
            let isSame = try peer.bytes("x") == whole
            #expect(isSame)
        }
    }
}
