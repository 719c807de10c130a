import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// What servers of other people's making do with uploads in parts: it's asked what they have, joined, and taken away.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: PythonServer.isWanted)) struct PartsOnServersTests {
    private typealias Bench = UploadConformanceTests.Bench

    /// A new process has nothing but the number of the upload: ListParts says what is there.
    @Test(arguments: [UploadPeerKind.moto, .rclone])
    func aKilledProgramsSuccessorSendsNoPartOfS3Again(_ kind: UploadPeerKind) async throws {
        let (size, part): (Int, Int) = (16 << 20, 5 << 20)
        let bench = try await Bench(kind, size: size)
        // In the third of four parts, which go one after the other.
        bench.relay.halt(at: Int64(2 * part + (1 << 20)))
        let process = try bench.place.startJobs()
        try await until("the upload to stall") { bench.relay.isHalted }
        process.kill(SIGKILL)
        _ = try await process.result()
        // What the kernel has left of its bytes keeps the connection open.
        bench.relay.cutAll()
        bench.relay.halt(at: nil)
        let before = bench.relay.bytesUp
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try result.events().named("job.restarted").isEmpty, "\(result)")
        try await bench.expectTheFileOnce()
        let rest = bench.relay.bytesUp - before
        #expect(rest < Int64(size - 2 * part + (1 << 20)), "\(rest): parts that were there were sent again")
    }

    @Test func tuspyserverJoinsTheParts() async throws {
        // Three parts: none is smaller than 8 MiB.
        let bench = try await Bench(.tuspyserver, more: #", "parallel": 3"#, size: (24 << 20) + 1)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        let expected = try await digest("sha256", bench.place.content("f"))
        // The parts may stay beside what they were joined to.
        #expect(try await bench.peer.objects().filter { $0 == expected }.count == 1)
        #expect(bench.relay.connectionCount >= 3)
    }

    @Test func tuspyserverTakesTheFirstChunkWithTheCreation() async throws {
        let bench = try await Bench(.tuspyserver, more: #", "chunkSize": "2M", "tus": {"createWithUpload": true}"#)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
    }

    @Test func tuspyserverForgetsWhatIsCancelled() async throws {
        let bench = try await CancelledUploadTests.killedUpload(.tuspyserver)
        // It writes on for a moment what had come before the cut: it has to be done with it.
        var (sizes, polls) = ([Int64](), 0)
        try await until("the server to be at rest") {
            let now = try await bench.peer.sizes()
            polls = now == sizes ? polls + 1 : 0
            sizes = now
            return polls == 20
        }
        #expect(try await bench.peer.unfinished() == 1)
        let result = try await bench.place.run("cancel", "batch/f")
        #expect(result.exitCode == 0 && result.standardError == "", "\(result)")
        let (unfinished, objects) = (try await bench.peer.unfinished(), try await bench.peer.objects())
        #expect(unfinished == 0 && objects.isEmpty)
    }
}
