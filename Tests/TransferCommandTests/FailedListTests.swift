import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// What failed, as data: with its URL, and as a list that can be run again.
@Suite(.timeLimit(.minutes(1))) struct FailedListTests {
    @Test func whatFailedIsAListThatRunsAgain() async throws {
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
            // Once the servers are mended, from another folder.
            server.serve("/late", .text("late"))
            let sink = server.acceptUploads("/in/f")
            try place.folder.write(list.standardOutput, to: "elsewhere/again.jsonl")
            let again = try await place.run("run", "elsewhere/again.jsonl", "-d", "elsewhere", "--json")
            #expect(again.exitCode == 0, "\(again)")
            #expect(try place.folder.text("sub/late") == "late" && sink.uploads.count == 1)
            #expect(server.requests(to: "/good").count == 1)
        }
    }

    /// In every end of a job, wherever it's told: what it was, and where it went.
    @Test func everyEndTellsItsURLAndWhereItGoes() async throws {
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

    @Test(arguments: [["status", "--list"], ["status", "--failed", "--list", "--json"]])
    func aListIsOfWhatFailedAlone(_ arguments: [String]) async throws {
        let place = try Workplace()
        let result = try await place.command(arguments).run()
        #expect(result.exitCode == 64 && result.standardError.contains("--list"), "\(result)")
    }
}
