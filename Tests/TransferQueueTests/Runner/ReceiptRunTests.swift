import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs

/// Uploads by the queue whose answers are no receipts, or no receipts yet.
@Suite(.timeLimit(.minutes(1))) struct ReceiptRunTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("receipt")
    }

    private func job(
        _ server: TestServer, _ kind: JobSpec.UploadProtocol, success: Set<Int>? = nil, count: Int = 300_000
    ) throws -> JobSpec {
        try folder.write(count: count, seed: 1, to: "f")
        var upload = JobSpec.Upload(source: folder.path("f"), url: server.url("/in/f"), uploadProtocol: kind)
        upload.options.success = success
        return JobSpec(id: "f", work: .upload(upload), settings: Sample.retries(8))
    }

    /// A small upload is a request without a dialogue, a long one is offered as resumable.
    @Test(arguments: [JobSpec.UploadProtocol.put, .post, .multipart], [300_000, 5 << 20])
    func aPageBehindARedirectIsNoReceipt(_ kind: JobSpec.UploadProtocol, _ count: Int) async throws {
        try await withTestServer { server in
            server.acceptUploads("/in/f")
            server.serve("/page", .text("please sign in"))
            server.script("/in/f", [], afterwards: .redirect(to: "/page", status: 303))
            let job = try job(server, kind, count: count)
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job])
                #expect(log.ends["f"]?.count == 1 && log.ends["f"]?.first?.hasPrefix("failed") == true)
            }
            #expect(server.requests(to: "/page").isEmpty)
        }
    }

    @Test(arguments: [JobSpec.UploadProtocol.post, .multipart])
    func aNamedRedirectIsAReceiptUnlessItLeadsToALogin(_ kind: JobSpec.UploadProtocol) async throws {
        for (page, isReceipt) in [("/files/1", true), ("/login", false)] {
            try await withTestServer { server in
                server.acceptUploads("/in/f")
                server.serve("/files/1", .text("thank you"))
                server.script("/in/f", [.redirect(to: page, status: 303)])
                let job = try job(server, kind, success: [201, 303])
                try await withQueue(folder, state: "state\(isReceipt)") { queue in
                    let log = EventLog(queue)
                    try await queue.complete([job])
                    #expect((log.ends["f"] == ["done"]) == isReceipt, "\(log.ends)")
                }
                #expect(server.requests(to: "/in/f").count == 1)
            }
        }
    }

    @Test(arguments: [300_000, 5 << 20])
    func anAcceptedUploadIsCompleteOnceTheFileIsThere(_ count: Int) async throws {
        try await withTestServer { server in
            server.acceptUploads("/in/f", answer: Response(status: 202))
            let job = try job(server, .put, count: count)
            server.serve("/in/f", .bytes(Array(try folder.data("f"))))
            server.script("/in/f", method: "HEAD", [.status(404), .status(503), .status(404)])
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job])
                #expect(log.ends["f"] == ["done"], "\(log.ends)")
            }
            let methods = server.requests(to: "/in/f").map(\.head.method)
            #expect(methods == ["PUT", "HEAD", "HEAD", "HEAD", "HEAD", "GET"])
        }
    }

    /// Successes that say nothing about the file, for a request without a dialogue and for one that offers resumption.
    @Test(arguments: [203, 206, 207], [300_000, 5 << 20])
    func aDoubtfulSuccessCountsOnceTheFileIsThere(_ status: Int, _ count: Int) async throws {
        try await withTestServer { server in
            server.acceptUploads("/in/f", answer: Response(status: status))
            let job = try job(server, .put, count: count)
            server.serve("/in/f", .bytes(Array(try folder.data("f"))))
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job])
                #expect(log.ends["f"] == ["done"], "\(log.ends)")
            }
            #expect(server.requests(to: "/in/f").map(\.head.method) == ["PUT", "HEAD", "GET"])
        }
    }

    /// A captive portal answers every request by its page, the question for the file, too.
    @Test(arguments: [300_000, 5 << 20]) func aCaptivePortalsPageIsNoReceipt(_ count: Int) async throws {
        try await withTestServer { server in
            server.acceptUploads("/in/f")
            let page = Fault.status(
                200, headers: ["Content-Type": "text/html"], body: .text("<html><title>Welcome</title></html>"))
            server.script("/in/f", [], afterwards: page)
            let job = try job(server, .put, count: count)
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job])
                #expect(log.ends["f"] == ["failed unconfirmed"], "\(log.ends)")
            }
            #expect(server.requests(to: "/in/f").map(\.head.method) == ["PUT", "HEAD"])
        }
    }

    /// The server stores each body, and its answers are lost. It cannot be asked for the file either.
    @Test func aPutWhoseAnswersAreAllLostIsAskedAboutBeforeEachRepetition() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/f")
            server.script("the answers", for: { $0.method == "PUT" }, [], afterwards: .loseAnswer)
            server.script("the questions", for: { $0.method == "HEAD" }, [], afterwards: .status(405))
            var job = try job(server, .put)
            job.settings.retry.limit = 2
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job])
                #expect(log.ends["f"] == ["failed connectionLost"], "\(log.ends)")
                let failure = log.events.compactMap { event -> JobFailure? in
                    if case .failed(let failure) = event.kind { failure } else { nil }
                }
                #expect(failure.last?.error.message.contains("the whole body was sent, and may have arrived") == true)
            }
            #expect(sink.uploads.filter(\.isComplete).count == 3)
            #expect(server.requests(to: "/in/f").filter { $0.head.method == "HEAD" }.count == 2)
        }
    }

    /// The later failures are those of the question, and take the doubt about the file not back.
    @Test func aQuestionThatFailsStillSaysThatTheFileMayHaveArrived() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/f")
            server.script("the answers", for: { $0.method == "PUT" }, [], afterwards: .loseAnswer)
            server.script("the questions", for: { $0.method == "HEAD" }, [], afterwards: .closeBeforeHead)
            var job = try job(server, .put)
            job.settings.retry.limit = 2
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job])
                #expect(log.ends["f"] == ["failed connectionLost"], "\(log.ends)")
                let failure = log.events.compactMap { event -> JobFailure? in
                    if case .failed(let failure) = event.kind { failure } else { nil }
                }
                let words = failure.last?.error.message ?? ""
                #expect(words.contains("an earlier attempt sent the whole body, which may have arrived"), "\(words)")
            }
            #expect(sink.uploads.filter(\.isComplete).count == 1)
        }
    }

    @Test func anUploadAnsweredBeforeItsBodyIsQueriedAndSentAgain() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/f")
            server.script("/in/f", method: "PUT", [.answerEarly(201)])
            let job = try job(server, .put, count: 3 << 20)
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([job])
                #expect(log.ends["f"] == ["done"], "\(log.ends)")
            }
            #expect(sink.uploads.last?.isComplete == true && sink.uploads.last?.count == 3 << 20)
            #expect(server.requests(to: "/in/f").map(\.head.method) == ["PUT", "HEAD", "PUT"])
        }
    }
}
