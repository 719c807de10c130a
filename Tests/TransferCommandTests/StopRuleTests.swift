import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// `--deadline`, `--fail-fast`, `--max-failures`, `--dry-run`, and the exit status of each end.
@Suite struct StopRuleTests {
    @Test func theDeadlineStopsWithWorkLeft() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 1, count: 100_000)
            server.serve("/a", content, etag: "\"1\"")
            server.script("/a", [.stall(after: 50_000)])
            try place.jobs([download(server.url("/a"), to: "a")])
            let result = try await place.runJobs("--deadline", "300ms")
            #expect(result.exitCode == 75, "\(result)")
            #expect(result.duration < .seconds(3))
            #expect(
                result.standardError.contains("batch: stopped, 1 left; continue with: transfer run jobs.json"),
                "\(result)")
            #expect(try result.events().ends == [:])
            #expect(try await place.runJobs().exitCode == 0)
            #expect(server.requests.last?.range == "bytes=50000-")
        }
    }

    @Test func aDeadlineThatIsMetChangesNothing() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            let result = try await place.runJobs("--deadline", "1h")
            #expect(result.exitCode == 0)
            #expect(result.duration < .seconds(5))
        }
    }

    /// Runs twenty jobs of which the named ones fail, one after the other.
    /// Where a stop is expected, the eleventh waits for it: otherwise all could be done before the failure is recorded.
    private func run(
        _ server: TestServer, failing: Set<Int>, _ options: [String], isStopped: Bool
    ) async throws -> ProcessResult {
        let place = try Workplace()
        if isStopped { server.script("/10", [.holdHead]) }
        for index in 0..<20 where !failing.contains(index) { server.serve("/\(index)", .text("x")) }
        try place.jobs((0..<20).map { download(server.url("/\($0)"), to: "f\($0)") })
        return try await place.command(["run", "jobs.json", "--json", "-j", "1"] + options).run()
    }

    @Test func failFastStopsAtTheFirstFailure() async throws {
        try await withTestServer { server in
            let result = try await run(server, failing: [3, 12], ["--fail-fast"], isStopped: true)
            #expect(result.exitCode == 75, "work is left: \(result)")
            #expect(result.standardError.contains("warn stopped: 1 job failed (--fail-fast)"), "\(result)")
            #expect(try result.events().named("job.failed").count == 1)
            #expect(server.requests.count <= 11, "\(server.requests.count)")
        }
    }

    @Test(arguments: [("1", 75), ("2", 1), ("5%", 75), ("10%", 1), ("0", 75)])
    func tooManyFailuresStop(_ bound: String, _ status: Int32) async throws {
        try await withTestServer { server in
            let result = try await run(server, failing: [3, 5], ["--max-failures", bound], isStopped: status == 75)
            #expect(result.exitCode == status, "\(result)")
        }
    }

    @Test func failFastOfTheLastJobLeavesNothing() async throws {
        try await withTestServer { server in
            let result = try await run(server, failing: [19], ["--fail-fast"], isStopped: false)
            #expect(result.exitCode == 1, "nothing is left that a later run continues: \(result)")
        }
    }

    /// A list that a script left empty by mistake must not look like a success.
    @Test func anEmptyBatchIsAFault() async throws {
        let place = try Workplace()
        try place.jobs([])
        let result = try await place.runJobs()
        #expect(result.exitCode == 65, "\(result)")
        #expect(try result.events().isEmpty)
    }

    // MARK: The plan

    @Test func dryRunPrintsThePlanAndChangesNothing() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.write("report", to: "out.pdf")
            try place.jobs([
                download(server.url("/a?token=hunter2"), to: "a", #""id": "get""#),
                #"{"download": ["\#(server.url("/b"))", "\#(server.url("/c"))"], "to": "b"}"#,
                upload("out.pdf", to: server.url("/in"), #""needs": ["get"]"#),
            ])
            let before = try place.folder.files()
            let result = try await place.run("run", "jobs.json", "--dry-run")
            #expect(result.exitCode == 0, "\(result)")
            #expect(
                result.standardOutput == """
                    batch: 3 jobs
                      fetch  \(server.url("/a?token=***")) -> a
                      fetch  \(server.url("/b")) and 1 more -> b
                      send  out.pdf -> \(server.url("/in")), after get

                    """)
            #expect(server.requests.isEmpty)
            #expect(try place.folder.files() == before)
        }
    }

    @Test func dryRunReportsExistingFiles() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["kept", "half"] { server.serve("/\(name)", .random(seed: 1, count: 100_000), etag: "\"1\"") }
            server.script("/half", [.stall(after: 51_200)])
            let jobs = [
                download(server.url("/kept"), to: "kept"), download(server.url("/half"), to: "half"),
                download(server.url("/there"), to: "there"),
            ]
            try place.jobs(Array(jobs.prefix(2)))
            let process = try place.startJobs()
            try await process.event("job.finished", id: "kept")
            try await server.waitForHeld(1)
            try await until("the bytes to be there") { place.folder.size("half.part") ?? 0 >= 51_200 }
            process.kill(SIGTERM)
            _ = try await process.result()
            try place.folder.write("mine", to: "there")
            try place.jobs(jobs)
            let result = try await place.run("run", "jobs.json", "-n")
            #expect(
                result.standardOutput == """
                    batch: 3 jobs
                      keep  \(server.url("/kept")) -> kept
                      continue from 50.0 KiB  \(server.url("/half")) -> half
                      exists (ifExists: verify)  \(server.url("/there")) -> there

                    """)
        }
    }

    @Test func dryRunOfAFaultyFileEndsWith65() async throws {
        let place = try Workplace()
        try place.folder.write("{", to: "jobs.json")
        let result = try await place.run("run", "jobs.json", "-n")
        #expect(result.exitCode == 65)
        #expect(result.standardOutput.isEmpty && result.standardError.hasPrefix("jobs.json:"))
        #expect(try place.traces() == [])
    }

    @Test func dryRunReadsStandardInput() async throws {
        let place = try Workplace()
        var command = place.command(["run", "-", "--name", "piped", "--dry-run"])
        command.standardInput = .data(Data("{\"download\": \"http://127.0.0.1:1/a\", \"to\": \"a\"}\n".utf8))
        let result = try await command.run()
        #expect(result.exitCode == 0, "\(result)")
        #expect(result.standardOutput == "piped: 1 job\n  fetch  http://127.0.0.1:1/a -> a\n", "\(result)")
        #expect(try place.traces() == [])
    }
}
