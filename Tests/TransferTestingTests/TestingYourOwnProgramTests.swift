import Foundation
import FoundationNetworking
import Testing
import TransferQueue
import TransferTesting

// The code of the article "Testing your own program", which `DocumentedCodeTests` compares.

@Test func aDownloadOutlivesTheServersFaults() async throws {
    let body = ServedBody.random(count: 1_000_000)
    try await withScriptedServer { server in
        server.serve("/x.iso", body)
        server.script("/x.iso", [.status(503, headers: ["Retry-After": "0"]), .cut(after: 400_000)])
        try await withQueue { queue, folder in
            let job = try await queue.submit(
                .download(server.url("/x.iso"), to: folder + "/x.iso", settings: quick), batch: "test")
            let receipt = try await job.receipt(unattended: .seconds(10))
            #expect(receipt.bytes == 1_000_000)
            #expect(try body.firstDifference(fromFileAt: folder + "/x.iso") == nil)
        }
        // The download resumed where it was cut.
        #expect(server.requests(to: "/x.iso").count == 3)
        #expect(server.bytesSent("/x.iso") < 1_100_000)
    }
}

@Test func aCancelledDownloadLeavesNoFile() async throws {
    try await withScriptedServer { server in
        server.serve("/x.iso", .random(count: 1_000_000))
        server.script("/x.iso", [.stall(after: 500_000)])
        try await withQueue { queue, folder in
            let job = try await queue.submit(
                .download(server.url("/x.iso"), to: folder + "/x.iso"), batch: "test")
            try await server.waitForHeld(1)
            try await job.cancel()
            await #expect(throws: TransferError.self) { try await job.receipt(unattended: .seconds(10)) }
        }
        #expect(server.requests.count == 1)
    }
}

@Test func anUploadArrivesWhole() async throws {
    try await withScriptedServer { server in
        let uploads = server.acceptUploads("/in/*")
        server.script("/in/a.txt", [.status(503, headers: ["Retry-After": "0"])])
        try await withQueue { queue, folder in
            let job = try await queue.submit(
                .upload(folder + "/a.txt", to: server.url("/in/a.txt"), settings: quick), batch: "test")
            _ = try await job.receipt(unattended: .seconds(10))
        }
        #expect(uploads.all.last?.bytes == Array("hello".utf8))
    }
}

@Test func theServerAnswersAsConfigured() async throws {
    try await withScriptedServer { server in
        server.answer("GET", "/list/*") { request in
            request.header("Authorization") == "Bearer s3cret"
                ? ServerAnswer(headers: ["Content-Type": "text/plain"], body: .text(request.path))
                : ServerAnswer(status: 401)
        }
        let refused = try await statusCode(of: server.url("/list/7"))
        #expect(refused == 401)
    }
}

/// The settings of a job with waits of milliseconds, where a program waits for seconds.
var quick: JobSettings {
    var settings = JobSettings()
    settings.retry.scale = .milliseconds(1)
    settings.retry.maxDelay = .milliseconds(5)
    return settings
}

/// Runs a test with a running queue and a folder with the file `a.txt`. Both are removed afterwards.
func withQueue(_ body: (TransferQueue, String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("hello".utf8).write(to: URL(fileURLWithPath: folder + "/a.txt"))
    let queue = try await TransferQueue.open(.init(state: folder + "/state"))
    let run = Task { try await queue.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await body(queue, folder)) } catch { result = .failure(error) }
    run.cancel()
    try await run.value
    await queue.close()
    try result.get()
}

private func statusCode(of url: String) async throws -> Int? {
    let (_, answer) = try await URLSession.shared.data(from: URL(string: url)!)
    return (answer as? HTTPURLResponse)?.statusCode
}
