import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport
import TransferUpload

@testable import TransferJobs

/// A protocol that only this file implements: a new protocol needs only its entry and a line that registers it.
@Suite(.timeLimit(.minutes(1))) struct ToyProtocolTests {
    private static let toy = JobSpec.UploadProtocol(
        UploadEntry(
            name: "toy", method: "PUT", keys: ["chunkSize"], putsIntoFolders: true, hasURLPerFile: true,
            canBeAsked: true, dialogue: { ToyDialogue(url: $0.upload.url, source: $0.source, state: $0.state) }))

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("toy")
        try folder.write(count: 3_000_000, seed: 4, to: "f")
        UploadRegistry.register(Self.toy)
    }

    /// The job goes from a job file through the queue to a server, and resumes from the state that a cut attempt had
    /// saved.
    @Test func aJobOfTheProtocolGoesFromItsFileToItsServer() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/f")
            server.script("/in/f", [.cutUpload(after: 1_000_000)])
            let reading = try read(
                """
                {"version": 1, "jobs": [{"upload": "\(folder.path("f"))", "to": "\(server.url("/in/"))",
                    "protocol": "toy", "chunkSize": "1M"}]}
                """)
            #expect(reading.lines == [])
            let job = try #require(reading.jobs.first)
            #expect(job.asksFirst && !job.mustNotRepeat)
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job])
                #expect(log.ends.values.map { $0 } == [["done"]])
            }
            #expect(sink.uploads.map { $0.headers["X-Toy"] ?? "-" } == ["first", "again"])
            let sent = Array(try folder.data("f"))
            #expect(sink.uploads.last?.isComplete == true && sink.uploads.last?.bytes == sent)
        }
    }

    @Test func keysOfOtherProtocolsAreRefused() throws {
        let reading = try read(
            #"{"version": 1, "jobs": [{"upload": "f", "to": "http://h/f", "protocol": "toy", "parallel": 2}]}"#)
        #expect(reading.lines.first?.hasSuffix(#""parallel" is for the protocol "s3" or "tus", not "toy""#) == true)
    }

    /// The registry is separate, so that no other test sees the scheme.
    @Test func aSchemeLeavesNoChoice() {
        var entry = Self.toy.entry
        entry.urls.schemes = ["toy"]
        let registry = UploadRegistry(UploadRegistry.builtIn + [JobSpec.UploadProtocol(entry)])
        #expect(registry.claiming("TOY://h/f") == Self.toy && registry.urlSchemes.last == "toy")
        #expect(registry.claiming("sftp://h/f") == .sftp && registry.claiming("http://h/f") == nil)
    }
}

/// An upload of one PUT that reports whether it is the first.
private struct ToyDialogue: UploadDialogue {
    let url: String
    let source: UploadSource
    let state: UploadState?

    mutating func begin(now: Int64) -> [UploadAction] {
        var request = UploadRequest(id: 1, method: "PUT", url: url, body: .source(0..<source.size))
        request.headers = [HeaderField("X-Toy", state?.kind == "toy" ? "again" : "first")]
        return [.save(UploadState(kind: "toy", canAsk: true, payload: "begun")), .send(request)]
    }

    mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        switch event {
        case .interim, .digested: return []
        case .failed(_, let error, _): return [.fail(error)]
        case .answered(let answer):
            guard answer.head.status < 300 else { return [.fail(StatusRule.error(answer.head, now: now))] }
            return [.finish(UploadResult(url: url, status: answer.head.status))]
        }
    }

    mutating func abandon(now: Int64) -> [UploadAction] { [.finish(UploadResult(url: url, status: 0))] }
}
