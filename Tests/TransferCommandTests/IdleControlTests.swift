import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The same verbs for a batch that no process runs, and the tables.
@Suite struct IdleControlTests {
    /// Makes a stopped batch: `done` is complete, `bad` failed, `held` was under way, `later` needs `held`.
    private func stopped(_ server: TestServer) async throws -> Workplace {
        let place = try Workplace()
        for name in ["done", "held", "later"] { server.serve("/\(name)", .text(name)) }
        server.script("/held", [.holdHead])
        try place.jobs([
            download(server.url("/done"), to: "done", #""id": "done""#),
            download(server.url("/bad"), to: "bad", #""id": "bad""#),
            download(server.url("/held"), to: "held", #""id": "held""#),
            download(server.url("/later"), to: "later", #""id": "later", "needs": ["held"]"#),
        ])
        let process = try place.startJobs()
        try await process.event("job.finished", id: "done")
        try await process.event("job.failed", id: "bad")
        try await server.waitForHeld(1)
        process.kill(SIGTERM)
        _ = try await process.result()
        return place
    }

    /// The copied command continues this batch, in its folder and its queue.
    @Test func theCommandToContinueRepeatsEveryArgument() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/a", [.holdHead])
            try place.folder.folder("in to")
            try place.folder.write(
                #"{"version": 1, "name": "own", "jobs": [\#(download(server.url("/a"), to: "a"))]}"#, to: "own.json")
            let options = ["--name", "other", "-d", "in to", "--state", "queue"]
            let process = try place.command(["run", "own.json"] + options).start()
            try await server.waitForHeld(1)
            process.kill(SIGTERM)
            let result = try await process.result()
            let rest = " --name other -d 'in to' --state queue\n"
            #expect(result.standardError.hasSuffix("continue with: transfer run own.json" + rest), "\(result)")
            let status = try await place.run("status", "--state", "queue")
            let folder = place.folder.path("in to")
            #expect(
                status.standardOutput.hasSuffix(
                    "continue with: transfer run \(place.folder.path("own.json")) --name other -d '\(folder)' --state queue\n"
                ), "\(status)")
        }
    }

    @Test func statusShowsATable() async throws {
        try await withTestServer { server in
            let place = try await stopped(server)
            let table = try await place.run("status")
            #expect(table.exitCode == 0)
            let source = place.folder.path("jobs.json")
            #expect(
                table.standardOutput == """
                    BATCH  STATE    DONE  FAILED  WAITING  RATE  ETA  PID
                    batch  stopped  1/4        1        1  -     -      -
                    batch: 2 left; continue with: transfer run \(source)

                    """)
            let json = try await place.status()
            #expect(json.count == 1)
            let row = try #require(json.first)
            #expect(row["state"]?.string == "stopped" && row["done"]?.int == 1 && row["failed"]?.int == 1)
            #expect(row["remaining"]?.int == 2 && row["total"]?.int == 4 && row["pid"] == nil)
            #expect(row["source"]?.string == source)
        }
    }

    @Test func statusListsFailedJobs() async throws {
        try await withTestServer { server in
            let place = try await stopped(server)
            let table = try await place.run("status", "batch", "--failed")
            let host = "127.0.0.1:\(server.port)"
            #expect(
                table.standardOutput == """
                    JOB  HOST\(String(repeating: " ", count: host.count - 4))  ATTEMPTS  REASON
                    bad  \(host)         1  404 Not Found

                    """)
            // The names have the form that `why` and `retry` accept.
            let ofAll = try await place.run("status", "--failed")
            #expect(ofAll.standardOutput.contains("\nbatch/bad  \(host) "))
            let json = try await place.status("batch", "--failed").first
            #expect(json?["id"]?.string == "bad" && json?["status"]?.int == 404 && json?["host"]?.string == host)
        }
    }

    @Test func statusReportsAnEmptyQueue() async throws {
        let place = try Workplace()
        let result = try await place.run("status")
        #expect(result.exitCode == 0)
        #expect(result.standardOutput == "no batches\n")
    }

