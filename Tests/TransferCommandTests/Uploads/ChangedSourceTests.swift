import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Sources that change without a change of length or time: an upload is never mixed from two versions.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ChangedSourceTests {
    private typealias Bench = UploadConformanceTests.Bench

    /// Writes new bytes into the same file, with the same length and time.
    private func rewrite(_ place: Workplace) throws {
        var status = stat()
        #expect(stat(place.folder.path("f"), &status) == 0)
        let bytes = try place.folder.data("f")
        let handle = try #require(FileHandle(forWritingAtPath: place.folder.path("f")))
        try handle.write(contentsOf: Data(bytes.map { ~$0 }))
        try handle.close()
        try place.folder.setTime(
            "f", seconds: Int(status.st_mtim.tv_sec), nanoseconds: Int(status.st_mtim.tv_nsec))
    }

    @Test(arguments: UploadPeerKind.resuming) func aChangedSourceIsSentAgainByTheNextProcess(_ kind: UploadPeerKind)
        async throws
    {
        let bench = try await CancelledUploadTests.killedUpload(kind)
        try rewrite(bench.place)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
    }

    /// A body whose source has only a new mode has been applied, and the server confirms it.
    @Test func aSourceWithOnlyANewModeIsNotPostedAgain() async throws {
        let bench = try await Bench(.offeredPost)
        bench.relay.script([.loseAnswer(after: Int64(UploadConformanceTests.size))])
        bench.relay.delayAnswers(milliseconds: 300)
        let process = try bench.place.startJobs()
        try await bench.place.waitForTheOffer()
        #expect(chmod(bench.place.folder.path("f"), 0o600) == 0)
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
    }

    /// A digest from before the first byte says nothing about the bytes that left afterwards.
    @Test(arguments: [true, false]) func aChangedSourceIsNoSuccessOfItsProcess(_ hasDigest: Bool) async throws {
        let place = try Workplace("changed")
        try place.folder.write(count: 6 << 20, seed: 7, to: "f")
        let sum = try await place.folder.sha256("f")
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/*")
            server.script("/in/f", [.stallUpload(after: 1 << 20)])
            let checksum = hasDigest ? #", "checksum": "sha256:\#(sum)""# : ""
            try place.jobs(
                [upload("f", to: server.url("/in/f"), #""id": "f"\#(checksum)"#)],
                extra: #""defaults": {"retry": {"scale": "10ms", "jitter": false, "limit": 1}}, "#)
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            try rewrite(place)
            server.release()
            let result = try await process.result()
            let complete = sink.uploads.filter(\.isComplete).map(\.bytes)
            if hasDigest {
                #expect(result.exitCode == 1, "\(result)")
                #expect(try result.events().named("job.failed").first?["code"]?.string == "checksumMismatch")
                #expect(complete.isEmpty)
            } else {
                #expect(result.exitCode == 0, "\(result)")
                let sent = try place.content("f")
                #expect(complete == [sent])
            }
        }
    }

    /// A program that saves a file by renaming a new one over it leaves the file under way unchanged.
    /// The new file may have the same times, so that the kernel gives both files the same change time.
    @Test(arguments: ["restart", "fail"], [false, true])
    func aFileThatReplacedTheSourceCounts(_ policy: String, _ hasItsTime: Bool) async throws {
        let place = try Workplace("replaced")
        try place.folder.write(count: 6 << 20, seed: 7, to: "f")
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/*")
            server.script("/in/f", [.stallUpload(after: 1 << 20)])
            try place.jobs(
                [upload("f", to: server.url("/in/f"), #""id": "f", "ifChanged": "\#(policy)""#)],
                extra: #""defaults": {"retry": {"scale": "10ms", "jitter": false}}, "#)
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            try place.folder.write(count: 6 << 20, seed: 8, to: "g")
            for name in hasItsTime ? ["f", "g"] : [] { try place.folder.setTime(name, seconds: 1_000_000) }
            try #require(rename(place.folder.path("g"), place.folder.path("f")) == 0)
            server.release()
            let result = try await process.result()
            if policy == "fail" {
                #expect(result.exitCode == 1, "\(result)")
                #expect(try result.events().named("job.failed").first?["code"]?.string == "sourceChanged")
            } else {
                #expect(result.exitCode == 0, "\(result)")
                let sent = try place.content("f")
                #expect(sink.uploads.last?.bytes == sent)
            }
        }
    }
}
