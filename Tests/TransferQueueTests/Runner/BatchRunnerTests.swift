import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// Batches through the whole queue: order, limits, commands, and the end of every batch.
@Suite(.timeLimit(.minutes(1))) struct BatchRunnerTests {
    let folder: TemporaryFolder
    let content = Content.random(seed: 1, count: 1000)

    init() throws { folder = try TemporaryFolder("batch") }

    func job(_ server: TestServer, _ name: String, needs: [String] = [], priority: Int = 0) -> JobSpec {
        Sample.download(
            server.url("/\(name)"), to: folder.path("out/\(name)"), id: name, needs: needs, priority: priority)
    }

    func ask(_ verb: QueueVerb, _ job: String? = nil) throws {
        let remote = try QueueRemote(state: folder.path("state"), runtimeFolder: nil)
        _ = try remote.ask(verb, batch: "b", job: job)
    }

    @Test func aBatchOfNothingEnds() async throws {
        try await withQueue(folder) { queue in
            let totals = try await queue.complete([])
            #expect(totals == BatchTotals())
        }
    }

    @Test func twoThousandTinyJobsAllEndWithFewDescriptors() async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { request in Response(body: .text(request.path)) }
            try await withQueue(folder, limits: BatchLimits(concurrency: 32, perHost: 16)) { queue in
                let log = EventLog(queue)
                let before = OpenDescriptors.count
                let peak = Peak()
                queue.observe { if case .finished = $0.kind { peak.note(OpenDescriptors.count) } }
                let totals = try await queue.complete((0..<2000).map { job(server, "\($0)") }, limit: .seconds(50))
                #expect(totals.completed == 2000 && totals.jobs == 2000)
                #expect(log.ends.count == 2000 && log.ends.values.allSatisfy { $0 == ["done"] })
                // A group of at most 1,024 waits for a slow disk. The descriptors of connections count twice, as the
                // server is in this process.
                #expect(peak.value - before < 1200)
                #expect(server.peakRequests <= 16)
            }
            #expect(try folder.text("out/1234") == "/1234")
            #expect(try folder.files(below: "out").count == 2000)
        }
    }

    @Test func jobsRunAfterWhatTheyNeed() async throws {
        try await withTestServer { server in
            for name in ["a", "b", "c", "d"] { server.serve("/\(name)", content) }
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                try await queue.complete([
                    job(server, "d", needs: ["b", "c"], priority: 9), job(server, "c", needs: ["a"]),
                    job(server, "b", needs: ["a"]), job(server, "a"),
                ])
                #expect(log.ends.count == 4)
                let order = server.requests.map(\.path)
                #expect(order.first == "/a" && order.last == "/d" && order.count == 4)
            }
        }
    }

    @Test func dependentsOfAFailedJobAreSkippedAndTheBatchEnds() async throws {
        try await withTestServer { server in
            server.serve("/z", content)
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                let totals = try await queue.complete([
                    job(server, "gone"), job(server, "b", needs: ["gone"]), job(server, "c", needs: ["b"]),
                    job(server, "z"),
                ])
                #expect(
                    log.ends == [
                        "gone": ["failed httpStatus"], "b": ["skipped gone"], "c": ["skipped b"], "z": ["done"],
                    ])
                #expect(totals.failed == 1 && totals.skipped == 2 && totals.completed == 1 && totals.remaining == 0)
            }
        }
    }

    @Test(.ofAFolder) func cancellingAJobEndsItsDependents() async throws {
        try await withTestServer { server in
            server.script("/hold", [], afterwards: .holdHead)
            try await withQueue(folder, limits: BatchLimits(concurrency: 1)) { queue in
                let log = EventLog(queue)
                let staged = try await queue.stage([
                    job(server, "hold", priority: 9), job(server, "a"), job(server, "b", needs: ["a"]),
                    job(server, "x", needs: ["hold"]),
                    // No process has claimed "y" when it is cancelled.
                    job(server, "y", needs: ["hold"]), job(server, "z", needs: ["y"]),
                ])
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                try ask(.cancel, "a")
                try ask(.cancel, "y")
                try await log.wait { $0.end?.job == "y" }
                try ask(.cancel, "hold")
                let summary = try await within(.seconds(30)) { try await run.valueOrEnd() }
                #expect(summary.left == 0 && summary.totals["b"]?.remaining == 0)
                #expect(
                    log.ends == [
                        "hold": ["cancelled"], "a": ["cancelled"], "b": ["skipped a"], "x": ["skipped hold"],
                        "y": ["cancelled"], "z": ["skipped y"],
                    ])
            }
        }
    }

    @Test(.ofAFolder) func cancellingABatchEndsItAtOnce() async throws {
        try await withTestServer { server in
            server.script("/0", [], afterwards: .stall(after: 10))
            server.serve("/0", content)
            try await withQueue(folder, limits: BatchLimits(concurrency: 1)) { queue in
                let log = EventLog(queue)
                let staged = try await queue.stage((0..<600).map { job(server, "\($0)", priority: $0 == 0 ? 1 : 0) })
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                try ask(.cancel)
                let summary = try await within(.seconds(30)) { try await run.valueOrEnd() }
                #expect(summary.totals["b"]?.cancelled == 600 && summary.left == 0)
                #expect(log.ends.count == 600 && log.ends.values.allSatisfy { $0 == ["cancelled"] })
            }
        }
    }

    @Test(.ofAFolder) func aPausedJobContinuesWhenItIsResumed() async throws {
        try await withTestServer { server in
            let large = Content.random(seed: 3, count: 3_000_000)
            server.serve("/x", large, etag: "\"1\"")
            server.script("/x", [.stall(after: 1_000_000)])
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                let staged = try await queue.stage([job(server, "x")])
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                try await log.wait(forBytes: 500_000)
                try ask(.pause, "x")
                try await server.waitForConnections(closed: 1)
                while try queue.sqlite().statuses(name: "b").first?.paused != 1 { await Task.yield() }
                try ask(.resume, "x")
                _ = try await within { try await run.valueOrEnd() }
                #expect(log.ends == ["x": ["done"]])
                #expect(server.requests.count == 2 && server.requests[1].range != nil)
            }
        }
    }

    @Test(.ofAFolder) func pausingAndResumingAtOnceLosesNoJob() async throws {
        try await withTestServer { server in
            for name in ["x", "y", "z"] { server.serve("/\(name)", content) }
            server.script("/x", [.stall(after: 10)])
            try await withQueue(folder, limits: BatchLimits(concurrency: 1)) { queue in
                let log = EventLog(queue)
                let staged = try await queue.stage([job(server, "x", priority: 1), job(server, "y"), job(server, "z")])
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                // No notification is sent: both commands are taken together with the second.
                _ = try queue.store.deliver(.pause, batch: "b", job: nil)
                try ask(.resume)
                _ = try await within(.seconds(30)) { try await run.valueOrEnd() }
                #expect(log.ends == ["x": ["done"], "y": ["done"], "z": ["done"]])
            }
        }
    }

    @Test(.ofAFolder) func retryRestoresAFailedJobWhileTheBatchRuns() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            server.script("/x", [.status(404)])
            server.serve("/hold", content)
            server.script("/hold", [.holdHead])
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                let staged = try await queue.stage([
                    job(server, "x"), job(server, "hold"), job(server, "after", needs: ["x"]),
                ])
                server.serve("/after", content)
                let run = Task { try await queue.run([staged]) }
                try await log.wait { $0.end?.how == "skipped x" }
                try ask(.retry)
                try await log.wait { $0.end?.job == "after" && $0.end?.how == "done" }
                try await server.waitForHeld(1)
                server.release()
                let summary = try await within { try await run.valueOrEnd() }
                #expect(summary.totals["b"]?.completed == 3 && summary.totals["b"]?.failed == 0 && summary.left == 0)
            }
        }
    }

    @Test func stagingABatchThatRunsDisturbsNothing() async throws {
        try await withTestServer { server in
            server.serve("/x", content)
            server.serve("/y", content)
            server.script("/x", [.stall(after: 10)])
            try await withQueue(folder) { queue in
                let log = EventLog(queue)
                let staged = try await queue.stage([job(server, "x")])
                let run = Task { try await queue.run([staged]) }
                try await server.waitForHeld(1)
                await queue.begin(try await queue.stage([job(server, "x"), job(server, "y")]))
                try await log.wait { $0.end?.job == "y" }
                server.release()
                _ = try await within { try await run.valueOrEnd() }
                #expect(log.ends == ["x": ["done"], "y": ["done"]])
                #expect(server.requests(to: "/x").count == 1)
            }
        }
    }

    @Test func theRateOfAllTogetherIsBounded() async throws {
        try await withTestServer { server in
            for name in ["x", "y"] { server.serve("/\(name)", .random(seed: 1, count: 300_000)) }
            try await withQueue(folder, limits: BatchLimits(limitRate: 300_000)) { queue in
                let start = ContinuousClock.now
                let completed = try await queue.complete([job(server, "x"), job(server, "y")]).completed
                #expect(completed == 2)
                let took = ContinuousClock.now - start
                #expect(took > .seconds(1) && took < .seconds(30))
            }
        }
    }

    @Test func theRateLimitOfOneJobAppliesToNoOtherJob() async throws {
        try await withTestServer { server in
            for name in ["x", "y"] { server.serve("/\(name)", .random(seed: 1, count: 300_000)) }
            try await withQueue(folder) { queue in
                var slow = job(server, "x")
                slow.settings.limitRate = 150_000
                let log = EventLog(queue)
                let start = ContinuousClock.now
                let completed = try await queue.complete([slow, job(server, "y")]).completed
                #expect(completed == 2)
                let took = ContinuousClock.now - start
                #expect(took > .seconds(1) && took < .seconds(30))
                #expect(log.events.compactMap(\.end?.job) == ["y", "x"])
            }
        }
    }

    @Test func requestsStartAtTheRateAskedFor() async throws {
        try await withTestServer { server in
            server.handle("GET", "/*") { _ in Response(body: .text("x")) }
            try await withQueue(folder, limits: BatchLimits(requestRate: 20)) { queue in
                let start = ContinuousClock.now
                let completed = try await queue.complete((0..<40).map { job(server, "\($0)") }).completed
                // A second's worth of requests may start at once, where the machine took that long to begin.
                #expect(completed == 40)
                #expect(ContinuousClock.now - start > .milliseconds(950))
            }
        }
    }
}
