import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// A queue of a folder that another queue runs: the view of a program that only observes it.
@Suite(.ofAFolder, .timeLimit(.minutes(1))) struct OtherQueueTests {
    let folder: TemporaryFolder
    let content = Content.random(seed: 1, count: 400_000)

    init() throws { folder = try TemporaryFolder("other") }

    /// Opens two queues of the folder and runs the first; `body` gets the second one, and its handle of the job.
    private func withRunning(
        _ server: TestServer, _ body: (JobQueue, JobHandle) async throws -> Void
    ) async throws {
        server.serve("/x", content, etag: "\"1\"")
        server.script("/x", [.stall(after: 100_000)])
        try await withQueue(folder) { running in
            try await running.submit(
                .download(server.url("/x"), to: folder.path("x"), id: "x", settings: Sample.quick), batch: "b")
            let run = Task { try await running.run() }
            try await server.waitForHeld(1)
            try await withQueue(folder) { other in
                try await body(other, try #require(try await other.job("x", batch: "b")))
            }
            run.cancel()
            try await run.value
        }
    }

    @Test func aReceiptComesFromTheRunningQueue() async throws {
        try await withTestServer { server in
            try await withRunning(server) { _, job in
                let receipt = Task { try await job.receipt(unattended: .milliseconds(50)) }
                // The time is over, and the first queue has the batch.
                await #expect(throws: DidNotEnd.self) {
                    try await within(.milliseconds(300)) { try await job.receipt(unattended: .milliseconds(50)) }
                }
                server.release()
                let bytes = try await within { try await receipt.valueOrEnd().bytes }
                #expect(bytes == 400_000)
            }
        }
    }

    @Test func theProgressOfItsJobEndsAndThatOfItsBatchCounts() async throws {
        try await withTestServer { server in
            try await withRunning(server) { other, job in
                let ends = Task {
                    var seen: [Int64] = []
                    for try await progress in job.progress { seen.append(progress.completed) }
                    return seen
                }
                let counts = Task {
                    var seen: [BatchTotals] = []
                    for try await progress in other.progress(ofBatch: "b") {
                        if seen.isEmpty { server.release() }
                        seen.append(progress.totals)
                    }
                    return seen
                }
                let batch = try await within { try await counts.valueOrEnd() }
                #expect(batch.first?.completed == 0 && batch.last?.completed == 1 && batch.last?.jobs == 1)
                let bytes = try await within { try await ends.valueOrEnd() }
                #expect(bytes == [400_000])
            }
        }
    }

    @Test func aJobOfTheRunningQueueIsCancelledFromTheOther() async throws {
        try await withTestServer { server in
            try await withRunning(server) { _, job in
                try await job.cancel()
                await #expect { try await within { try await job.receipt() } } throws: {
                    ($0 as? TransferError)?.code == .cancelled
                }
            }
        }
    }
}
