import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// `transfer why`, for running and for stopped batches.
@Suite struct WhyTests {
    private func why(_ place: Workplace, _ name: String) async throws -> JSONValue {
        let result = try await place.run("why", name, "--json")
        #expect(result.exitCode == 0, "\(result)")
        return try JSONValue.parse(Data(result.standardOutput.utf8))
    }

    @Test func reportsTheStateOfEachJobOfAStoppedBatch() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["done", "held", "later"] { server.serve("/\(name)", .text(name)) }
            server.script("/held", [.holdHead])
            try place.jobs([
                download(server.url("/done"), to: "done", #""id": "done""#),
                download(server.url("/bad"), to: "bad", #""id": "bad""#),
                download(server.url("/held"), to: "held", #""id": "held""#),
                download(server.url("/later"), to: "later", #""id": "later", "needs": ["held"]"#),
                download(server.url("/lost"), to: "lost", #""id": "lost", "needs": ["bad"]"#),
            ])
            let process = try place.startJobs()
            try await process.event("job.finished", id: "done")
            try await process.event("job.skipped", id: "lost")
            try await server.waitForHeld(1)
            // The transfers under way are reported once a second.
            try await until("it is reported") { try await why(place, "batch/held")["for"] == nil }
            let held = try await why(place, "batch/held")
            #expect(held["active"]?.int == 1 && held["state"]?.string == "claimed")
            process.kill(SIGTERM)
            _ = try await process.result()

            let stopped = try await place.run("why", "batch/held")
            #expect(
                stopped.standardOutput == """
                    batch/held: not running: no process runs the batch
                      attempts  0 of 11 used
                      starts    with: transfer run \(place.folder.path("jobs.json"))

                    """)
            let done = try await place.run("why", "batch/done")
            #expect(done.standardOutput.hasPrefix("batch/done: complete\n  file      "))
            let bad = try await place.run("why", "batch/bad")
            #expect(bad.standardOutput.hasPrefix("batch/bad: failed: 404 Not Found\n"))
            let lost = try await place.run("why", "batch/lost")
            #expect(lost.standardOutput.hasPrefix("batch/lost: skipped: it needs bad, which did not complete\n"))
            let later = try await place.run("why", "batch/later")
            #expect(later.standardOutput.hasPrefix("batch/later: waiting for held, which is ready\n"))
            _ = try await place.run("pause", "batch/held")
            let paused = try await place.run("why", "batch/held")
            #expect(paused.standardOutput.hasPrefix("batch/held: paused\n"))
        }
    }

    @Test func aRunningJobIsNotReportedAsPausedByAnother() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/large", ServedFile(.random(seed: 1, count: 4 << 20)))
            server.script("/large", [.stall(after: 1 << 20)])
            server.handle("GET", "/busy") { _ in Response(status: 503, headers: ["Retry-After": "300"]) }
            try place.jobs([
                download(server.url("/large"), to: "large", #""id": "large", "priority": 1"#),
                download(server.url("/busy"), to: "busy", #""id": "busy""#),
            ])
            let process = try place.startJobs()
            try await process.event("batch.waiting")
            try await until("the pause is stored") { try await why(place, "batch/busy")["for"]?.string == "host" }
            try await until("it is under way") { try await why(place, "batch/large")["for"] == nil }
            let large = try await place.run("why", "batch/large")
            #expect(large.standardOutput.hasPrefix("batch/large: under way, by process "), "\(large)")
            #expect(!large.standardOutput.contains("503"))
            process.kill(SIGTERM)
            _ = try await process.result()
        }
    }

    @Test func aServersPauseIsReported() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle("GET", "/busy") { _ in Response(status: 429, headers: ["Retry-After": "300"]) }
            try place.jobs([download(server.url("/busy"), to: "busy", #""id": "busy""#)])
            let process = try place.startJobs()
            try await process.event("batch.waiting")
            try await until("the pause is stored") { try await why(place, "batch/busy")["for"]?.string == "host" }
            let result = try await place.run("why", "batch/busy")
            let host = "127.0.0.1:\(server.port)"
            #expect(result.standardOutput.hasPrefix("batch/busy: waiting: \(host) said 429, asks for "))
            process.kill(SIGTERM)
            _ = try await process.result()
        }
    }

    @Test func aBatchAloneIsAnsweredWithACommandForAJob() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")], name: "my photos")
            #expect(try await place.runJobs().exitCode == 0)
            let result = try await place.run("why", "my photos")
            #expect(result.exitCode == 64)
            #expect(
                result.standardError.contains(
                    "name a job: transfer why 'my photos/JOB'; transfer status 'my photos' shows the batch"))
        }
    }

    @Test func missingNamesGetTheNearestOnes() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let none = try await place.run("why", "batch/a")
            #expect(none.exitCode == 64 && none.standardError.contains("no batch \"batch\""))
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "images/first.jpg")])
            _ = try await place.runJobs()
            for (name, message) in [
                ("bath/first.jpg", "no batch \"bath\"; did you mean batch?"),
                ("batch/first.jpg", "did you mean \"images/first.jpg\"?"),
                ("batch/images/frist.jpg", "did you mean \"images/first.jpg\"?"), ("batch", "name a job"),
            ] {
                let result = try await place.run("why", name)
                #expect(result.exitCode == 64 && result.standardError.contains(message), "\(result)")
            }
        }
    }

    /// The definition is the same everywhere: each time that the job was begun, at any of its URLs.
    @Test(
        arguments: [
            (0, [404, 404], 2), (0, [503, 503], 2), (1, [503, 503], 4), (1, [404, 503], 3), (2, [500], 3),
            (2, [404], 1),
            (0, [404, 404, 503], 3),
        ]) func attemptsAreCountedAlike(_ limit: Int, _ statuses: [Int], _ attempts: Int) async throws
    {
        try await withTestServer { server in
            let place = try Workplace()
            for (index, status) in statuses.enumerated() { server.script("/\(index)", [], afterwards: .status(status)) }
            let urls = statuses.indices.map { "\"\(server.url("/\($0)"))\"" }.joined(separator: ", ")
            let retry = #""retry": {"limit": \#(limit), "scale": 0}"#
            try place.jobs(["{\"id\": \"a\", \"download\": [\(urls)], \"to\": \"a\", \(retry)}"])
            let result = try await place.runJobs("--report", "report.jsonl")
            #expect(result.exitCode == 1, "\(result)")
            #expect(server.requests.count == attempts, "\(server.requests.map(\.path))")
            #expect(try result.events().named("job.failed").first?["attempts"]?.int == Int64(attempts), "\(result)")
            #expect(try result.events().named("job.started").compactMap { $0["attempt"]?.int }.max() == Int64(attempts))
            #expect(try place.folder.text("report.jsonl").contains("\"attempts\":\(attempts),"))
            let why = try await place.run("why", "batch/a")
            let most = (limit + 1) * statuses.count
            #expect(why.standardOutput.contains("  attempts  \(attempts) of \(most) used\n"), "\(why)")
            let reported = try JSONValue.parse(
                Data(try await place.run("why", "batch/a", "--json").standardOutput.utf8))
            #expect(
                reported["attempts"]?.int == Int64(attempts) && reported["limit"]?.int == Int64(most), "\(reported)")
            #expect(try await place.status("batch", "--jobs").first?["attempts"]?.int == Int64(attempts))
        }
    }
}
