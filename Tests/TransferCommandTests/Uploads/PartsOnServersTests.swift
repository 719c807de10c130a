import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Uploads in parts to servers of other authors: their parts are listed, joined, and deleted.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: PythonServer.isWanted)) struct PartsOnServersTests {
    private typealias Bench = UploadConformanceTests.Bench

    /// A new process only has the number of the upload: ListParts reports the received parts.
    @Test(arguments: [UploadPeerKind.moto, .rclone])
    func aKilledProgramsSuccessorSendsNoPartOfS3Again(_ kind: UploadPeerKind) async throws {
        let (size, part): (Int, Int) = (16 << 20, 5 << 20)
        let bench = try await Bench(kind, size: size)
        // The halt comes in the third of four parts, which are sent one after the other.
        bench.relay.halt(at: Int64(2 * part + (1 << 20)))
        let process = try bench.place.startJobs()
        try await until("the upload to stall") { bench.relay.isHalted }
        process.kill(SIGKILL)
        _ = try await process.result()
        // The rest of its bytes in the kernel keeps the connection open.
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
        // The upload has three parts: none is smaller than 8 MiB.
        let bench = try await Bench(.tuspyserver, more: #", "parallel": 3"#, size: (24 << 20) + 1)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        let expected = try await digest("sha256", bench.place.content("f"))
        // The parts may stay beside the joined file.
        #expect(try await bench.peer.objects().filter { $0 == expected }.count == 1)
        #expect(bench.relay.connectionCount >= 3)
    }

    @Test func tuspyserverTakesTheFirstChunkWithTheCreation() async throws {
        let bench = try await Bench(.tuspyserver, more: #", "chunkSize": "2M", "tus": {"createWithUpload": true}"#)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
    }

    @Test func tuspyserverForgetsACancelledUpload() async throws {
        let bench = try await CancelledUploadTests.killedUpload(.tuspyserver)
        // The server continues to write bytes from before the cut for a moment: it has to finish first.
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
