import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Uploads that are cancelled while no process runs them: their servers are notified all the same.
@Suite(.serialized, .timeLimit(.minutes(2))) struct CancelledUploadTests {
    /// Prepares an upload whose program was killed in the middle of it.
    static func killedUpload(
        _ kind: UploadPeerKind, more: String = "", token: String? = nil
    ) async throws -> UploadConformanceTests.Bench {
        let bench = try await UploadConformanceTests.Bench(kind, more: more)
        bench.relay.script([.stall(after: 2 << 20)], countsFromFirstAnswer: kind.answersBeforeTheBody)
        var command = bench.place.command(["run", "jobs.json", "--json"])
        command.environment["TOKEN"] = token
        let process = try command.start()
        try await until("the upload to stall") { bench.relay.stalledCount == 1 }
        if kind.isOffered { try await bench.place.waitForTheOffer() }
        process.kill(SIGKILL)
        _ = try await process.result()
        bench.relay.script([])
        // The rest of its bytes in the kernel keeps the connection open.
        bench.relay.cutAll()
        try await until("the server to have begun") { try await bench.peer.unfinished() == 1 }
        return bench
    }

    /// tuspyserver is excluded: it may write the relay's remaining bytes after the upload was deleted, and so restore
    /// it.
    @Test(arguments: UploadPeerKind.resuming.filter { $0 != .tuspyserver })
    func cancelNotifiesTheServerWithoutARun(_ kind: UploadPeerKind) async throws {
        let bench = try await Self.killedUpload(kind)
        let result = try await bench.place.run("cancel", "batch/f")
        #expect(result.exitCode == 0 && result.standardOutput == "batch/f: 1 job cancelled\n", "\(result)")
        #expect(result.standardError == "", "\(result)")
        let (unfinished, objects) = (try await bench.peer.unfinished(), try await bench.peer.objects())
        #expect(unfinished == 0 && objects.isEmpty)
        // The server is notified once: no notification is left.
        let connections = bench.relay.connectionCount
        #expect(try await bench.place.run("cancel", "batch").exitCode == 0)
        #expect(bench.relay.connectionCount == connections)
    }

    @Test func anUnreachableServerIsNotifiedNextTime() async throws {
        let bench = try await Self.killedUpload(.tus)
        let answer = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        bench.relay.script(Array(repeating: .answer(after: 1, Array(answer.utf8)), count: 100))
        let inVain = try await bench.place.run("cancel", "batch")
        #expect(inVain.exitCode == 0 && inVain.standardError.contains("could not be asked to drop it"), "\(inVain)")
        #expect(try await bench.peer.unfinished() == 1)
        bench.relay.script([])
        let result = try await bench.place.run("cancel", "batch")
        #expect(result.exitCode == 0 && result.standardError == "", "\(result)")
        #expect(try await bench.peer.unfinished() == 0)
    }

    /// A refused login, of a different user or expired, says nothing about the server's upload.
    @Test(arguments: [401, 403]) func aServerThatRefusesTheLoginIsNotifiedNextTime(_ status: Int) async throws {
        let bench = try await Self.killedUpload(.tus)
        let answer = "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        bench.relay.script(Array(repeating: .answer(after: 1, Array(answer.utf8)), count: 100))
        let inVain = try await bench.place.run("cancel", "batch")
        #expect(inVain.exitCode == 0 && inVain.standardError.contains("batch/f: its server holds part"), "\(inVain)")
        #expect(inVain.standardError.contains("\(status)"), "\(inVain)")
        #expect(try await bench.peer.unfinished() == 1)
        bench.relay.script([])
        let result = try await bench.place.run("cancel", "batch")
        #expect(result.exitCode == 0 && result.standardError == "", "\(result)")
        #expect(try await bench.peer.unfinished() == 0)
    }

    @Test func aServerIsNotifiedOnceItsSecretIsThere() async throws {
        let bench = try await Self.killedUpload(
            .tus, more: #", "headers": {"X-Token": {"env": "TOKEN"}}"#, token: "secret")
        let inVain = try await bench.place.run("cancel", "batch")
        #expect(inVain.exitCode == 0 && inVain.standardError.contains("TOKEN is not set"), "\(inVain)")
        #expect(try await bench.peer.unfinished() == 1)
        var command = bench.place.command(["cancel", "batch"])
        command.environment["TOKEN"] = "secret"
        let result = try await command.run()
        #expect(result.exitCode == 0 && result.standardError == "", "\(result)")
        #expect(try await bench.peer.unfinished() == 0)
    }

    @Test func anUploadRunAgainAfterItsCancelIsSentFromTheStart() async throws {
        let bench = try await Self.killedUpload(.tus)
        #expect(try await bench.place.run("cancel", "batch").exitCode == 0)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
    }

    /// The upload of a changed job, or of a job that is removed from its file, is not continued.
    @Test(arguments: UploadPeerKind.available.filter { $0 == .tus || $0 == .moto }, [true, false])
    func anAbandonedUploadIsDeleted(_ kind: UploadPeerKind, _ isChanged: Bool) async throws {
        let bench = try await Self.killedUpload(kind)
        try bench.place.folder.write(count: 6 << 20, seed: 9, to: "g")
        let (url, members) = bench.peer.target(bench.relay.port)
        try bench.place.jobs([upload("g", to: url, #""id": "\#(isChanged ? "f" : "g")", \#(members)"#)])
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        let expected = try await digest("sha256", bench.place.content("g"))
        let (unfinished, objects) = (try await bench.peer.unfinished(), try await bench.peer.objects())
        #expect(unfinished == 0)
        #expect(objects == [expected])
    }
}
