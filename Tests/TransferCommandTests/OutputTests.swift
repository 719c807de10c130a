import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The streams and files that the command writes, and their formats.
@Suite struct OutputTests {
    /// A batch with one job of each end: finished, kept, failed, skipped.
    private func mixed(_ server: TestServer) async throws -> Workplace {
        let place = try Workplace()
        server.serve("/kept", .text("kept"))
        server.serve("/good", .random(seed: 1, count: 100_000), etag: "\"1\"")
        try place.jobs([download(server.url("/kept"), to: "kept", #""id": "kept""#)])
        #expect(try await place.runJobs().exitCode == 0)
        server.script("/good", [.cut(after: 50_000), .status(500)])
        try place.jobs([
            download(server.url("/kept"), to: "kept", #""id": "kept""#),
            download(server.url("/good"), to: "good", #""id": "good""#),
            download(server.url("/bad"), to: "bad", #""id": "bad""#),
            download(server.url("/skipped"), to: "skipped", #""id": "skipped", "needs": ["bad"]"#),
        ])
        return place
    }

    @Test func everyJobHasExactlyOneEndAndEveryLineIsJSON() async throws {
        try await withTestServer { server in
            let place = try await mixed(server)
            let result = try await place.runJobs()
            #expect(result.exitCode == 1)
            let events = try result.events()
            #expect(
                events.ends == ["kept": "kept", "good": "finished", "bad": "failed", "skipped": "skipped"], "\(result)")
            #expect(events.allSatisfy { $0["event"]?.string != nil && $0["batch"]?.string == "batch" })
            let time = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#
            #expect(events.allSatisfy { $0["time"]?.string?.wholeMatch(of: time) != nil })
            #expect(
                events.filter { $0["event"]?.string?.hasPrefix("job.") == true }.allSatisfy { $0["id"]?.string != nil })
            #expect(events.first?["event"]?.string == "batch.started")
            #expect(events.last?["event"]?.string == "batch.finished")

            let finished = try #require(events.of("good").named("job.finished").first)
            #expect(
                Set(finished.object.map { Array($0.keys) } ?? []) == [
                    "event", "time", "batch", "id", "url", "to", "direction", "bytes", "transferred", "seconds", "rate",
                    "validator",
                    "finalURL", "path", "status", "attempts", "cursor", "proofs",
                ])
            #expect(finished["bytes"]?.int == 100_000 && finished["validator"]?.string == "\"1\"")
            let failed = try #require(events.of("bad").named("job.failed").first)
            #expect(failed["code"]?.string == "httpStatus" && failed["message"]?.string == "404 Not Found")
            #expect(failed["status"]?.int == 404)
            let end = try #require(events.last)
            #expect(end["jobs"]?.int == 4 && end["kept"]?.int == 1 && end["completed"]?.int == 1)
            #expect(end["failed"]?.int == 1 && end["skipped"]?.int == 1 && end["remaining"]?.int == 0)
            #expect(end["bytes"]?.int == 100_000, "each byte counted once: \(end)")
            let start = try #require(events.first)
            #expect(start["jobs"]?.int == 4 && start["kept"]?.int == 1 && start["remaining"]?.int == 3)
            let cursors = events.compactMap { $0["cursor"]?.int }
            #expect(cursors == cursors.sorted() && Set(cursors).count == cursors.count)
        }
    }

    @Test func progressOfJobsComesOnlyOnRequest() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .random(seed: 1, count: 400_000))
            try place.jobs([download(server.url("/a"), to: "a", #""limitRate": "200K", "ifExists": "overwrite""#)])
            let plain = try await place.runJobs()
            #expect(try plain.events().named("job.progress").isEmpty)
            #expect(try !plain.events().named("batch.progress").isEmpty)
            try FileManager.default.removeItem(atPath: place.folder.path("a"))
            let result = try await place.run("run", "jobs.json", "--json=progress")
            let steps = try result.events().named("job.progress")
            #expect(!steps.isEmpty, "\(result)")
            #expect(steps.contains { $0["total"]?.int == 400_000 && ($0["completed"]?.int ?? 0) > 0 })
        }
    }

    @Test func withoutJSONStandardOutputStaysEmpty() async throws {
        try await withTestServer { server in
            let place = try await mixed(server)
            let result = try await place.run("run", "jobs.json")
            #expect(result.standardOutput.isEmpty)
            #expect(result.exitCode == 1)
        }
    }

    @Test func aLogHasNoLinePerSuccessAndEndsWithTheReport() async throws {
        try await withTestServer { server in
            let place = try await mixed(server)
            let result = try await place.run("run", "jobs.json")
            let host = "127.0.0.1:\(server.port)"
            let lines = result.standardError.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let stamp = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d /#
            let log = lines.filter { $0.prefixMatch(of: stamp) != nil }.map { String($0.dropFirst(20)) }
            #expect(log.contains("info batch: 4 jobs, 1 done, 3 to do"), "\(result)")
            #expect(log.contains("error bad: 404 Not Found, not retried"), "\(result)")
            #expect(!result.standardError.contains("fetched 97"), "\(result)")
            #expect(lines.contains { $0.contains("    1  404 Not Found         \(host)  bad") }, "\(result)")
            #expect(result.standardError.contains("Again:  transfer retry batch --failed"), "\(result)")
            #expect(result.standardError.contains("List:   transfer status batch --failed"))
        }
    }

    @Test func verboseAddsSuccesses() async throws {
        try await withTestServer { server in
            let place = try await mixed(server)
            let result = try await place.run("run", "jobs.json", "-v")
            #expect(result.standardError.contains(" info good: fetched 97.7 KiB in "), "\(result)")
            #expect(result.standardError.contains(" info kept: kept, complete before"))
        }
    }

    @Test func quietReportsOnlyFailures() async throws {
        try await withTestServer { server in
            let place = try await mixed(server)
            let result = try await place.run("run", "jobs.json", "-q")
            #expect(result.standardError.contains("bad: 404 Not Found"))
            #expect(!result.standardError.contains(" info ") && !result.standardError.contains(" warn "), "\(result)")

            let good = try Workplace()
            try good.jobs([download(server.url("/kept"), to: "kept")])
            #expect(try await good.run("run", "jobs.json", "-q").standardError == "")
        }
    }

    @Test func progressNoneLeavesFailuresAndTheReport() async throws {
        try await withTestServer { server in
            let place = try await mixed(server)
            let result = try await place.run("run", "jobs.json", "--progress", "none")
            #expect(!result.standardError.contains("3 to do"), "\(result)")
            #expect(result.standardError.contains("bad: 404 Not Found"))
        }
    }

    @Test(arguments: ["plain", "auto"]) func aPipeGetsNoControlSequences(_ progress: String) async throws {
        try await withTestServer { server in
            let place = try await mixed(server)
            let result = try await place.run("run", "jobs.json", "--progress", progress)
            #expect(!result.standardError.unicodeScalars.contains { $0.value == 0x1B || $0 == "\r" }, "\(result)")
        }
    }

    @Test func theReportFileHasOneLinePerEndAndIsAppendedTo() async throws {
        try await withTestServer { server in
            let place = try await mixed(server)
            try place.folder.write("{\"event\":\"older\"}\n", to: "report.jsonl")
            _ = try await place.run("run", "jobs.json", "--report", "report.jsonl")
            let lines = try JSONLines.values(try place.folder.text("report.jsonl"))
            #expect(lines.first?["event"]?.string == "older")
            #expect(
                Array(lines.dropFirst()).ends == [
                    "kept": "kept", "good": "finished", "bad": "failed", "skipped": "skipped",
                ])
            #expect(lines.count == 5)
        }
    }

    @Test func aReaderThatGoesAwayDoesNotStopTheTransfers() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle("GET", "/*") { _ in Response(body: .text("x")) }
            try place.jobs((0..<100).map { download(server.url("/\($0)"), to: "f\($0)") })
            _ = try await shell("run jobs.json --json | head -n 1", in: place)
            try await until("the batch's end") { try await place.status().first?["done"]?.int == 100 }
        }
    }

    @Test func statusIsFollowedWhileAReaderIsThere() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            _ = try await place.run("run", "jobs.json")
            let result = try await shell("status --follow | head -n 1", in: place)
            #expect(result.exitCode == 0)
        }
    }

    @Test func aFullReportDiskIsReportedAtTheEnd() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            let result = try await place.run("run", "jobs.json", "--report", "/dev/full")
            #expect(result.exitCode == 74)
            #expect(try place.folder.text("a") == "a")
            #expect(
                result.standardError.contains("the report file is incomplete: no space left on device"), "\(result)")
        }
    }

    /// Output for programs must not be truncated silently.
    @Test(arguments: ["run jobs.json --json", "status", "validate jobs.json", "why batch/a"])
    func aFullStandardOutputIsAnError(_ command: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            let complete = try await place.run("run", "jobs.json")
            #expect(complete.exitCode == 0)
            let result = try await shell("\(command) > /dev/full", in: place)
            #expect(result.exitCode == 74)
            #expect(
                result.standardError.hasSuffix("transfer: standard output is incomplete: no space left on device\n"))
        }
    }

    /// Runs the command with a shell's redirection of its output.
    private func shell(_ line: String, in place: Workplace) async throws -> ProcessResult {
        let template = place.command([])
        let command = ChildProcess.Command(
            "/bin/sh", ["-c", "'\(try TransferCommand.binary())' \(line)"], environment: template.environment,
            workingFolder: template.workingFolder)
        return try await ChildProcess.start(command).result()
    }
}
