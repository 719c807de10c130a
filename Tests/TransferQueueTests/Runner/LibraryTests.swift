import Synchronization
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore
@testable import TransferStoreSQLite

@Suite(.timeLimit(.minutes(1))) struct LibraryTests {
    let folder: TemporaryFolder
    let content = Content.random(seed: 1, count: 100_000)

    init() throws { folder = try TemporaryFolder("library") }

    @Test func theDocumentedProgramWorks() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            let url = server.url("/x")
            try await withQueue(folder, limits: BatchLimits(concurrency: 32, perHost: 8)) { queue in
                let destination = folder.path("out/x")
                let receipts = try await within {
                    try await withThrowingTaskGroup(of: JobReceipt?.self) { group in
                        group.addTask {
                            try await queue.run()
                            return nil
                        }
                        group.addTask {
                            for try await event in queue.events(after: 0) {
                                if case .finished(let receipt) = event.kind { return receipt }
                            }
                            return nil
                        }
                        let job = try await queue.submit(
                            Sample.download(url, to: destination, id: "x"), batch: "mirror")
                        let receipt = try await job.receipt()
                        let followed = try await group.next() ?? nil
                        group.cancelAll()
                        while try await group.next() != nil {}
                        return [receipt, followed]
                    }
                }
                #expect(receipts[0]?.job == "x" && receipts[0]?.batch == "mirror")
                #expect(
                    receipts[0]?.bytes == 100_000 && receipts[0]?.validator == "\"1\"" && receipts[0]?.attempts == 1)
                #expect(receipts[0]?.path == destination)
                // The receipt from the database is equal to the other one, up to the rounding of a time.
                #expect(receipts[1]?.finalURL == receipts[0]?.finalURL && receipts[1]?.bytes == 100_000)
                #expect(try content.firstDifference(fromFileAt: destination) == nil)
            }
        }
    }

    @Test func cancellingTheRunCheckpointsAndReturns() async throws {
        try await withTestServer { server in
            let large = Content.random(seed: 2, count: 4_000_000)
            server.serve("/x", large, etag: "\"1\"")
            server.script("/x", [.stall(after: 2_000_000)])
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.submit(Sample.download(server.url("/x"), to: folder.path("x")), batch: "b")
                let run = Task { try await queue.run() }
                try await server.waitForHeld(1)
                try await log.wait(forBytes: 1_950_000)
                let clock = ContinuousClock()
                let duration = try await clock.measure {
                    run.cancel()
                    try await within(.seconds(30)) { try await run.valueOrEnd() }
                }
                #expect(duration < .seconds(2.5))
            }
            #expect(folder.exists("x.part") && !folder.exists("x"))
            try await withQueue(folder) { queue in
                let job = JobHandle(batch: "b", identity: folder.path("x"), queue: queue)
                let run = Task { try await queue.run() }
                let receipt = try await within { try await job.receipt() }
                run.cancel()
                try await run.value
                #expect(receipt.bytes == 4_000_000 && receipt.transferred <= 2_100_000)
            }
            #expect(try large.firstDifference(fromFileAt: folder.path("x")) == nil)
        }
    }

    @Test func aRunCanBeStartedAgainAfterItWasCancelled() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            server.script("/x", [.stall(after: 10)])
            try await withQueue(folder) { queue in
                let job = try await queue.submit(Sample.download(server.url("/x"), to: folder.path("x")), batch: "b")
                let first = Task { try await queue.run() }
                try await server.waitForHeld(1)
                first.cancel()
                try await within(.seconds(30)) { try await first.valueOrEnd() }
                let second = Task { try await queue.run() }
                let receipt = try await within(.seconds(30)) { try await job.receipt() }
                #expect(receipt.bytes == 100_000)
                second.cancel()
                try await second.value
            }
        }
    }

    @Test func cancellingAWaiterCancelsNoJob() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            server.script("/x", [.stall(after: 10)])
            try await withQueue(folder) { queue in
                let job = try await queue.submit(Sample.download(server.url("/x"), to: folder.path("x")), batch: "b")
                let run = Task { try await queue.run() }
                try await server.waitForHeld(1)
                let waiter = Task { try await job.receipt() }
                waiter.cancel()
                await #expect(throws: CancellationError.self) { try await waiter.value }
                server.release()
                let receipt = try await within { try await job.receipt() }
                #expect(receipt.bytes == 100_000)
                run.cancel()
                try await run.value
            }
        }
    }

    @Test func submittingTwiceIsOneJobAndOtherContentIsRefused() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            server.serve("/y", content)
            try await withQueue(folder) { queue in
                let run = Task { try await queue.run() }
                let spec = Sample.download(server.url("/x"), to: folder.path("x"), id: "x")
                for _ in 0..<3 {
                    let job = try await queue.submit(spec, batch: "b")
                    let receipt = try await within { try await job.receipt() }
                    #expect(receipt.job == "x")
                }
                #expect(server.requests.count == 1)
                let other = Sample.download(server.url("/y"), to: folder.path("x"), id: "x")
                await #expect(throws: TransferError.self) { try await queue.submit(other, batch: "b") }
                await #expect(throws: TransferError.self) {
                    try await queue.submit(Sample.download("gopher://h/x", to: "/x"), batch: "b")
                }
                run.cancel()
                try await run.value
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func presignedQueriesReachTheServerAlsoWhenTheRunBeginsLater() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            try await withQueue(folder) { queue in
                let url = server.url("/x?X-Amz-Signature=s3cret")
                let job = try await queue.submit(Sample.download(url, to: folder.path("x")), batch: "b")
                let run = Task { try await queue.run() }
                _ = try await within { try await job.receipt() }
                run.cancel()
                try await run.value
                #expect(server.requests.map(\.query) == ["X-Amz-Signature=s3cret"])
            }
        }
    }

    @Test func aBlankedQueryIsNeverSentInPlaceOfALostSecret() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            try await withQueue(folder) { queue in
                let url = server.url("/x?X-Amz-Signature=s3cret")
                _ = try await queue.submit(Sample.download(url, to: folder.path("x")), batch: "b")
            }
            // A second process does not have the secret, which the first process held in memory.
            try await withQueue(folder) { queue in
                let run = Task { try await queue.run() }
                let job = JobHandle(batch: "b", identity: folder.path("x"), queue: queue)
                await #expect { try await within(.seconds(30)) { try await job.receipt() } } throws: {
                    ($0 as? TransferError)?.code == .secretMissing
                }
                run.cancel()
                try await run.value
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func aSlowReaderOfEventsMissesNothing() async throws {
        let count = 700
        try await withTestServer { server in
            server.handle("GET", "/*") { _ in Response(body: .text("x")) }
            try await withQueue(folder) { queue in
                let jobs = (0..<count).map { Sample.download(server.url("/\($0)"), to: folder.path("out/\($0)")) }
                var iterator = queue.events(after: 0).makeAsyncIterator()
                // The reader asks for its first event after all jobs have ended.
                let totals = try await queue.complete(jobs)
                #expect(totals.completed == count)
                var cursors: [Int64] = []
                var names: Set<String> = []
                while cursors.count < count, let event = try await iterator.next() {
                    cursors.append(event.cursor ?? 0)
                    if let name = event.end?.job { names.insert(name) }
                }
                #expect(names.count == count)
                #expect(zip(cursors, cursors.dropFirst()).allSatisfy(<))
                // A cursor in the middle continues with the event behind it.
                var rest = queue.events(after: cursors[500]).makeAsyncIterator()
                #expect(try await rest.next()?.cursor == cursors[501])
            }
        }
    }

    @Test(.ofAFolder) func aReaderIsWokenByEveryKindOfEnd() async throws {
        try await withTestServer { server in
            server.serve("/hold", content)
            server.script("/hold", [], afterwards: .holdHead)
            try await withQueue(folder, limits: BatchLimits(perHost: 1)) { queue in
                // "b" waits for "a", which never ends.
                let jobs = ["a", "b"].map {
                    Sample.download(server.url("/hold"), to: folder.path($0), id: $0, needs: $0 == "b" ? ["a"] : [])
                }
                let staged = try await queue.stage(jobs)
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                let receipt = Task { try await JobHandle(batch: "b", identity: "b", queue: queue).receipt() }
                // The yields suffice for the reader to ask the database and to wait for a notification.
                for _ in 0..<200 { await Task.yield() }
                let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
                #expect(try remote.ask(.cancel, batch: "b", job: "b") == .handed(pid: ProcessIdentity.current.pid))
                await #expect { try await within(.seconds(30)) { try await receipt.valueOrEnd() } } throws: {
                    ($0 as? TransferError)?.code == .cancelled
                }
                queue.stop()
                _ = try await run.value
            }
        }
    }
}
