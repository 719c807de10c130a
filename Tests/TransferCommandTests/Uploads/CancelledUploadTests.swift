import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Uploads that are cancelled while nobody runs them: their servers are told all the same.
@Suite(.serialized, .timeLimit(.minutes(2))) struct CancelledUploadTests {
    /// An upload whose program was killed in the middle of it.
    private func killedUpload(_ kind: UploadPeerKind) async throws -> UploadConformanceTests.Bench {
        let bench = try await UploadConformanceTests.Bench(kind)
        bench.relay.script([.stall(after: 2 << 20)], countsFromFirstAnswer: kind.answersBeforeTheBody)
        let process = try bench.place.startJobs()
        try await until("the upload to stall") { bench.relay.stalledCount == 1 }
        process.kill(SIGKILL)
        _ = try await process.result()
        bench.relay.script([])
        // What the kernel has left of its bytes keeps the connection open.
        bench.relay.cutAll()
        try await until("the server to have begun") { try await bench.peer.unfinished() == 1 }
        return bench
    }

    /// Not tuspyserver, which may write what the relay still had when the upload has been taken away, and so has it again.
    @Test(arguments: UploadPeerKind.resuming.filter { !$0.isOffered && $0 != .tuspyserver })
    func cancelTellsTheServerWhereNobodyRunsTheBatch(_ kind: UploadPeerKind) async throws {
        let bench = try await killedUpload(kind)
        let result = try await bench.place.run("cancel", "batch/f")
        #expect(result.exitCode == 0 && result.standardOutput == "batch/f: 1 job cancelled\n", "\(result)")
        #expect(result.standardError == "", "\(result)")
        let (unfinished, objects) = (try await bench.peer.unfinished(), try await bench.peer.objects())
        #expect(unfinished == 0 && objects.isEmpty)
        // Told once: there is nothing left to tell.
        let connections = bench.relay.connectionCount
        #expect(try await bench.place.run("cancel", "batch").exitCode == 0)
        #expect(bench.relay.connectionCount == connections)
    }

    @Test func aServerThatCouldNotBeToldIsToldNextTime() async throws {
        let bench = try await killedUpload(.tus)
        let answer = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        bench.relay.script(Array(repeating: .answer(after: 1, Array(answer.utf8)), count: 100))
        let inVain = try await bench.place.run("cancel", "batch")
        #expect(inVain.exitCode == 0 && inVain.standardError.contains("couldn't be told"), "\(inVain)")
        #expect(try await bench.peer.unfinished() == 1)
        bench.relay.script([])
        let result = try await bench.place.run("cancel", "batch")
        #expect(result.exitCode == 0 && result.standardError == "", "\(result)")
        #expect(try await bench.peer.unfinished() == 0)
    }

    @Test func whatIsRunAgainAfterTheCancelIsSentFromTheStart() async throws {
        let bench = try await killedUpload(.tus)
        #expect(try await bench.place.run("cancel", "batch").exitCode == 0)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
    }
}
