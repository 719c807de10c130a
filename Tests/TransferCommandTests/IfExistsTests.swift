import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// An existing file at the destination: the effect of each value of `ifExists` on a file without a record.
@Suite struct IfExistsTests {
    /// The batch is forgotten by then: the file itself bears the URL of its source.
    @Test func getAgainAsksByTheETagAlone() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"), etag: "\"1\"")
            #expect(try await place.run("get", server.url("/a")).exitCode == 0)
            let again = try await place.run("get", server.url("/a"), "--json")
            #expect(again.exitCode == 0, "\(again)")
            #expect(
                try again.events().ends == ["a": "kept"] && server.requests.last?.headers["If-None-Match"] == "\"1\"")
            try place.folder.write("mine!", to: "a")
            let refused = try await place.run("get", server.url("/a"))
            #expect(refused.exitCode == 1 && refused.standardError.contains("exists and is not known"), "\(refused)")
            #expect(try place.folder.text("a") == "mine!")
        }
    }

    /// The queue's own partial files bear a record.
    @Test(arguments: [200, 404]) func aForeignPartFileIsLeftAlone(_ status: Int) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 3, count: 600_000)
            server.serve("/a", content, etag: "\"1\"")
            server.script(
                "/a", status == 200 ? [.cut(after: 400_000)] : [], afterwards: status == 200 ? .none : .status(404))
            for name in ["a.part", "a.1.part"] { try place.folder.write("notes", to: name) }
            try place.jobs([download(server.url("/a"), to: "a", #""retry": {"scale": 0}"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == (status == 200 ? 0 : 1), "\(result)")
            for name in ["a.part", "a.1.part"] { #expect(try place.folder.text(name) == "notes") }
            #expect(!place.folder.exists("a.2.part"))
            guard status == 200 else { return }
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
            #expect(server.requests.last?.range == "bytes=400000-")
        }
    }

    private struct Outcome {
        var result: ProcessResult
        var files: [String: String]
        var end: JSONValue
    }

    private func run(_ server: TestServer, _ more: String, mine: String = "mine", in place: Workplace) async throws
        -> Outcome
    {
        try place.folder.write(mine, to: "a.txt")
        try place.jobs([download(server.url("/a"), to: "a.txt", more)])
        let result = try await place.runJobs()
        let names = try place.traces().filter { !$0.hasPrefix("state/") }
        let ends = try result.events().filter { event in
            ["job.finished", "job.kept", "job.failed"].contains(event["event"]?.string)
        }
        #expect(ends.count == 1, "\(result)")
        return Outcome(
            result: result, files: try Dictionary(uniqueKeysWithValues: names.map { ($0, try place.folder.text($0)) }),
            end: try #require(ends.first))
    }

    @Test(arguments: ["", #""ifExists": "verify""#])
    func verifyNeverReplacesAnUnknownFile(_ word: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("theirs"))
            let outcome = try await run(server, word, in: place)
            #expect(outcome.result.exitCode == 1)
            #expect(outcome.files == ["a.txt": "mine"])
            #expect(outcome.end["code"]?.string == "fileExists")
            let message = try #require(outcome.end["message"]?.string)
            #expect(message.hasPrefix(place.folder.path("a.txt")))
            let words = #" exists and is not known; write its "checksum", by which a whole file is kept "#
            let others =
                #"and the beginning of one is continued, or "ifExists": "rename", "skip", "overwrite" "#
                + #"or "update" (--if-exists)"#
            #expect(message.hasSuffix(words + others), "\(message)")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func verifyKeepsAFileProvenByItsChecksum() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sum = try await digest("sha256", Array("mine".utf8))
            let outcome = try await run(server, #""checksum": "sha256:\#(sum)""#, in: place)
            #expect(outcome.result.exitCode == 0, "\(outcome.result)")
            #expect(outcome.end["event"]?.string == "job.kept")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func verifyDoesNotReplaceAFileRefutedByItsChecksum() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("theirs"))
            let sum = try await digest("sha256", Array("theirs".utf8))
            let outcome = try await run(server, #""checksum": "sha256:\#(sum)""#, in: place)
            #expect(outcome.result.exitCode == 1)
            #expect(outcome.files == ["a.txt": "mine"])
        }
    }

    /// The age of the server's file says nothing about the bytes of a file that another program wrote.
    @Test(arguments: [4_000_000_000, 1_000_000_000]) func updateFetchesAnUnknownFile(
        _ lastModified: Int
    ) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", ServedFile(.text("theirs"), lastModified: lastModified))
            let outcome = try await run(server, #""ifExists": "update""#, in: place)
            #expect(outcome.result.exitCode == 0, "\(outcome.result)")
            #expect(outcome.files == ["a.txt": "theirs"])
            let headers = try #require(server.requests.first?.headers)
            #expect(headers["If-Modified-Since"] == nil && headers["If-None-Match"] == nil)
        }
    }

    @Test func updateKeepsAFileProvenByItsChecksumWithoutARequest() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sum = try await digest("sha256", Array("mine".utf8))
            let outcome = try await run(server, #""ifExists": "update", "checksum": "sha256:\#(sum)""#, in: place)
            #expect(outcome.result.exitCode == 0 && outcome.end["event"]?.string == "job.kept", "\(outcome.result)")
            #expect(server.requests.isEmpty)
        }
    }

    /// The file was fetched by the queue, then requested again: a confirmed version is a proof as long as the bytes are
    /// unchanged.
    @Test func updateQueriesItsOwnFileAndReportsIt() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", ServedFile(.text("theirs"), lastModified: 1_600_000_000))
            #expect(try await place.run("get", server.url("/a")).exitCode == 0)
            let again = try await place.run("get", server.url("/a"), "--if-exists", "update")
            #expect(again.exitCode == 0 && server.requests.map(\.status) == [200, 304], "\(again)")
            #expect(again.standardError.contains("1 kept") && !again.standardError.contains("servers not asked"))
        }
    }

    /// cp(1) over the file and touch(1) leave different bytes of the same length and time, with our note of the old
    /// ones.
    @Test func updateFetchesAFileThatOnlyLooksLikeItsOwn() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", ServedFile(.text("theirs"), etag: "\"1\"", lastModified: 1_600_000_000))
            #expect(try await place.run("get", server.url("/a")).exitCode == 0)
            let path = place.folder.path("a")
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.write(contentsOf: Data("rotten".utf8))
            try file.close()
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000)], ofItemAtPath: path)
            let again = try await place.run("get", server.url("/a"), "--if-exists", "update")
            #expect(again.exitCode == 0, "\(again)")
            #expect(try place.folder.text("a") == "theirs")
        }
    }

    @Test(arguments: ["verify", "update"]) func aChecksumThatTheFileRefutesIsNeverKept(_ word: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", ServedFile(.text("theirs"), etag: "\"1\"", lastModified: 1_600_000_000))
            #expect(try await place.run("get", server.url("/a")).exitCode == 0)
            let sum = try await digest("sha256", Array("another".utf8))
            let again = try await place.run(
                "get", server.url("/a"), "--checksum", "sha256:\(sum)", "--if-exists", word)
            #expect(again.exitCode == 1 && again.standardError.contains("sha256 differs"), "\(again)")
            #expect(try place.folder.text("a") == "theirs")
        }
    }

    /// A file that `skip` left in place belongs to no job: no later form of the job may replace it as its own.
    @Test func aSkippedFileIsNotTakenForOurs() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("theirs"))
            _ = try await run(server, #""ifExists": "skip""#, in: place)
            try place.jobs([download(server.url("/a"), to: "a.txt", #""headers": {"X": "1"}"#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 1, "\(result)")
            #expect(try place.folder.text("a.txt") == "mine")
        }
    }

    @Test func overwriteReplacesItOnlyWhenTheNewOneIsWhole() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("theirs"))
            server.script("/a", [.stall(after: 3)])
            try place.folder.write("mine", to: "a.txt")
            try place.jobs([download(server.url("/a"), to: "a.txt", #""ifExists": "overwrite""#)])
            let process = try place.startJobs()
            try await server.waitForHeld(1)
            #expect(try place.folder.text("a.txt") == "mine", "until then the old one stays")
            server.release()
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("a.txt") == "theirs")
        }
    }

    @Test func skipSendsNoRequest() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let outcome = try await run(server, #""ifExists": "skip""#, in: place)
            #expect(outcome.result.exitCode == 0, "\(outcome.result)")
            #expect(outcome.end["event"]?.string == "job.kept")
            #expect(outcome.files == ["a.txt": "mine"])
            #expect(server.requests.isEmpty)
        }
    }

    @Test func renameTakesAFreeName() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("theirs"))
            try place.folder.write("also mine", to: "a.1.txt")
            let outcome = try await run(server, #""ifExists": "rename""#, in: place)
            #expect(outcome.result.exitCode == 0, "\(outcome.result)")
            #expect(outcome.files == ["a.txt": "mine", "a.1.txt": "also mine", "a.2.txt": "theirs"])
            #expect(outcome.end["path"]?.string == place.folder.path("a.2.txt"))
            // The second run finds the file under its chosen name.
            let again = try await place.runJobs()
            #expect(again.exitCode == 0)
            #expect(server.requests.count == 1, "\(again)")
        }
    }

    @Test func failFails() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let outcome = try await run(server, #""ifExists": "fail""#, in: place)
            #expect(outcome.result.exitCode == 1)
            #expect(
                outcome.end["message"]?.string
                    == "\(place.folder.path("a.txt")) exists; remove it or write \"ifExists\": \"overwrite\" (--if-exists)"
            )
            #expect(outcome.files == ["a.txt": "mine"])
            #expect(server.requests.isEmpty)
        }
    }

    /// A run that ended between rename and record leaves the file, and the next run must not fetch it again.
    @Test func aFileWithALostRecordIsConfirmedWithoutItsBody() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 4, count: 300_000)
            server.serve("/a", ServedFile(content, etag: "\"a1\"", lastModified: 1_600_000_000))
            try place.jobs([download(server.url("/a"), to: "a")])
            #expect(try await place.runJobs().exitCode == 0)
            try FileManager.default.removeItem(atPath: place.folder.path("state"))
            let again = try await place.runJobs()
            #expect(again.exitCode == 0, "\(again)")
            #expect(try again.events().ends == ["a": "kept"])
            #expect(server.bytesSent("/a") == 300_000, "only the first time")
        }
    }

    @Test func aFolderDestinationIsKeptUnderTheServersName() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve(
                "/f", ServedFile(.text("content"), headers: ["Content-Disposition": "attachment; filename=named.txt"]))
            try place.jobs([download(server.url("/f"), to: "out/")])
            #expect(try await place.runJobs().exitCode == 0)
            let again = try await place.runJobs()
            #expect(again.exitCode == 0, "\(again)")
            #expect(server.requests.count == 1)
            #expect(try place.folder.files(below: "out") == ["named.txt"])
        }
    }
}