    @Test func statusShowsARunningBatchWithItsProcess() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            let row = try #require(try await place.status().first)
            #expect(row["state"]?.string == "running" && row["pid"]?.int == Int64(process.processID))
            process.kill(SIGKILL)
            _ = try await process.result()
            #expect(try await place.status().first?["state"]?.string == "stopped", "the dead run nothing")
        }
    }

    @Test func pausedJobsStayPausedInTheNextRunUntilResumed() async throws {
        try await withTestServer { server in
            let place = try await stopped(server)
            let paused = try await place.run("pause", "batch/held")
            #expect(paused.standardOutput == "batch/held: 1 job paused\n")
            #expect(try await place.status().first?["waiting"]?.int == 2)
            let resumed = try await place.run("resume", "batch")
            #expect(
                resumed.standardOutput
                    == "batch: 1 job resumed; transfer run \(place.folder.path("jobs.json")) continues it\n")
            let result = try await place.runJobs()
            #expect(
                try result.events().ends["held"] == "finished" && result.events().ends["later"] == "finished",
                "\(result)")
        }
    }

    @Test func cancelledJobsAreCancelledOnce() async throws {
        try await withTestServer { server in
            let place = try await stopped(server)
            let result = try await place.run("cancel", "batch")
            #expect(result.standardOutput == "batch: 2 jobs cancelled\n", "\(result)")
            #expect(try await place.status().first?["state"]?.string == "finished")
            let again = try await place.run("cancel", "batch")
            #expect(again.standardOutput == "batch: 0 jobs cancelled\n" && again.exitCode == 0)
        }
    }

    @Test func retryGivesFailedJobsAFreshStart() async throws {
        try await withTestServer { server in
            let place = try await stopped(server)
            let result = try await place.run("retry", "batch", "--failed")
            #expect(
                result.standardOutput
                    == "batch: 1 job ready again; transfer run \(place.folder.path("jobs.json")) continues it\n")
            #expect(try await place.status().first?["failed"]?.int == 0)
        }
    }

    @Test func forgetLeavesTheFiles() async throws {
        try await withTestServer { server in
            let place = try await stopped(server)
            let result = try await place.run("forget", "batch")
            #expect(result.standardOutput == "forgotten: batch\n")
            #expect(try await place.status().isEmpty)
            #expect(try place.folder.text("done") == "done")
        }
    }

    @Test func forgetRefusesABatchThatRuns() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            let result = try await place.run("forget", "batch")
            #expect(result.exitCode == 64)
            #expect(
                result.standardError
                    == "transfer: batch is being run by process \(process.processID); cancel it, or stop that, first\n")
            server.release()
            #expect(try await process.result().exitCode == 0)
        }
    }

    @Test func forgetWithoutANameTakesOnlyTheOld() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            #expect(try await place.runJobs().exitCode == 0)
            #expect(try await place.run("forget").standardOutput == "")
            try await until("the batch to be a while old") {
                try await place.run("forget", "--older-than", "5ms").standardOutput == "forgotten: batch\n"
            }
        }
    }

    @Test func waitForAStoppedBatchReportsItsState() async throws {
        try await withTestServer { server in
            let place = try await stopped(server)
            let left = try await place.run("wait", "batch")
            #expect(left.exitCode == 75)
            #expect(left.standardError == "transfer: batch: no process runs it, 2 left\n")
            _ = try await place.run("cancel", "batch")
            #expect(try await place.run("wait", "batch").exitCode == 1, "one failed")
        }
    }

    @Test func aMissingJobIsReported() async throws {
        try await withTestServer { server in
            let place = try await stopped(server)
            let result = try await place.run("cancel", "batch/nothing")
            #expect(result.exitCode == 64)
            #expect(result.standardError == "transfer: no job \"nothing\" in the batch \"batch\"\n")
            let unknown = try await place.run("cancel", "other")
            #expect(unknown.standardError == "transfer: no batch \"other\"; transfer status lists them\n")
        }
    }
}
