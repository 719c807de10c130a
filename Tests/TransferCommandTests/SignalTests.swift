import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Signals and kills: the early end of a run, and the continuation by the next one.
@Suite struct SignalTests {
    let content = Content.random(seed: 31, count: 3_000_000)

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func aRunCheckpointsAndDiesByTheSignal(_ signal: Int32) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"a1\"")
            server.script("/a", [.stall(after: 2_000_000)])
            try place.jobs([download(server.url("/a"), to: "a")])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            try await until("the bytes to be there") { place.folder.size("a.part") ?? 0 >= 2_000_000 }
            let asked = ContinuousClock.now
            process.kill(signal)
            let result = try await process.result()
            #expect(result.signal == signal, "\(result)")
            #expect(ContinuousClock.now - asked < .seconds(10))
            #expect(
                result.standardError.contains("batch: stopped, 1 left; continue with: transfer run jobs.json"),
                "\(result)")
            #expect(try result.events().allSatisfy { $0["event"] != nil })

            let again = try await place.runJobs()
            #expect(again.exitCode == 0, "\(again)")
            #expect(server.requests.last?.range == "bytes=2000000-")
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        }
    }

    @Test func aSecondSignalEndsItAtOnce() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content)
            server.script("/a", [.stall(after: 1000)])
            try place.jobs([download(server.url("/a"), to: "a")])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            process.kill(SIGINT)
            process.kill(SIGTERM)
            #expect(try await process.result().signal != nil)
        }
    }

    @Test func aKilledRunResumesWhereItWas() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"a1\"")
            server.script("/a", [.stall(after: 2_000_000)])
            try place.jobs([download(server.url("/a"), to: "a")])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            try await until("the bytes to be there") { place.folder.size("a.part") ?? 0 >= 2_000_000 }
            process.kill(SIGKILL)
            #expect(try await process.result().signal == SIGKILL)
            #expect(!place.folder.exists("a"), "a name never shows a partial file")
            let again = try await place.runJobs()
            #expect(again.exitCode == 0, "\(again)")
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        }
    }

    /// A stopped run must neither leave a job half recorded as done, nor wait for a retry.
    @Test func aStopDoesNotWaitForARetry() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/a", [], afterwards: .status(500))
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"scale": "1h", "maxDelay": "1h"}"#)])
            let process = try place.startJobs()
            try await process.event("job.retrying")
            let asked = ContinuousClock.now
            process.kill(SIGTERM)
            #expect(try await process.result().signal == SIGTERM)
            #expect(ContinuousClock.now - asked < .seconds(10))
        }
    }

    /// Only a run needs its signals held back: Ctrl-C must end the other verbs.
    @Test(arguments: [["status", "--follow"], ["wait", "batch"]])
    func otherVerbsEndAtASignal(_ arguments: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")])
            let run = try place.startJobs()
            try await server.waitForHeld(1)
            var command = place.command(arguments)
            command.timeout = .seconds(30)
            let process = try command.start()
            if arguments[0] == "status" {
                try await process.line(.standardOutput) { $0.hasPrefix("batch") }
            } else {
                // The process has no output until it listens; a signal before that must end it as well.
                try await until("its start") { ProcessFacts.openDescriptors(process.processID) ?? 0 > 3 }
            }
            process.kill(SIGINT)
            #expect(try await process.result().signal == SIGINT)
            server.release()
            _ = try await run.result()
        }
    }

    /// Ctrl-C comes while standard input has not ended.
    @Test func aRunOfStandardInputEndsAtASignal() async throws {
        let place = try Workplace()
        var command = place.command(["run", "-", "--name", "piped", "--json"])
        command.standardInput = .open
        command.timeout = .seconds(30)
        let process = try command.start()
        try await process.event("batch.started")
        process.kill(SIGTERM)
        #expect(try await process.result().signal == SIGTERM)
    }
}
