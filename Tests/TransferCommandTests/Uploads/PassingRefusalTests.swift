import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// File servers that refuse a file temporarily and accept it later, by the command.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PassingRefusalTests {
    /// RFC 959 §4.2.1: after 4yz "the user-process is encouraged to try again".
    @Test(
        .enabled(if: FTPServer.isWanted),
        arguments: [
            "421 Too many of you", "425 No data connection", "450 The file is busy", "451 Something went wrong",
        ])
    func aFileThatFTPRefusesForNowIsSentAgain(_ reply: String) async throws {
        var options = FTPServer.Options()
        options.replies = ["STOR": [reply, reply]]
        let server = try await FTPServer.start(options)
        let place = try Workplace("refused")
        try place.folder.write(count: 300_000, seed: 7, to: "f")
        try place.jobs([upload("f", to: server.url("/f"), #""id": "f""#)])
        let result = try await place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        let events = try result.events()
        let reasons = events.named("job.retrying").compactMap { $0["reason"]?.string }
        #expect(reasons.count == 2 && reasons.allSatisfy { $0.contains(reply) }, "\(result)")
        #expect(events.named("job.restarted").isEmpty, "\(result)")
        #expect(server.commands("STOR").count == 3)
        try expectTheFile(at: server.root, place)
    }

    /// The server ends the data connection, and says why only then: a client that sends sees a broken pipe.
    @Test func aQuotaReachedMidwayIsToldInTheServersWords() async throws {
        let server = try FTPScriptServer()
        defer { server.stop() }
        server.script("STOR", [], afterwards: .cut(after: 100_000, reply: "552 quota exceeded"))
        let place = try Workplace("refused")
        try place.folder.write(count: 24 << 20, seed: 7, to: "f")
        try place.jobs([upload("f", to: server.url("/in/f"), #""id": "f""#)])
        let result = try await place.runJobs()
        #expect(result.exitCode == 1, "\(result)")
        let failure = try result.events().named("job.failed").first
        #expect(failure?["message"]?.string?.contains("552 quota exceeded") == true, "\(result)")
        #expect(server.commands.count { $0 == "STOR" } == 1)
    }

    /// ProFTPD's answer to APPE, unless its configuration permits that: no later attempt may append either.
    @Test(.enabled(if: FTPServer.isWanted)) func aServerThatNeverAppendsGetsTheFileAnew() async throws {
        var options = FTPServer.Options()
        options.replies = ["APPE": Array(repeating: "451 f: Append/Restart not permitted, try again", count: 20)]
        let server = try await FTPServer.start(options)
        let place = try Workplace("refused")
        try place.folder.write(count: 6 << 20, seed: 7, to: "f")
        try place.jobs(
            [upload("f", to: server.url("/f"), #""id": "f""#)],
            extra: #""defaults": {"limitRate": "4M", "retry": {"scale": "50ms", "jitter": false}}, "#)
        let process = try place.startJobs()
        try await until("a part") { partSize(in: server.root) > 1 << 20 }
        server.cut()
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(server.commands("APPE").count == 1 && server.commands("STOR").count == 2)
        try expectTheFile(at: server.root, place)
    }

    /// The server's bytes are kept: only a permanent refusal discards them.
    @Test(.enabled(if: FTPServer.isWanted)) func aRestThatFTPRefusesForNowIsStillOnlyTheRest() async throws {
        var options = FTPServer.Options()
        options.replies = ["APPE": ["451 Something went wrong"]]
        let server = try await FTPServer.start(options)
        let place = try Workplace("refused")
        let size = 6 << 20
        try place.folder.write(count: size, seed: 7, to: "f")
        try place.jobs(
            [upload("f", to: server.url("/f"), #""id": "f""#)],
            extra: #""defaults": {"limitRate": "4M", "retry": {"scale": "50ms", "jitter": false}}, "#)
        let process = try place.startJobs()
        try await until("a part") { partSize(in: server.root) > 1 << 20 }
        server.cut()
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        let events = try result.events()
        #expect(events.named("job.restarted").isEmpty, "\(result)")
        #expect(events.named("job.finished").first?["transferred"]?.int.map { $0 < size - 1 << 20 } == true)
        #expect(server.commands("STOR").count == 1 && server.commands("APPE").count == 2)
        try expectTheFile(at: server.root, place)
    }

    /// WRITEs are under way in parallel: the server refuses one of them, and accepts later ones.
    @Test(.enabled(if: SSHServer.isWanted), arguments: [100_000, 3 << 20, (6 << 20) - 300_000])
    func aFileOfSFTPWithAHoleIsNeverComplete(_ hole: Int) async throws {
        let place = try Workplace("refused")
        let filter = try place.folder.write(SFTPFilterScript.text, to: "filter.py")
        let (server, served) = try await start(sftp: "exec /usr/bin/python3 -S -E \(filter)")
        let fault = #"[{"op": "WRITE", "after": \#(hole), "reply": 4, "times": 1}]"#
        try server.folder.write(fault, to: "served/fault.json")
        try job(of: 6 << 20, to: server, served, place, retry: #"{"scale": "50ms", "jitter": false, "limit": 3}"#)
        let result = try await place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        let events = try result.events()
        #expect(events.named("job.retrying").count == 1, "\(result)")
        #expect(
            events.named("job.restarted").map { $0["reason"]?.string } == [
                "what the server has of the file ends with other bytes"
            ], "\(result)")
        try FileManager.default.removeItem(atPath: served + "/fault.json")
        try expectTheFile(at: served, place)
    }

    /// The server's disk accepts a mebibyte of the file and then no more: OpenSSH calls that SSH_FX_FAILURE.
    @Test(.enabled(if: SSHServer.isWanted)) func aFileThatSFTPFailsToWriteContinuesLater() async throws {
        let place = try Workplace("refused")
        // The limit is in blocks of 512 bytes. With the signal ignored, reaching it is a failed write (setrlimit(2)).
        let limit = try place.folder.write("2048", to: "limit")
        let script = try place.folder.write(
            "[ -e '\(limit)' ] && { trap '' XFSZ; ulimit -f $(cat '\(limit)'); }\nexec \(SSHServer.sftpProgram)\n",
            to: "server.sh")
        let (server, served) = try await start(sftp: "/bin/sh \(script)")
        let size = 6 << 20
        try job(of: size, to: server, served, place, retry: #"{"scale": "200ms", "jitter": false, "limit": 20}"#)
        let process = try place.startJobs()
        try await process.event("job.retrying", id: "f")
        #expect(partSize(in: served) == 1 << 20)
        try FileManager.default.removeItem(atPath: limit)
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        let events = try result.events()
        #expect(events.named("job.restarted").isEmpty, "\(result)")
        #expect(events.named("job.finished").first?["transferred"]?.int == Int64(size - 1 << 20), "\(result)")
        try expectTheFile(at: served, place)
    }

    /// Starts an SSH server with this SFTP program, and makes its folder for uploads.
    private func start(sftp program: String) async throws -> (SSHServer, folder: String) {
        var options = SSHServer.Options()
        options.sftp = program
        let server = try await SSHServer.start(options)
        return (server, try server.folder.folder("served"))
    }

    /// Makes a job that uploads one file to the server.
    private func job(of size: Int, to server: SSHServer, _ served: String, _ place: Workplace, retry: String) throws {
        try place.folder.write(count: size, seed: 7, to: "f")
        let ssh = #""ssh": {"knownHosts": "\#(server.knownHosts)", "key": "\#(server.userKey)", "agent": false}"#
        try place.jobs(
            [upload("f", to: server.url(served + "/f"), #""id": "f", \#(ssh)"#)],
            extra: #""defaults": {"retry": \#(retry)}, "#)
    }

    private func names(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    /// Returns the size of the unfinished upload, in bytes.
    private func partSize(in folder: String) -> Int {
        guard let name = names(folder).first(where: { $0.hasSuffix(".part") }) else { return 0 }
        return (try? Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)).count) ?? 0
    }

    /// Expects the file to equal the source, and to be the only one.
    private func expectTheFile(
        at folder: String, _ place: Workplace, _ location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(names(folder) == ["f"], sourceLocation: location)
        let isSame = try Data(contentsOf: URL(fileURLWithPath: folder + "/f")) == place.folder.data("f")
        #expect(isSame, "other bytes", sourceLocation: location)
    }
}
