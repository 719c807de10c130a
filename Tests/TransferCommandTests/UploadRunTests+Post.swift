import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

extension UploadRunTests {
    /// The arrival of the request is unknown: the file must not be stored twice.
    @Test(arguments: [Fault.cutUpload(after: 50_000), .loseAnswer], ["post", "multipart"])
    func aPOSTIsNotSentTwiceOnceItsBodyLeft(_ fault: Fault, _ kind: String) async throws {
        try await withTestServer { server in
            let place = try place()
            server.acceptUploads("/in")
            server.script("/in", [fault])
            try place.jobs([upload("out.bin", to: server.url("/in"), #""id": "up", "protocol": "\#(kind)""#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(server.requests.count == 1)
            let end = try result.events().of("up").named("job.failed").first
            #expect(end?["attempts"]?.int == 1 && end?["code"]?.string == "mayHaveBeenSent")
        }
    }

    @Test func aPOSTIsSentAgainWhenNoByteOfItLeft() async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads("/in")
            // No server listens at first, so no byte can have left.
            let port = try LoopbackPort.free()
            try place.jobs(
                [upload("out.bin", to: "http://127.0.0.1:\(port)/in", #""id": "up", "protocol": "post""#)],
                extra:
                    #""defaults": {"retry": {"limit": 1000, "scale": "20ms", "jitter": false, "maxDelay": "50ms"}}, "#)
            let process = try place.startJobs()
            try await process.event("job.retrying", id: "up")
            try await withTestServer(on: .ipv4(port: port)) { late in
                let lateSink = late.acceptUploads("/in")
                let result = try await process.result()
                #expect(result.exitCode == 0, "\(result)")
                #expect(lateSink.uploads.count == 1)
            }
            _ = (server, sink)
        }
    }

    @Test(arguments: [Fault.loseAnswer, .status(503)])
    func aPOSTIsSentAgainWhenTheJobAllowsIt(_ fault: Fault) async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads("/in")
            server.script("/in", [fault])
            let retry = #""retry": {"methods": ["POST"], "scale": 0}"#
            try place.jobs([upload("out.bin", to: server.url("/in"), #""id": "up", "protocol": "post", "# + retry)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.count == 2)
            #expect(try sink.uploads.last?.bytes == place.content("out.bin"))
        }
    }

    /// The process is killed while the body of a POST is under way: the next run does not know its fate, and must not
    /// send it again.
    @Test func aPOSTThatWasUnderWayAtAKillIsNotSentAgain() async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads("/in")
            server.script("/in", [.stallUpload(after: 50_000)])
            try place.jobs([upload("out.bin", to: server.url("/in"), #""id": "up", "protocol": "post""#)])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            process.kill(SIGKILL)
            _ = try await process.result()

            let again = try await place.runJobs()
            #expect(again.exitCode == 1, "\(again)")
            let end = try #require(try again.events().of("up").named("job.failed").first)
            #expect(end["code"]?.string == "mayHaveBeenSent")
            #expect(server.requests.count == 1)
            // A person who runs it again has read the message, and wants it sent.
            let third = try await place.runJobs()
            #expect(third.exitCode == 0, "\(third)")
            #expect(sink.uploads.filter(\.isComplete).count == 1)
        }
    }

    /// The message of a killed run may not have been read: the next run repeats it, and sends nothing either.
    @Test func aPOSTInDoubtIsReportedUntilARunEndsNormally() async throws {
        try await withTestServer { server in
            let place = try place()
            let sink = server.acceptUploads("/in")
            server.serve("/slow", .text("slow"))
            server.script("/in", [.stallUpload(after: 50_000)])
            server.script("/slow", [.holdHead, .holdHead])
            try place.jobs([
                upload("out.bin", to: server.url("/in"), #""id": "up", "protocol": "post""#),
                download(server.url("/slow"), to: "slow"),
            ])
            for run in 1...2 {
                let process = try place.startJobs()
                if run == 1 { try await server.waitForHeld(2) } else { try await process.event("job.failed", id: "up") }
                try await until("the download to be held") {
                    server.requests.filter { $0.method == "GET" }.count == run
                }
                process.kill(SIGKILL)
                _ = try await process.result()
            }
            let third = try await place.runJobs()
            #expect(third.exitCode == 1, "\(third)")
            #expect(try third.events().of("up").named("job.failed").first?["code"]?.string == "mayHaveBeenSent")
            #expect(server.requests.filter { $0.method == "POST" }.count == 1)
            let fourth = try await place.runJobs()
            #expect(fourth.exitCode == 0, "\(fourth)")
            #expect(sink.uploads.filter(\.isComplete).count == 1)
        }
    }

    /// The reasons why a long POST is sent from its start, to a server that does not offer to resume it then.
    enum FreshStart: CaseIterable {
        /// The server does not know the offered version of the protocol.
        case otherVersion
        /// The unfinished upload is of a different version of the source.
        case sourceChanged
    }

    /// The record of an earlier attempt does not help once all bytes are under way again, and no server can be queried.
    @Test(arguments: FreshStart.allCases)
    func aPOSTThatBeganAnewAndWasKilledIsNotSentAgain(_ reason: FreshStart) async throws {
        try await withTestServer { server in
            let place = try place(5 << 20)
            let service = server.serve("/*", ResumableService())
            try place.jobs(
                [upload("out.bin", to: server.url("/in"), #""id": "f", "protocol": "post", "retry": {"limit": 0}"#)])
            func killWhileItIsSent(_ isOffered: Bool) async throws {
                let process = try place.startJobs()
                try await server.waitForHeld(1)
                if isOffered { try await place.waitForTheOffer() }
                process.kill(SIGKILL)
                _ = try await process.result()
                // The rest of its bytes in the kernel keeps the connection open.
                server.release()
                try await server.waitForConnections(closed: server.connectionCount)
            }
            if reason == .otherVersion {
                server.script(
                    "/in",
                    [
                        .answerEarly(400, headers: ["Upload-Draft-Interop-Version": "6"]),
                        .stallUpload(after: 2 << 20),
                    ])
            } else {
                server.script("/in", [.stallUpload(after: 2 << 20), .stallUpload(after: 2 << 20)])
                try await killWhileItIsSent(true)
            }
            service.with { service in
                service.dialect = .none
                service.forgetUploads()
            }
            if reason == .sourceChanged { try place.folder.write(count: 5 << 20, seed: 4, to: "out.bin") }
            try await killWhileItIsSent(false)
            #expect(server.requests.filter { $0.method == "POST" }.count == 2)

            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(try result.events().of("f").named("job.failed").first?["code"]?.string == "mayHaveBeenSent")
            #expect(server.requests.filter { $0.method == "POST" }.count == 2)
        }
    }

    /// A request that the server has refused is not stored, whatever happens to the next request.
    @Test func aPOSTThatWasRefusedForItsLengthIsTriedAgainWhenTheNextRequestIsLost() async throws {
        try await withTestServer { server in
            let place = try place(5 << 20)
            let service = server.serve("/*", ResumableService())
            service.with { $0.sendsInterim = false }
            server.script(
                "/in", [.answerEarly(413, headers: ["Upload-Limit": "max-append-size=2000000"]), .loseAnswer])
            try place.jobs([
                upload("out.bin", to: server.url("/in"), #""id": "f", "protocol": "post", "retry": {"scale": 0}"#)
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            let posts = server.requests.filter { $0.method == "POST" }.map { $0.headers["Content-Length"] }
            #expect(posts == ["5242880", "0", "0"])
            #expect(try service.with { $0.finished.map(\.bytes) } == [place.content("out.bin")])
        }
    }
}
