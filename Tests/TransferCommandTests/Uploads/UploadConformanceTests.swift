import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// The guarantees of every upload protocol, by the command, against servers behind a relay that breaks connections.
/// The tests run one after the other: each starts servers and programs of its own.
@Suite(.serialized, .timeLimit(.minutes(3))) struct UploadConformanceTests {
    static let size = 6 << 20

    /// A file to upload, and the connection to a peer that can be broken.
    final class Bench: Sendable {
        let place: Workplace
        let peer: any UploadPeer
        let relay: FaultRelay

        init(
            _ kind: UploadPeerKind, limit: Int = 20, more: String = "", size: Int = UploadConformanceTests.size
        ) async throws {
            place = try Workplace("uploads")
            peer = try await kind.start()
            relay = try FaultRelay(to: peer.port)
            try place.folder.write(count: size, seed: 7, to: "f")
            try place.folder.write("secret", to: "secret")
            let (url, members) = peer.target(relay.port)
            try place.jobs(
                [upload("f", to: url, #""id": "f", \#(members)\#(more)"#)],
                extra: #""defaults": {"retry": {"scale": "50ms", "jitter": false, "limit": \#(limit)}}, "#)
        }

        deinit { relay.stop() }

        /// Expects that exactly one object is there, and that it equals the current file.
        func expectTheFileOnce(_ location: SourceLocation = #_sourceLocation) async throws {
            let expected = try await digest("sha256", place.content("f"))
            let objects = try await peer.objects()
            #expect(objects == [expected], sourceLocation: location)
        }
    }

    @Test(arguments: UploadPeerKind.available) func arrivesWhole(_ kind: UploadPeerKind) async throws {
        let bench = try await Bench(kind)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
        // The second run finds the upload complete, and the server is not asked.
        let connections = bench.relay.connectionCount
        #expect(try await bench.place.runJobs().exitCode == 0)
        #expect(bench.relay.connectionCount == connections)
    }

    @Test(arguments: UploadPeerKind.resuming) func resumesWhereItWasCut(_ kind: UploadPeerKind) async throws {
        let bench = try await Bench(kind)
        bench.relay.script(
            [.cut(after: 1 << 20), .cut(after: 2 << 20), .cut(after: 1 << 20)],
            countsFromFirstAnswer: kind.answersBeforeTheBody)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
        // The kernel may drop bytes that a reset overtakes; far less than a second whole is sent.
        // tuspyserver loses the bytes that it had not written when the connection ended.
        guard kind != .tuspyserver else { return }
        // S3 sends a part that was cut once more from its start.
        let bound = kind.isS3 ? Int64(Self.size) * 2 : Int64(Self.size) * 3 / 2
        #expect(bench.relay.bytesUp < bound, "\(bench.relay.bytesUp)")
    }

    @Test(arguments: UploadPeerKind.available.filter { !$0.leavesDoubt })
    func aLostFinalAnswerMakesNoSecondObject(_ kind: UploadPeerKind) async throws {
        let bench = try await Bench(kind)
        bench.relay.script([.loseAnswer(after: Int64(Self.size))])
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
        guard kind.isResuming else { return }
        // The lost answer of S3 is that to a part, whichever part came last.
        let bound = kind.isS3 ? Int64(Self.size) * 2 : Int64(Self.size) * 5 / 4
        #expect(bench.relay.bytesUp < bound, "it was sent again: \(bench.relay.bytesUp)")
    }

    /// The request is a POST: it is not repeated when its effect is unknown.
    @Test(arguments: UploadPeerKind.available.filter(\.leavesDoubt))
    func aRequestThatMayHaveArrivedIsNotSentAgain(_ kind: UploadPeerKind) async throws {
        let bench = try await Bench(kind)
        bench.relay.script([.loseAnswer(after: Int64(Self.size))])
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 1, "\(result)")
        let failures = try result.events().named("job.failed")
        #expect(failures.count == 1 && failures.first?["code"]?.string == "mayHaveBeenSent")
        try await bench.expectTheFileOnce()
        #expect(bench.relay.bytesUp < Int64(Self.size) * 5 / 4, "it was sent again: \(bench.relay.bytesUp)")
    }

    /// A POST is excluded, as it is not repeated once a byte of it has left: `FormUploadTests`.
    @Test(arguments: UploadPeerKind.available.filter { !$0.isPosted })
    func anUploadResumesAfterAnErrorInTheMiddle(_ kind: UploadPeerKind) async throws {
        let bench = try await Bench(kind)
        let answer = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        bench.relay.script(
            [.answer(after: 2 << 20, Array(answer.utf8))], countsFromFirstAnswer: kind.answersBeforeTheBody)
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
    }

    /// `offeredPost` is excluded: the arrival of a POST that may have left whole is unknown.
    @Test(arguments: UploadPeerKind.resuming.filter { $0 != .offeredPost })
    func anUploadForgottenByTheServerIsSentFromTheStart(_ kind: UploadPeerKind) async throws {
        let bench = try await Bench(kind, limit: 0)
        bench.relay.script(kind.enoughCuts, countsFromFirstAnswer: kind.answersBeforeTheBody)
        #expect(try await bench.place.runJobs().exitCode == 1)
        bench.relay.script([])
        try await bench.peer.expire()
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        let events = try result.events()
        #expect(events.named("job.restarted").count == 1)
        try await bench.expectTheFileOnce()
    }

    @Test(arguments: UploadPeerKind.available)
    func aSourceThatChangedIsSentFromTheStartAndNeverMixed(_ kind: UploadPeerKind) async throws {
        let bench = try await Bench(kind, limit: 0)
        bench.relay.script(kind.enoughCuts, countsFromFirstAnswer: kind.answersBeforeTheBody)
        #expect(try await bench.place.runJobs().exitCode == 1)
        bench.relay.script([])
        try bench.place.folder.write(count: Self.size, seed: 8, to: "f")
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
    }

    /// Protocols with POST are excluded, as the arrival of the request is unknown then.
    @Test(arguments: UploadPeerKind.available.filter { !$0.isPosted })
    func aKilledProgramContinues(_ kind: UploadPeerKind) async throws {
        let bench = try await Bench(kind)
        for round in 0..<2 {
            let stalls = bench.relay.stalledCount
            bench.relay.script([.stall(after: 2 << 20)], countsFromFirstAnswer: round == 0 && kind.answersBeforeTheBody)
            let process = try bench.place.startJobs()
            try await until("the upload to stall") { bench.relay.stalledCount > stalls }
            if kind.isOffered { try await bench.place.waitForTheOffer() }
            process.kill(SIGKILL)
            #expect(try await process.result().signal == SIGKILL)
            // The rest of its bytes in the kernel keeps the connection open.
            bench.relay.cutAll()
        }
        let result = try await bench.place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        try await bench.expectTheFileOnce()
        #expect(!kind.isResuming || bench.relay.bytesUp < Int64(Self.size) * 2, "\(bench.relay.bytesUp)")
    }

    /// tuspyserver is excluded: it may write the relay's remaining bytes after the upload was deleted, and so restore
    /// it.
    @Test(arguments: UploadPeerKind.available.filter { $0 != .tuspyserver })
    func aCancelledUploadIsTakenFromTheServer(
        _ kind: UploadPeerKind
    )
        async throws
    {
        let bench = try await Bench(kind)
        bench.relay.script([.stall(after: 2 << 20)], countsFromFirstAnswer: kind.answersBeforeTheBody)
        let process = try bench.place.startJobs()
        try await until("the upload to stall") { bench.relay.stalledCount == 1 }
        if kind.isOffered { try await bench.place.waitForTheOffer() }
        #expect(try await bench.place.run("cancel", "batch/f").exitCode == 0)
        try await process.event("job.cancelled")
        // The rest of its bytes in the kernel keeps the connection open.
        bench.relay.cutAll()
        let result = try await process.result()
        #expect(try result.events().ends == ["f": "cancelled"], "\(result)")
        try await until("the server to have forgotten it") { try await bench.peer.unfinished() == 0 }
        #expect(try await bench.peer.objects() == [])
    }
}
