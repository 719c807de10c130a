import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Commands from a second terminal for a running batch: each takes effect within a second.
@Suite struct ControlTests {
    /// Starts a run whose jobs `a` and `b` are held by the server and whose `c` needs `a`.
    private func running(_ server: TestServer) async throws -> (Workplace, ChildProcess) {
        let place = try Workplace()
        for name in ["a", "b", "c"] { server.serve("/\(name)", .random(seed: 1, count: 100_000), etag: "\"1\"") }
        server.script("/a", [.stall(after: 50_000)])
        server.script("/b", [.stall(after: 50_000)])
        try place.jobs([
            download(server.url("/a"), to: "a", #""id": "a""#), download(server.url("/b"), to: "b", #""id": "b""#),
            download(server.url("/c"), to: "c", #""id": "c", "needs": ["a"]"#),
        ])
        let process = try place.startJobs()
        try await server.waitForHeld(2)
        return (place, process)
    }

    /// Runs a verb, and returns its output once it has taken effect, which may take a second at most.
    private func ask(
        _ place: Workplace, _ arguments: String..., until isEffective: () async throws -> Bool
    ) async throws -> String {
        let result = try await place.command(arguments).run()
        let reported = ContinuousClock.now
        #expect(result.exitCode == 0, "\(result)")
        try await until("\(arguments)", within: .seconds(30), isEffective)
        #expect(ContinuousClock.now - reported < .seconds(1), "\(arguments)")
        return result.standardOutput
    }

    @Test func pauseHoldsABatchAndResumeContinuesIt() async throws {
        try await withTestServer { server in
            let (place, process) = try await running(server)
            let pid = process.processID
            let said = try await ask(place, "pause", "batch") { server.openConnections == 0 }
            #expect(said == "batch: paused by process \(pid), which runs it\n")
            try await until("the state") { try await place.status().first?["state"]?.string == "paused" }
            #expect(process.isRunning)
            server.script("/a", [])
            server.script("/b", [])
            let resumed = try await ask(place, "resume", "batch") { server.requests.count >= 4 }
            #expect(resumed == "batch: resumed by process \(pid), which runs it\n")
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests[2...].contains { $0.range == "bytes=50000-" }, "what is paused keeps its bytes")
            #expect(try result.events().ends == ["a": "finished", "b": "finished", "c": "finished"])
        }
    }

    @Test func oneJobIsPausedWhileTheOthersContinue() async throws {
        try await withTestServer { server in
            let (place, process) = try await running(server)
            _ = try await ask(place, "pause", "batch/b") { server.openConnections <= 1 }
            server.release("/a")
            try await process.event("job.finished", id: "c")
            #expect(process.isRunning)
            _ = try await ask(place, "resume", "batch/b") { server.requests(to: "/b").count == 2 }
            #expect(try await process.result().exitCode == 0)
        }
    }

    @Test func cancelEndsAJobAndSkipsItsDependents() async throws {
        try await withTestServer { server in
            let (place, process) = try await running(server)
            let said = try await place.run("cancel", "batch/a")
            #expect(said.standardOutput == "batch/a: cancelled by process \(process.processID), which runs it\n")
            try await process.event("job.cancelled", id: "a")
            server.release("/b")
            let result = try await process.result()
            let ends = try result.events().ends
            #expect(ends["a"] == "cancelled" && ends["b"] == "finished", "\(result)")
            #expect(ends["c"] == "skipped" || ends["c"] == "cancelled", "it cannot ever start: \(result)")
        }
    }

    @Test func cancelOfABatchEndsTheRun() async throws {
        try await withTestServer { server in
            let (place, process) = try await running(server)
            _ = try await ask(place, "cancel", "batch") { !process.isRunning }
            let result = try await process.result()
            #expect(try result.events().ends == ["a": "cancelled", "b": "cancelled", "c": "cancelled"], "\(result)")
            #expect(try result.events().named("batch.finished").first?["cancelled"]?.int == 3)
            #expect(result.exitCode == 1, "not all is complete")
            #expect(try await place.status().first?["state"]?.string == "finished")
        }
    }

    @Test func retryEndsAWait() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.status(500)])
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"scale": "1h", "maxDelay": "1h"}"#)])
            let process = try place.startJobs()
            try await process.event("job.retrying", id: "a")
            _ = try await ask(place, "retry", "batch/a") { server.requests.count == 2 }
            #expect(try await process.result().exitCode == 0)
        }
    }

    /// The whole server is paused for an hour: a retry starts the job now.
    @Test func retryEndsThePauseOfAServer() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.status(503, headers: ["Retry-After": "3600"])])
            try place.jobs([download(server.url("/a"), to: "a")])
            var command = place.command(["run", "jobs.json", "--json"])
            command.timeout = .seconds(10)
            let process = try command.start()
            try await process.event("job.retrying", id: "a")
            _ = try await ask(place, "retry", "batch") { server.requests.count == 2 }
            #expect(try await process.result().exitCode == 0)
        }
    }

    @Test func retryRestoresFailedJobsOfARunningBatch() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/b", .text("b"))
            server.script("/a", [.status(404)])
            server.script("/b", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a"), download(server.url("/b"), to: "b")])
            let process = try place.startJobs()
            try await process.event("job.failed", id: "a")
            _ = try await ask(place, "retry", "batch", "--failed") { server.requests(to: "/a").count == 2 }
            try await server.waitForHeld(1)
            server.release()
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try result.events().named("batch.finished").first?["failed"]?.int == 0)
        }
    }

    /// The table at the end lists the jobs that failed and were not retried.
    @Test func aRetriedJobIsNoFailureInTheEndReport() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/b", .text("b"))
            server.script("/a", [.status(404)])
            server.script("/b", [Fault.holdHead.and(.status(410))])
            try place.jobs([download(server.url("/a"), to: "a"), download(server.url("/b"), to: "b")])
            let process = try place.startJobs()
            try await process.event("job.failed", id: "a")
            _ = try await ask(place, "retry", "batch/a") { server.requests(to: "/a").count == 2 }
            try await server.waitForHeld(1)
            server.release()
            let result = try await process.result()
            #expect(result.exitCode == 1)
            let log = result.standardError
            #expect(
                log.contains("info batch/a: retried on request\n") || log.contains("info a: retried on request\n"))
            #expect(log.contains("1  410 Gone") && !log.contains("1  404 Not Found"), "\(log)")
            let event = try result.events().named("batch.commanded").first
            #expect(event?["verb"]?.string == "retry" && event?["id"]?.string == "a")
        }
    }

    @Test func aJobThatHasEndedCanNotBeHeld() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/b", .text("b"))
            server.script("/b", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a"), download(server.url("/b"), to: "b")])
            let process = try place.startJobs()
            try await process.event("job.finished", id: "a")
            for (verb, past) in [("pause", "paused"), ("cancel", "cancelled"), ("retry", "ready again")] {
                let said = try await place.run(verb, "batch/a")
                #expect(said.standardOutput == "batch/a: 0 jobs \(past)\n" && said.exitCode == 0, "\(said)")
            }
            try await server.waitForHeld(1)
            server.release()
            #expect(try await process.result().exitCode == 0)
        }
    }

    @Test func allMeansEveryBatch() async throws {
        try await withTestServer { server in
            let (place, process) = try await running(server)
            _ = try await ask(place, "cancel", "--all") { !process.isRunning }
            _ = try await process.result()
        }
    }

    // MARK: Wait

    @Test(arguments: [false, true]) func waitEndsWithTheRunAndReportsItsResult(_ fails: Bool) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [Fault.holdHead.and(fails ? .status(404) : .none)])
            try place.jobs([download(server.url("/a"), to: "a")])
            let run = try place.startJobs()
            try await server.waitForHeld(1)
            let wait = try place.command(["wait", "batch"]).start()
            try await until("the waiting process to listen") {
                try FileManager.default.contentsOfDirectory(atPath: place.folder.path("state"))
                    .contains { $0.hasPrefix("transfer-\(wait.processID)-") && $0.hasSuffix(".sock") }
            }
            #expect(wait.isRunning)
            server.release()
            let ended = try await run.result()
            #expect(ended.exitCode == (fails ? 1 : 0), "\(ended)")
            #expect(try await wait.result().exitCode == (fails ? 1 : 0))
        }
    }

    @Test func waitEndsWhenTheRunIsKilled() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")])
            let run = try place.startJobs()
            try await server.waitForHeld(1)
            let wait = try place.command(["wait", "batch"]).start()
            try await until("the waiting process to listen") { ProcessFacts.openDescriptors(wait.processID) ?? 0 > 6 }
            run.kill(SIGKILL)
            let result = try await wait.result()
            #expect(result.exitCode == 75, "\(result)")
            #expect(result.standardError == "transfer: batch: no process runs it, 1 left\n")
        }
    }

    @Test func theSocketsAreRemoved() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            #expect(try await place.runJobs().exitCode == 0)
            let left = try FileManager.default.contentsOfDirectory(atPath: place.folder.path("state"))
            #expect(left.filter { $0.hasSuffix(".sock") } == [])
        }
    }

    @Test func aLongRuntimeFolderDoesNotMatter() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let long = try place.folder.folder(String(repeating: "long/", count: 30) + "run")
            server.serve("/a", .text("a"))
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")])
            var command = place.command(["run", "jobs.json", "--json"])
            command.environment["XDG_RUNTIME_DIR"] = long
            command.environment["TRANSFER_STATE"] = long + "/state"
            let process = try command.start()
            try await server.waitForHeld(1)
            var cancel = place.command(["cancel", "batch"])
            cancel.environment = command.environment
            #expect(try await cancel.run().exitCode == 0)
            try await process.event("job.cancelled", id: "a")
            _ = try await process.result()
        }
    }
}
