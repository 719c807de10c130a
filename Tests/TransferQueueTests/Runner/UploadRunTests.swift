import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

@Suite(.timeLimit(.minutes(1))) struct UploadRunTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("upload")
        try folder.write(count: 4_000_000, seed: 1, to: "f")
    }

    func job(_ server: TestServer, _ kind: JobSpec.UploadProtocol) -> JobSpec {
        Sample.upload(folder.path("f"), to: server.url("/in"), id: "f", protocol: kind)
    }

    @Test(arguments: [JobSpec.UploadProtocol.put, .post])
    func arrivesWholeAndKeepsTheAnswer(_ kind: JobSpec.UploadProtocol) async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in", answer: Response(status: 201, body: .text("thanks")))
            try await withQueue(folder) { queue in
                _ = try await queue.complete([job(server, kind)])
                let receipt = try await JobHandle(batch: "b", identity: "f", queue: queue).receipt()
                #expect(
                    receipt.isUpload && receipt.response == "thanks" && receipt.bytes == 4_000_000
                        && receipt.status == 201)
            }
            #expect(sink.uploads.map(\.method) == [kind == .put ? "PUT" : "POST"])
            let sent = Array(try folder.data("f"))
            #expect(sink.uploads.first?.isComplete == true && sink.uploads.first?.bytes == sent)
        }
    }

    @Test func aPutIsSentAgainFromTheStart() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in")
            server.script("/in", [.cutUpload(after: 1_000_000), .status(503)])
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job(server, .put)])
                #expect(log.ends == ["f": ["done"]])
            }
            #expect(sink.uploads.last?.count == 4_000_000 && sink.uploads.last?.isComplete == true)
        }
    }

    /// A short upload is one request, a long one is offered as resumable, and some need folders.
    @Test(arguments: [(300_000, false), (5 << 20, false), (300_000, true)])
    func aPutWhoseAnswerWasLostIsQueriedAndNotSentAgain(_ count: Int, _ createsFolders: Bool) async throws {
        let server = try await NginxServer.start(options: writable)
        let relay = try FaultRelay(to: server.port)
        defer { relay.stop() }
        try folder.write(count: count, seed: 2, to: "g")
        relay.script([.loseAnswer(after: Int64(count))])
        try await withQueue(folder) { queue in
            let log = EventLog(queue)
            let url = "http://127.0.0.1:\(relay.port)/g"
            var upload = JobSpec.Upload(source: folder.path("g"), url: url, uploadProtocol: .put)
            upload.options.createFolders = createsFolders
            try await queue.complete([JobSpec(id: "g", work: .upload(upload), settings: Sample.quick)])
            #expect(log.ends == ["g": ["done"]])
        }
        await server.stop()
        #expect(try server.accessLog().map(\.method) == ["PUT", "HEAD", "GET"])
        #expect(relay.bytesUp < count + 10_000)
    }

    private var writable: NginxServer.Options {
        var options = NginxServer.Options()
        options.allowsWriting = true
        return options
    }

    @Test func aPostWhoseBodyHasLeftIsNotSentAgain() async throws {
        try await withTestServer { server in
            server.acceptUploads("/in")
            server.script("/in", [.loseAnswer])
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job(server, .post)])
                #expect(log.ends["f"]?.count == 1 && log.ends["f"]?.first?.hasPrefix("failed") == true)
            }
            #expect(server.requests.count == 1)
        }
    }

    /// The run is stopped, or the job paused and resumed, while a POST's body is on its way.
    @Test(.ofAFolder, arguments: [false, true])
    func aPostThatWasInterruptedWhileItsBodyLeftIsNotSentAgain(_ byPause: Bool) async throws {
        try await withTestServer { server in
            server.acceptUploads("/in")
            server.script("/in", [.stallUpload(after: 100_000)])
            let job = job(server, .post)
            try await withQueue(folder) { queue in
                let staged = try await queue.stage([job])
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                if byPause {
                    let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                    _ = try remote.ask(.pause, batch: "b", job: "f")
                    while try queue.store.tally(batch: staged.staged.batch.id).counts[.claimed] != nil {
                        await Task.yield()
                    }
                    _ = try remote.ask(.resume, batch: "b", job: "f")
                    _ = try await within(.seconds(30)) { try await run.valueOrEnd() }
                } else {
                    run.cancel()
                    _ = try await within(.seconds(30)) { try await run.valueOrEnd() }
                }
            }
            if !byPause {
                // The next run is that of a restarted service, not of a person who runs the file again.
                try await withQueue(folder) { queue in
                    let run = Task { try await queue.run() }
                    let handle = JobHandle(batch: "b", identity: "f", queue: queue)
                    await #expect { try await within(.seconds(30)) { try await handle.receipt() } } throws: {
                        ($0 as? TransferError)?.code == .mayHaveBeenSent
                    }
                    run.cancel()
                    try await run.value
                }
            }
            #expect(server.requests.count == 1)
        }
    }

    /// No byte shows that the request has left, which is the whole upload.
    @Test(.ofAFolder, arguments: [JobSpec.UploadProtocol.post, .tus])
    func anEmptyUploadThatWasPausedIsNotSentAgain(_ kind: JobSpec.UploadProtocol) async throws {
        try folder.write(count: 0, seed: 1, to: "empty")
        try await withTestServer { server in
            server.acceptUploads("/in")
            server.script("/in", [.holdHead])
            let job = Sample.upload(folder.path("empty"), to: server.url("/in"), id: "f", protocol: kind)
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                let staged = try await queue.stage([job])
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                _ = try remote.ask(.pause, batch: "b", job: "f")
                while try queue.store.tally(batch: staged.staged.batch.id).counts[.claimed] != nil {
                    await Task.yield()
                }
                _ = try remote.ask(.resume, batch: "b", job: "f")
                _ = try await within(.seconds(30)) { try await run.valueOrEnd() }
                #expect(log.ends == ["f": ["failed mayHaveBeenSent"]])
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func aMissingSourceFailsAndNamesIt() async throws {
        try await withTestServer { server in
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([Sample.upload(folder.path("nope"), to: server.url("/in"), id: "n")])
                #expect(log.ends == ["n": ["failed fileMissing"]])
                #expect(try queue.store.failures(batch: "b", limit: 1).first?.message.contains("nope") == true)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func aSourceThatChangedIsSentAgainByTheNextRun() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in")
            _ = try await withQueue(folder) { queue in try await queue.complete([job(server, .put)]) }
            try await withQueue(folder) { queue in
                let kept = try await queue.complete([job(server, .put)]).kept
                #expect(kept == 1)
            }
            try folder.write("another", to: "f")
            try await withQueue(folder) { queue in
                let completed = try await queue.complete([job(server, .put)]).completed
                #expect(completed == 1)
            }
            #expect(sink.uploads.map(\.count) == [4_000_000, 7])
        }
    }
}
