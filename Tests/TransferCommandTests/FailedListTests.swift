import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Failures as data: with their URLs, and as a list that can be run again.
@Suite(.timeLimit(.minutes(1))) struct FailedListTests {
    @Test func failedJobsAreAListThatRunsAgain() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/good", .text("good"))
            try place.folder.write("f", to: "f")
            try place.jobs([
                download(server.url("/good"), to: "good"), download(server.url("/late"), to: "sub/late"),
                upload("f", to: server.url("/in/f")),
            ])
            let first = try await place.runJobs("--report", "report.jsonl")
            #expect(first.exitCode == 1, "\(first)")
            let list = try await place.run("status", "batch", "--failed", "--list")
            #expect(list.exitCode == 0, "\(list)")
            // The servers are repaired, and the list runs from a different folder.
            server.serve("/late", .text("late"))
            let sink = server.acceptUploads("/in/f")
            try place.folder.write(list.standardOutput, to: "elsewhere/again.jsonl")
            let again = try await place.run("run", "elsewhere/again.jsonl", "-d", "elsewhere", "--json")
            #expect(again.exitCode == 0, "\(again)")
            #expect(try place.folder.text("sub/late") == "late" && sink.uploads.count == 1)
            #expect(server.requests(to: "/good").count == 1)
        }
    }

    /// Every report of a job's end contains the source and the destination of the job.
    @Test func everyEndReportsItsURLAndItsDestination() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/good", .text("good"))
            try place.jobs([download(server.url("/good?token=s"), to: "a"), download(server.url("/gone"), to: "b")])
            for kind in ["job.finished", "job.kept"] {
                let result = try await place.runJobs("--report", "report.jsonl")
                let events = try result.events()
                let ended = try #require(events.named(kind).first)
                #expect(ended["url"]?.string?.hasPrefix(server.url("/good")) == true, "\(ended)")
                #expect(ended["to"]?.string?.hasSuffix("a") == true, "\(ended)")
                let failed = try #require(events.named("job.failed").first)
                #expect(failed["url"]?.string == server.url("/gone") && failed["to"]?.string == "b", "\(failed)")
                #expect(!result.standardOutput.contains("token=s"))
            }
            let report = try place.folder.text("report.jsonl")
            #expect(report.contains("\"url\":\"\(server.url("/gone"))\""), "\(report)")
        }
    }

    /// The kinds of end are finished, kept, failed, skipped and cancelled, in events, in the report and in `why`.
    @Test func everyKindOfEndHasItsPlaces() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/good", .text("good"))
            server.handle("GET", "/moved") { _ in
                Response(status: 302, headers: ["Location": server.url("/nowhere?signature=s3cret")])
            }
            server.serve("/held", .text("held"))
            server.script("/held", [.holdHead])
            let jobs = [
                download(server.url("/good"), to: "good", #""id": "good""#),
                download(server.url("/moved"), to: "moved", #""id": "moved""#),
                download(server.url("/late"), to: "late", #""id": "late", "needs": ["moved"]"#),
                download(server.url("/held"), to: "held", #""id": "held""#),
                download(server.url("/after"), to: "after", #""id": "after", "needs": ["held"]"#),
            ]
            try place.jobs(jobs)
            let process = try place.startJobs("--report", "report.jsonl")
            try await server.waitForHeld(1)
            #expect(try await place.run("cancel", "batch/held").exitCode == 0)
            let first = try await process.result()
            #expect(first.exitCode == 1, "\(first)")
            let kept = try await place.runJobs()
            let events = try first.events() + kept.events().named("job.kept")
            let report = try place.folder.text("report.jsonl")
            for (kind, id, path) in [
                ("finished", "good", "good"), ("failed", "moved", "moved"), ("skipped", "late", "late"),
                ("cancelled", "held", "held"), ("skipped", "after", "after"), ("kept", "good", "good"),
            ] {
                let end = try #require(events.named("job.\(kind)").of(id).first, "\(kind) \(id)")
                #expect(end["url"]?.string == server.url("/\(path)"), "\(end)")
                #expect(end["to"]?.string == path, "\(end)")
                #expect(kind == "kept" || report.contains(#""event":"job.\#(kind)""#))
                let why = try await place.run("why", "batch/\(id)", "--json")
                let reported = try JSONValue.parse(Data(why.standardOutput.utf8))
                #expect(
                    reported["url"]?.string == server.url("/\(path)") && reported["to"]?.string == path, "\(reported)")
            }
            let failed = try #require(events.named("job.failed").of("moved").first)
            #expect(failed["finalURL"]?.string?.hasPrefix(server.url("/nowhere")) == true, "\(failed)")
            let words = try await place.run("why", "batch/moved")
            #expect(words.standardOutput.contains("  asked     \(server.url("/nowhere"))"), "\(words)")
            #expect(!(report + first.standardOutput + words.standardOutput).contains("s3cret"))
        }
    }

    @Test(arguments: [["status", "--list"], ["status", "--failed", "--list", "--json"]])
    func aListHasOnlyFailedJobs(_ arguments: [String]) async throws {
        let place = try Workplace()
        let result = try await place.command(arguments).run()
        #expect(result.exitCode == 64 && result.standardError.contains("--list"), "\(result)")
    }
}
