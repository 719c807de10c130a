import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The forms of a job file, from the file to the destination.
@Suite struct JobFileFormTests {
    @Test func aDocumentRuns() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 1, count: 300_000)
            server.serve("/a", content, etag: "\"a1\"")
            try place.folder.write("upload me", to: "out/report")
            let sink = server.acceptUploads("/in/*")
            try place.jobs([
                download(server.url("/a"), to: "deep/er/a", #""id": "get""#),
                upload("out/report", to: server.url("/in/report"), #""id": "send""#),
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try content.firstDifference(fromFileAt: place.folder.path("deep/er/a")) == nil)
            #expect(sink.uploads.map(\.bytes) == [Array("upload me".utf8)])
            #expect(try result.events().ends == ["get": "finished", "send": "finished"])
            #expect(try place.traces().allSatisfy { !$0.hasSuffix(".part") })
        }
    }

    @Test func jsonLinesRunWithTheirHeader() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b", "c"] { server.serve("/\(name)", .text(name)) }
            try place.folder.write(
                """
                {"version": 1, "name": "lines", "defaults": {"headers": {"X-Team": "media"}}, "limits": {"concurrency": 1}}
                {"download": "\(server.url("/a"))", "to": "a"}

                {"download": "\(server.url("/b"))", "to": "b"}
                {"download": "\(server.url("/c"))", "to": "c", "headers": {"x-team": "other"}}
                """, to: "jobs.jsonl")
            let result = try await place.run("run", "jobs.jsonl", "--json")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try ["a", "b", "c"].map { try place.folder.text($0) } == ["a", "b", "c"])
            #expect(
                server.requests.map { $0.headers["X-Team"] }.sorted { $0 ?? "" < $1 ?? "" } == [
                    "media", "media", "other",
                ])
            #expect(server.peakRequests == 1)
            #expect(try result.events().allSatisfy { $0["batch"]?.string == "lines" })
        }
    }

    @Test func aListOfURLsRunsAsAria2WritesIt() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/mirror/b", .text("b"))
            let sum = try await digest("sha256", Array("b".utf8))
            try place.folder.write(
                """
                # a comment
                \(server.url("/a"))
                \(server.url("/missing"))\t\(server.url("/mirror/b"))
                  out=renamed
                  dir=sub
                  checksum=sha-256=\(sum)
                  header=X-Team: media

                """, to: "list.txt")
            let result = try await place.run("run", "list.txt", "--json", "-d", place.folder.path("in"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.files(below: "in") == ["a", "sub/renamed"])
            #expect(try place.folder.text("in/sub/renamed") == "b")
            #expect(server.requests(to: "/mirror/b").first?.headers["X-Team"] == "media")
        }
    }

    @Test func anUnnamedBatchIsTheFilesRealPath() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            let path = try place.folder.write("\(server.url("/a"))\n", to: "real/list.txt")
            try FileManager.default.createSymbolicLink(
                atPath: place.folder.path("link.txt"), withDestinationPath: path)
            #expect(try await place.run("run", "link.txt").exitCode == 0)
            #expect(try await place.status().map { $0["batch"]?.string } == [path])
        }
    }

    @Test func jobsOfStandardInputStartBeforeItEnds() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/b", .text("b"))
            var command = place.command(["run", "-", "--name", "piped", "--json"])
            command.standardInput = .open
            let process = try command.start()
            process.send(Data("{\"download\": \"\(server.url("/a"))\", \"to\": \"a\"}\n".utf8))
            try await process.event("job.finished", id: "a")
            process.send(Data("this is no job\n{\"download\": \"\(server.url("/b"))\", \"to\": \"b\"}\n".utf8))
            try await process.event("job.finished", id: "b")
            process.closeStandardInput()
            let result = try await process.result()
            #expect(result.exitCode == 1, "the bad line is a failed job: \(result)")
            let failed = try result.events().named("job.failed")
            #expect(failed.count == 1 && failed.first?["id"]?.string == "line 2", "\(result)")
            #expect(try result.events().ends == ["a": "finished", "line 2": "failed", "b": "finished"], "one end each")
            #expect(try result.events().named("batch.finished").count == 1, "\(result)")
            #expect(try result.events().named("batch.finished").last?["failed"]?.int == 1)
            #expect(try place.folder.text("a") == "a" && place.folder.text("b") == "b")
        }
    }

    @Test func standardInputMayBeADocumentOrAList() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/b", .text("b"))
            for (name, text) in [
                ("document", "{\"version\": 1,\n\"jobs\": [\n\(download(server.url("/a"), to: "a"))]}"),
                ("list", "\(server.url("/b"))\n"),
            ] {
                var command = place.command(["run", "-", "--name", name])
                command.standardInput = .data(Data(text.utf8))
                let result = try await command.run()
                #expect(result.exitCode == 0, "\(result)")
            }
            #expect(try place.folder.text("a") == "a" && place.folder.text("b") == "b")
        }
    }

    /// The program that should have written the jobs may have failed.
    @Test func emptyStandardInputIsNoSuccess() async throws {
        let place = try Workplace()
        let result = try await place.run("run", "-", "--name", "empty")
        #expect(result.exitCode == 1, "\(result)")
    }

    @Test func theSameLinesOnStandardInputAgainAreKept() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            for expected in ["finished", "kept"] {
                var command = place.command(["run", "-", "--name", "piped", "--json"])
                command.standardInput = .data(Data("{\"download\": \"\(server.url("/a"))\", \"to\": \"a\"}\n".utf8))
                let result = try await command.run()
                #expect(result.exitCode == 0, "\(result)")
                #expect(try result.events().ends == ["a": expected])
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func severalFilesAreSeveralBatches() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/b", .text("b"))
            try place.folder.write("\(server.url("/a"))\n", to: "one.txt")
            try place.folder.write("\(server.url("/b"))\n", to: "two.txt")
            let result = try await place.run("run", "one.txt", "two.txt", "--json")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try result.events().named("batch.finished").count == 2)
            #expect(try await place.status().count == 2)
        }
    }
}
