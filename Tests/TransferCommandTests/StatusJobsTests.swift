import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// `transfer status --jobs`: one line for each job, in every state.
@Suite(.timeLimit(.minutes(2))) struct StatusJobsTests {
    @Test func eachJobHasALineWithItsKnownState() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/good", .text("good"))
            server.serve("/held", .text("held"))
            server.script("/held", [.holdHead])
            try place.jobs([
                download(server.url("/good"), to: "good", #""id": "good""#),
                download(server.url("/bad"), to: "bad", #""id": "bad""#),
                download(server.url("/held"), to: "held", #""id": "held""#),
                download(server.url("/after"), to: "after", #""id": "after", "needs": ["held"]"#),
                download(server.url("/never"), to: "never", #""id": "never", "needs": ["bad"]"#),
            ])
            let process = try place.startJobs()
            try await process.event("job.finished", id: "good")
            try await process.event("job.skipped", id: "never")
            try await server.waitForHeld(1)
            let lines = try await place.status("batch", "--jobs")
            #expect(lines.map { $0["id"]?.string } == ["good", "bad", "held", "after", "never"])
            #expect(lines.map { $0["state"]?.string } == ["done", "failed", "claimed", "blocked", "skipped"])
            for (line, path) in zip(lines, ["good", "bad", "held", "after", "never"]) {
                #expect(line["url"]?.string == server.url("/\(path)") && line["to"]?.string == path, "\(line)")
                #expect(line["batch"]?.string == "batch" && line["attempts"]?.int != nil)
            }
            #expect(lines[0]["bytes"]?.int == 4 && lines[0]["since"]?.string?.hasSuffix("Z") == true)
            #expect(lines[1]["status"]?.int == 404 && lines[1]["code"]?.string == "httpStatus", "\(lines[1])")
            #expect(lines[1]["message"]?.string == "404 Not Found" && lines[1]["finalURL"] != nil, "\(lines[1])")
            #expect(lines[4]["message"]?.string == "needs bad")
            let failed = try await place.status("batch", "--jobs", "--failed")
            #expect(failed.map { $0["id"]?.string } == ["bad"])
            let table = try await place.run("status", "batch", "--jobs").standardOutput.split(separator: "\n")
            #expect(table.count == 6 && table[0].hasPrefix("STATE"), "\(table)")
            #expect(table[2].hasPrefix("failed ") && table[2].hasSuffix("/bad -> bad: 404 Not Found"), "\(table)")
            process.kill(SIGTERM)
            _ = try await process.result()
        }
    }

    /// The name is the URL's last component until the file has its name, and then its path.
    @Test func aDownloadIntoAFolderHasItsFilesPath() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve(
                "/done", ServedFile(.text("x"), headers: ["Content-Disposition": "attachment; filename=named-done.bin"])
            )
            server.serve("/late", .text("late"))
            server.script("/late", [.holdHead])
            try place.jobs([
                download(server.url("/done"), to: "in/", #""id": "done""#),
                download(server.url("/late?x=1"), to: "in/", #""id": "late""#),
                download(server.url("/gone"), to: "in/", #""id": "gone""#),
            ])
            let process = try place.startJobs()
            try await process.event("job.finished", id: "done")
            try await process.event("job.failed", id: "gone")
            try await server.waitForHeld(1)
            let lines = try await place.status("batch", "--jobs")
            #expect(
                lines.map { $0["to"]?.string } == [place.folder.path("in/named-done.bin"), "in/late", "in/gone"],
                "\(lines)")
            let table = try await place.run("status", "batch", "--jobs").standardOutput
            #expect(table.contains("/done -> \(place.folder.path("in/named-done.bin"))\n"), "\(table)")
            #expect(table.contains("/gone -> in/gone: 404 Not Found\n"), "\(table)")
            let why = try await place.run("why", "batch/gone")
            #expect(why.standardOutput.contains("  to        in/gone\n"), "\(why)")
            process.kill(SIGTERM)
            _ = try await process.result()
        }
    }

    /// A page has a thousand jobs: none is lost or repeated between pages, whatever other jobs the queue has.
    @Test func aListOfManyIsWholeAndInTheOrderOfItsFile() async throws {
        let place = try Workplace()
        func lines(_ name: String, _ count: Int) -> String {
            let header = #"{"version": 1, "name": "\#(name)"}"#
            return
                ([header] + (0..<count).map { #"{"download": "http://127.0.0.1:9/\#($0)", "to": "\#(name)-\#($0)"}"# })
                .joined(separator: "\n")
        }
        for (name, count) in [("one", 1500), ("two", 2500)] {
            try place.folder.write(lines(name, count), to: "\(name).jsonl")
            let run = try place.command(["run", "\(name).jsonl", "--json"]).start()
            try await run.event("batch.started")
            run.kill(SIGTERM)
            _ = try await run.result()
        }
        let two = try await place.status("two", "--jobs")
        #expect(two.map { $0["id"]?.string } == (0..<2500).map { "two-\($0)" })
        let all = try await place.run("status", "--jobs")
        let names = all.standardOutput.split(separator: "\n").dropFirst()
        #expect(names.count == 4000 && names.contains { $0.contains(" one/one-1499 ") }, "\(names.count)")
    }

    @Test(arguments: [["status", "--jobs", "--follow"], ["status", "--failed", "--list", "--jobs"]])
    func aListIsNeitherFollowedNorAJobFile(_ arguments: [String]) async throws {
        let place = try Workplace()
        let result = try await place.command(arguments).run()
        #expect(result.exitCode == 64 && result.standardError.contains("--jobs"), "\(result)")
    }

    /// The paths are absolute, so that the failed jobs can be run from any folder.
    @Test func theListOfFailuresNamesItsFilesFromTheRoot() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            try place.folder.write("# Netscape HTTP Cookie File\n", to: "cookies.txt")
            try place.folder.write("token", to: "secret")
            let rules = #""cookies": "cookies.txt", "tls": {"ca": "./ca.pem"}, "headers": {"X-A": {"file": "secret"}}"#
            try place.jobs([
                download(server.url("/gone"), to: "gone", rules),
                download("sftp://127.0.0.1:9/x", to: "x", #""ssh": {"key": "id", "knownHosts": "hosts"}"#),
            ])
            _ = try await place.runJobs("--deadline", "20s")
            let list = try await place.run("status", "batch", "--failed", "--list").standardOutput
            for name in ["cookies.txt", "ca.pem", "secret", "id", "hosts"] {
                #expect(list.contains("\"\(place.folder.path(name))\""), "\(name): \(list)")
            }
        }
    }
}
