import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore

/// The interface by which a program follows and controls a job.
@Suite(.timeLimit(.minutes(1))) struct JobHandleTests {
    let folder: TemporaryFolder
    let content = Content.random(seed: 1, count: 400_000)

    init() throws { folder = try TemporaryFolder("handle") }

    // MARK: Progress

    @Test func theProgressOfAJobGoesUpAndEndsWithAllItsBytes() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [.stall(after: 200_000)])
            try await withQueue(folder) { queue in
                let job = try await queue.submit(.download(server.url("/x"), to: folder.path("x")), batch: "b")
                let run = Task { try await queue.run() }
                let seen = try await within {
                    var seen: [JobProgress] = []
                    for try await progress in job.progress {
                        if seen.isEmpty { server.release() }
                        seen.append(progress)
                    }
                    return seen
                }
                #expect(seen.map(\.completed) == seen.map(\.completed).sorted())
                #expect(seen.last?.completed == 400_000 && seen.last?.total == 400_000)
                run.cancel()
                try await run.value
            }
        }
    }

    @Test func aSlowReaderGetsTheNewestAloneAndThenTheEnd() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            try await withQueue(folder) { queue in
                let job = try await queue.submit(.download(server.url("/x"), to: folder.path("x")), batch: "b")
                var iterator = job.progress.makeAsyncIterator()
                for number in 0..<10_000 {
                    queue.hub.send(
                        QueueEvent(
                            time: 0, batch: "b",
                            kind: .progress(
                                job: folder.path("x"),
                                JobProgress(completed: Int64(number), total: nil, rate: 0, phase: .transferring))))
                }
                let newest = try await iterator.next()
                #expect(newest?.completed == 9_999)
                let run = Task { try await queue.run() }
                _ = try await within { try await job.receipt() }
                run.cancel()
                try await run.value
                var rest: [Int64] = []
                while let progress = try await iterator.next() { rest.append(progress.completed) }
                #expect(rest == [400_000])
            }
        }
    }

    @Test func theProgressOfAJobThatEndedBeforeIsItsEnd() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            try await withQueue(folder) { queue in
                try await queue.complete([Sample.download(server.url("/x"), to: folder.path("x"), id: "x")])
                let job = try #require(try await queue.job("x", batch: "b"))
                let seen = try await within {
                    var seen: [Int64] = []
                    for try await progress in job.progress { seen.append(progress.completed) }
                    return seen
                }
                #expect(seen == [400_000])
            }
        }
    }

    @Test func theProgressOfAJobThatFailsEndsWithoutAnError() async throws {
        try await withTestServer { server in
            try await withQueue(folder) { queue in
                let job = try await queue.submit(.download(server.url("/none"), to: folder.path("x")), batch: "b")
                let run = Task { try await queue.run() }
                try await within { for try await _ in job.progress {} }
                await #expect { try await job.receipt() } throws: { ($0 as? TransferError)?.status == 404 }
                run.cancel()
                try await run.value
            }
        }
    }

    @Test func cancellingAFollowerCancelsNoJob() async throws {
        try await withQueue(folder) { queue in
            let job = try await queue.submit(.download("http://127.0.0.1:1/x", to: folder.path("x")), batch: "b")
            let reader = Task { for try await _ in job.progress {} }
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await within { try await reader.valueOrEnd() } }
            let end = try await queue.end(of: job)
            #expect(end == nil)
        }
    }

    @Test(.ofAFolder) func theProgressOfABatchEndsWithItsCounts() async throws {
        try await withTestServer { server in
            for name in ["a", "b"] { server.serve("/\(name)", content, etag: "\"1\"") }
            server.script("/b", [.holdHead])
            try await withQueue(folder) { queue in
                for name in ["a", "b", "none"] {
                    try await queue.submit(
                        .download(server.url("/\(name)"), to: folder.path(name), settings: Sample.quick), batch: "b")
                }
                let run = Task { try await queue.run() }
                let seen = try await within {
                    var seen: [BatchTotals] = []
                    for try await progress in queue.progress(ofBatch: "b") {
                        if progress.totals.completed == 1, seen.last?.completed != 1 {
                            try await server.waitForHeld(1)
                            server.release()
                        }
                        seen.append(progress.totals)
                    }
                    return seen
                }
                let last = try #require(seen.last)
                #expect(last.jobs == 3 && last.completed == 2 && last.failed == 1 && last.remaining == 0)
                run.cancel()
                try await run.value
            }
        }
    }

    // MARK: Changes

    private func submit(_ spec: JobSpec, to queue: JobQueue) async throws -> (job: JobHandle, number: Int64) {
        let results = try await queue.submit(groups: [SubmissionGroup([spec])], batch: "b", directory: folder.path)
        guard case .taken(let numbers, _) = results[0] else { throw TestSupportError("\(results)") }
        return (try #require(try await queue.job("x", batch: "b")), try #require(numbers.first))
    }

    @Test(arguments: [nil, 1 << 40] as [Int64?])
    func aJobUnderWayGetsAnotherBoundAndPriorityAndIsNotBrokenOff(_ limit: Int64?) async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            var slow = Sample.download(server.url("/x"), to: folder.path("x"), id: "x")
            slow.settings.limitRate = 1000
            try await withQueue(folder) { [slow] queue in
                let (job, number) = try await submit(slow, to: queue)
                let run = Task { try await queue.run() }
                try await within {
                    for try await progress in job.progress where progress.completed > 0 { break }
                    try await queue.amend(number, batch: "b", job: "x") { spec in
                        spec.settings.limitRate = limit
                        spec.priority = 4
                    }
                    let receipt = try await job.receipt()
                    #expect(receipt.bytes == 400_000 && receipt.attempts == 1)
                }
                #expect(server.requests.count == 1)
                run.cancel()
                try await run.value
            }
        }
    }

    @Test func aJobUnderWayIsInterruptedForItsFirstBoundAndContinues() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [.stall(after: 200_000)])
            let free = Sample.download(server.url("/x"), to: folder.path("x"), id: "x")
            try await withQueue(folder) { queue in
                let (job, number) = try await submit(free, to: queue)
                let run = Task { try await queue.run() }
                try await within {
                    for try await progress in job.progress where progress.completed == 200_000 { break }
                    try await queue.amend(number, batch: "b", job: "x") { $0.settings.limitRate = 1 << 40 }
                    #expect(try await job.receipt().bytes == 400_000)
                }
                #expect(server.requests.map(\.range) == [nil, "bytes=200000-"])
                run.cancel()
                try await run.value
            }
        }
    }

    @Test func theProgressOfNoBatchEndsAtOnce() async throws {
        try await withQueue(folder) { queue in
            try await within { for try await _ in queue.progress(ofBatch: "none") { Issue.record("what of?") } }
        }
    }

    // MARK: Steering

    @Test(arguments: [true, false])
    func aJobIsCancelledWhetherTheQueueRunsOrNot(_ runs: Bool) async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [], afterwards: .stall(after: 100_000))
            try await withQueue(folder) { queue in
                let job = try await queue.submit(.download(server.url("/x"), to: folder.path("x")), batch: "b")
                let run = runs ? Task { try await queue.run() } : nil
                if runs { try await server.waitForHeld(1) }
                try await job.cancel()
                await #expect { try await within { try await job.receipt() } } throws: {
                    ($0 as? TransferError)?.code == .cancelled
                }
                run?.cancel()
                try await run?.value
            }
        }
    }

    @Test func aPausedJobContinuesWhenItIsResumed() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [.stall(after: 300_000)])
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                let job = try await queue.submit(.download(server.url("/x"), to: folder.path("x")), batch: "b")
                let run = Task { try await queue.run() }
                try await server.waitForHeld(1)
                try await job.pause()
                try await log.wait { if case .waiting(_, .paused) = $0.kind { true } else { false } }
                #expect(server.requests.count == 1)
                try await job.resume()
                let receipt = try await within { try await job.receipt() }
                #expect(receipt.bytes == 400_000 && server.requests.count == 2)
                run.cancel()
                try await run.value
            }
        }
    }

    /// The retry is requested at once, and the job runs while the batch ends.
    @Test func aJobThatFailedIsTriedAgain() async throws {
        try await withTestServer { server in
            try await withQueue(folder) { queue in
                let job = try await queue.submit(.download(server.url("/x"), to: folder.path("x")), batch: "b")
                let run = Task { try await queue.run() }
                await #expect(throws: TransferError.self) { try await within { try await job.receipt() } }
                server.serve("/x", content, etag: "\"1\"")
                try await job.retry()
                let receipt = try await within { try await job.receipt() }
                #expect(receipt.bytes == 400_000)
                run.cancel()
                try await run.value
            }
        }
    }

    @Test(.ofAFolder) func aMissingJobIsReported() async throws {
        try await withQueue(folder) { queue in
            try await queue.submit(.download("http://127.0.0.1:1/x", to: folder.path("x"), id: "x"), batch: "b")
            let none = try await queue.job("y", batch: "b")
            #expect(none == nil)
            await #expect { try await queue.ask(.cancel, batch: "c") } throws: { "\($0)".contains("no batch \"c\"") }
            await #expect { try await queue.ask(.cancel, batch: "b", job: "y") } throws: {
                "\($0)".contains("the batch \"b\" has no job \"y\"")
            }
        }
    }

    // MARK: Queues that no process runs

    @Test func aReceiptIsRefusedAfterTheTimeWithoutARun() async throws {
        try await withQueue(folder) { queue in
            let job = try await queue.submit(.download("http://127.0.0.1:1/x", to: folder.path("x")), batch: "mirror")
            await #expect { try await within { try await job.receipt(unattended: .milliseconds(100)) } } throws: {
                error in
                guard let error = error as? TransferError else { return false }
                return error.code == .unattended
                    && error.message.contains("no process has run the batch \"mirror\" for 0.1 s")
            }
        }
    }

    @Test func aRunThatBeginsInTimeIsWaitedFor() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [.holdHead])
            try await withQueue(folder) { queue in
                let job = try await queue.submit(.download(server.url("/x"), to: folder.path("x")), batch: "b")
                let receipt = Task { try await job.receipt(unattended: .seconds(20)) }
                let run = Task { try await queue.run() }
                try await server.waitForHeld(1)
                server.release()
                let bytes = try await within { try await receipt.valueOrEnd().bytes }
                #expect(bytes == 400_000)
                run.cancel()
                try await run.value
            }
        }
    }

    /// A run that takes longer than the time is no reason to give up: only the end of the run is.
    @Test func aFinishedRunIsNotWaitedFor() async throws {
        try await withTestServer { server in
            server.serve("/x", content, etag: "\"1\"")
            server.script("/x", [], afterwards: .holdHead)
            try await withQueue(folder) { queue in
                let job = try await queue.submit(.download(server.url("/x"), to: folder.path("x")), batch: "b")
                let run = Task { try await queue.run() }
                try await server.waitForHeld(1)
                let limit = Duration.milliseconds(50)
                await #expect(throws: DidNotEnd.self) {
                    try await within(.milliseconds(400)) { try await job.receipt(unattended: limit) }
                }
                run.cancel()
                try await run.value
                await #expect { try await within { try await job.receipt(unattended: limit) } } throws: {
                    ($0 as? TransferError)?.code == .unattended
                }
            }
        }
    }
}
