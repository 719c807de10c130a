import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The same command again: finished jobs stay finished, changed jobs are done anew.
@Suite struct RunAgainTests {
    let content = Content.random(seed: 21, count: 50_000)

    /// A finished batch of one job, `a`.
    private func finished(_ server: TestServer, _ more: String = "") async throws -> Workplace {
        let place = try Workplace()
        server.serve("/a", ServedFile(content, etag: "\"a1\"", lastModified: 1_600_000_000))
        try place.jobs([download(server.url("/a"), to: "a", more)])
        let result = try await place.runJobs()
        #expect(result.exitCode == 0, "\(result)")
        #expect(server.requests.count == 1)
        return place
    }

    /// The jobs of one file would replace those of the other.
    @Test func twoFilesOfOneNameAreRefused() async throws {
        let place = try Workplace()
        try place.folder.write(#"{"version": 1, "name": "b", "jobs": []}"#, to: "one.json")
        try place.folder.write(#"{"version": 1, "name": "b", "jobs": []}"#, to: "two.json")
        let result = try await place.run("run", "one.json", "two.json")
        #expect(result.exitCode == 65)
        #expect(
            result.standardError
                == "transfer: one.json and two.json are both the batch \"b\"; give one of them another \"name\"\n")
        #expect(try await place.status().isEmpty)
    }

    /// A job file without a name has its path as the batch's name; a shorter name is shown and accepted.
    @Test func aBatchIsFoundByItsFilesName() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            let path = try place.folder.write(
                #"{"version": 1, "jobs": [\#(download(server.url("/a"), to: "a", #""id": "a""#)), \#(download(server.url("/gone"), to: "b", #""id": "b""#))]}"#,
                to: "mirror.json")
            let result = try await place.run("run", "mirror.json", "--json", "--state", "st", "-j", "3")
            #expect(result.exitCode == 1, "\(result)")
            #expect(try result.events().allSatisfy { $0["batch"]?.string == path }, "programs get the whole name")
            #expect(result.standardError.contains("mirror: 1 of 2 failed, 1 fetched"), "\(result)")
            // A suggested command still means this batch later, whatever other batches are called.
            #expect(
                result.standardError.contains("\nList:   transfer status \(path) --failed --state st\n"), "\(result)")
            for name in ["mirror", "mirror.json", path] {
                let status = try await place.run("status", name, "--state", "st")
                #expect(status.exitCode == 0 && status.standardOutput.contains("\nmirror  finished  1/2"), "\(status)")
                let why = try await place.run("why", "\(name)/b", "--state", "st")
                #expect(why.standardOutput.hasPrefix("mirror/b: failed: 404 Not Found"), "\(why)")
                #expect(
                    why.standardOutput.hasSuffix("again with: transfer retry \(path)/b --state st\n"), "\(why)")
            }
            let failed = try await place.run("status", "mirror", "--failed", "--state", "st")
            #expect(failed.standardOutput.contains("404 Not Found"))
            let retried = try await place.run("retry", "mirror", "--failed", "--state", "st")
            #expect(
                retried.exitCode == 0 && retried.standardOutput.contains("transfer run \(path) --state st continues"),
                "\(retried)")
            let wrong = try await place.run("status", "miror", "--state", "st")
            #expect(
                wrong.exitCode == 64 && wrong.standardError.contains("transfer status --state st lists them"),
                "\(wrong)")
            let forgotten = try await place.run("forget", "mirror", "--state", "st")
            #expect(forgotten.standardOutput == "forgotten: mirror\n", "\(forgotten)")
        }
    }

    @Test func theCommandToContinueABatchIsTheGivenOne() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")])
            let process = try place.startJobs("--state", "st", "-j", "3", "--per-host", "2", "--limit-rate", "1M")
            try await server.waitForHeld(1)
            process.kill(SIGTERM)
            let result = try await process.result()
            #expect(
                result.standardError.contains(
                    "batch: stopped, 1 left; continue with: transfer run jobs.json -j 3 --per-host 2 --limit-rate 1048576 --state st"
                ),
                "\(result)")
        }
    }

    @Test func finishedJobsAreKeptAndNoServerIsAsked() async throws {
        try await withTestServer { server in
            let place = try await finished(server)
            let result = try await place.runJobs()
            #expect(result.exitCode == 0)
            #expect(try result.events().ends == ["a": "kept"])
            let end = try #require(try result.events().named("batch.finished").first)
            #expect(end["kept"]?.int == 1 && end["completed"]?.int == 0 && end["jobs"]?.int == 1)
            #expect(server.requests.count == 1)
            #expect(result.standardError.contains("1 kept, servers not asked"), "\(result)")
        }
    }

    /// Relative paths lead to a different folder then: complete files of the first folder do not count.
    @Test func anotherFolderGetsItsOwnFiles() async throws {
        try await withTestServer { server in
            let place = try await finished(server)
            let other = try place.folder.folder("other")
            let result = try await place.command(["run", "jobs.json", "--json", "-d", other]).run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try result.events().ends == ["a": "finished"])
            #expect(try content.firstDifference(fromFileAt: other + "/a") == nil)
            let again = try await place.command(["run", "jobs.json", "--json", "-d", other]).run()
            #expect(try again.events().ends == ["a": "kept"])
        }
    }

    /// The batch of a successful `get` is forgotten: the file itself bears the URL of its source.
    @Test func aFileThatGetFetchedIsKeptTheNextTime() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", ServedFile(Content.random(seed: 3, count: 500), lastModified: 1_600_000_000))
            for _ in 0..<2 {
                let result = try await place.command(["get", server.url("/a"), "--json"]).run()
                #expect(result.exitCode == 0, "\(result)")
            }
            #expect(server.requests.map { $0.headers["If-Modified-Since"] != nil } == [false, true])
            let status = try await place.command(["status"]).run()
            #expect(!status.standardOutput.contains("get "), "\(status)")
            // A foreign file is not touched.
            try place.folder.write("my own notes", to: "a")
            let refused = try await place.command(["get", server.url("/a"), "--json"]).run()
            #expect(refused.exitCode == 1)
            #expect(try place.folder.text("a") == "my own notes")
        }
    }

    @Test func aFileThatWasDeletedIsFetchedAgain() async throws {
        try await withTestServer { server in
            let place = try await finished(server)
            try FileManager.default.removeItem(atPath: place.folder.path("a"))
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try result.events().ends == ["a": "finished"])
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        }
    }

    /// The size or time of the file shows that the user changed it: the content is not ours to replace silently.
    @Test func aFileThatWasChangedIsNotReplacedSilently() async throws {
        try await withTestServer { server in
            let place = try await finished(server)
            try place.folder.write("my own notes", to: "a")
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(try result.events().named("job.failed").first?["code"]?.string == "fileExists")
            #expect(try place.folder.text("a") == "my own notes")
        }
    }

    @Test func verifyHashesAgainAndFindsTampering() async throws {
        try await withTestServer { server in
            let sum = try await digest("sha256", content.bytes())
            let place = try await finished(server, #""checksum": "sha256:\#(sum)", "ifExists": "overwrite""#)
            // The size and the time are the same, and one byte differs.
            let path = place.folder.path("a")
            let before = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
            var bytes = content.bytes()
            bytes[40_000] ^= 1
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.write(contentsOf: Data(bytes))
            try file.close()
            try FileManager.default.setAttributes([.modificationDate: before as Any], ofItemAtPath: path)

            let plain = try await place.runJobs()
            #expect(try plain.events().ends == ["a": "kept"], "size and time are as recorded")
            let verified = try await place.runJobs("--verify")
            #expect(verified.exitCode == 0, "\(verified)")
            #expect(try verified.events().ends == ["a": "finished"])
            #expect(try content.firstDifference(fromFileAt: path) == nil)
        }
    }

    /// A server only reports its version, not whether the local file is undamaged.
    @Test func verifyFetchesAFileWithoutADigest() async throws {
        try await withTestServer { server in
            let place = try await finished(server)
            let path = place.folder.path("a")
            let before = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.write(contentsOf: Data("rot".utf8))
            try file.close()
            try FileManager.default.setAttributes([.modificationDate: before as Any], ofItemAtPath: path)
            let verified = try await place.runJobs("--verify")
            #expect(verified.exitCode == 0 && server.requests.map(\.status) == [200, 200], "\(verified)")
            #expect(try content.firstDifference(fromFileAt: path) == nil)
        }
    }

    @Test func verifyKeepsAnUndamagedFile() async throws {
        try await withTestServer { server in
            let sum = try await digest("sha256", content.bytes())
            let place = try await finished(server, #""checksum": "sha256:\#(sum)""#)
            let result = try await place.runJobs("--verify")
            #expect(try result.events().ends == ["a": "kept"])
            #expect(server.requests.count == 1)
        }
    }

    @Test func refreshAsksConditionally() async throws {
        try await withTestServer { server in
            let place = try await finished(server)
            let result = try await place.runJobs("--refresh")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try result.events().ends == ["a": "kept"])
            #expect(server.requests.map(\.status) == [200, 304])
            #expect(server.requests.last?.headers["If-None-Match"] == "\"a1\"")
            #expect(try place.traces().filter { $0.hasSuffix(".part") } == [])
        }
    }

    @Test func refreshFetchesANewerFile() async throws {
        try await withTestServer { server in
            let place = try await finished(server)
            let newer = Content.random(seed: 22, count: 60_000)
            server.serve("/a", ServedFile(newer, etag: "\"a2\"", lastModified: 1_700_000_000))
            let result = try await place.runJobs("--refresh")
            #expect(result.exitCode == 0, "\(result)")
            #expect(try result.events().ends == ["a": "finished"])
            #expect(try newer.firstDifference(fromFileAt: place.folder.path("a")) == nil)
            // The repair happens once.
            #expect(try await place.runJobs().events().ends == ["a": "kept"])
            #expect(server.requests.count == 2)
        }
    }

    @Test func aRefreshThatFailsKeepsTheFile() async throws {
        try await withTestServer { server in
            let place = try await finished(server)
            server.script("/a", [], afterwards: .status(404))
            let result = try await place.runJobs("--refresh")
            #expect(result.exitCode == 1, "\(result)")
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        }
    }

    @Test func anEditedFileAddsRedoesAndDropsJobs() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["same", "changed", "gone", "new", "changed2"] { server.serve("/\(name)", .text(name)) }
            try place.jobs(
                ["same", "changed", "gone"].map { download(server.url("/\($0)"), to: $0, #""ifExists": "overwrite""#) })
            #expect(try await place.runJobs().exitCode == 0)

            try place.jobs([
                download(server.url("/same"), to: "same", #""ifExists": "overwrite""#),
                download(server.url("/changed2"), to: "changed", #""ifExists": "overwrite""#),
                download(server.url("/new"), to: "new", #""ifExists": "overwrite""#),
            ])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try result.events().ends == ["same": "kept", "changed": "finished", "new": "finished"])
            #expect(try place.folder.text("changed") == "changed2")
            #expect(try place.folder.text("gone") == "gone", "files stay")
            #expect(try await place.status().first?["total"]?.int == 3)
            #expect(server.requests.count == 5)
        }
    }

    /// The job is edited from one server to another while it is half done: the old bytes are no beginning of the new
    /// file.
    @Test func aHalfDoneJobThatChangedStartsFromZero() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"same\"")
            let other = Content.random(seed: 23, count: 50_000)
            server.serve("/b", other, etag: "\"same\"")
            server.script("/a", [.stall(after: 30_000)])
            try place.jobs([download(server.url("/a"), to: "f")])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            process.kill(SIGTERM)
            _ = try await process.result()
            try place.jobs([download(server.url("/b"), to: "f")])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests(to: "/b").first?.range == nil)
            #expect(try other.firstDifference(fromFileAt: place.folder.path("f")) == nil)
        }
    }

    /// A presigned URL has a new signature every day, and is the same job.
    @Test func anotherSignatureIsTheSameJob() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            for (signature, end) in [("one", "finished"), ("two", "kept")] {
                try place.jobs([download(server.url("/a?X-Amz-Signature=\(signature)"), to: "a")])
                #expect(try await place.runJobs().events().ends == ["a": end])
            }
        }
    }

    @Test func aSecondProcessNamesTheHolderOfTheBatch() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")], name: "my photos")
            let first = try place.startJobs()
            try await server.waitForHeld(1)
            let second = try await place.runJobs()
            #expect(second.exitCode == 75, "\(second)")
            let (holder, command) = ("process \(first.processID)", "transfer wait 'my photos'")
            #expect(
                second.standardError
                    == "transfer: my photos is being run by \(holder); wait for it with: \(command)\n")
            #expect(second.standardOutput.isEmpty)
            server.release()
            #expect(try await first.result().exitCode == 0)
            #expect(server.requests.count == 1)
            #expect(try await place.runJobs().exitCode == 0, "free again")
        }
    }

    @Test func anotherBatchRunsBesideIt() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.serve("/b", .text("b"))
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")])
            let first = try place.startJobs()
            try await server.waitForHeld(1)
            let second = try await place.run("get", server.url("/b"))
            #expect(second.exitCode == 0, "\(second)")
            #expect(try place.folder.text("b") == "b")
            server.release()
            #expect(try await first.result().exitCode == 0)
        }
    }

    @Test func aBatchOfAKilledProcessIsTakenOver() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            server.script("/a", [.holdHead])
            try place.jobs([download(server.url("/a"), to: "a")])
            let first = try place.startJobs()
            try await server.waitForHeld(1)
            first.kill(SIGKILL)
            _ = try await first.result()
            let second = try await place.runJobs()
            #expect(second.exitCode == 0, "\(second)")
        }
    }

    /// Two queues share one file: the second must not write into the first one's partial file.
    @Test func aFileThatAnotherQueueWritesIsLeftAlone() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"a1\"")
            server.script("/a", [.stall(after: 10_000)])
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"limit": 1, "scale": 0}"#)])
            let first = try place.startJobs()
            try await server.waitForHeld(1)
            let second = try await place.runJobs("--state", place.folder.path("other"))
            #expect(second.exitCode == 1, "\(second)")
            #expect(try second.events().named("job.failed").first?["code"]?.string == "fileLocked")
            server.release()
            #expect(try await first.result().exitCode == 0)
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        }
    }
}
