import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// `transfer verify`: damage on the disk is found, reported with its ranges, and repaired by requests for them.
@Suite(.timeLimit(.minutes(1))) struct VerifyTests {
    private let content = Content.random(seed: 9, count: 13_000_000)

    private func damage(_ place: Workplace, _ name: String, at offset: UInt64, count: Int = 1000) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: place.folder.path(name)))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(repeating: 0, count: count))
        try file.close()
    }

    @Test func damageOnTheDiskIsFoundByTheSumsOfTheDownloadAndRepairedByRanges() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"1\"")
            server.serve("/b", .text("b"), etag: "\"2\"")
            try place.jobs([download(server.url("/a"), to: "a"), download(server.url("/b"), to: "b")])
            #expect(try await place.runJobs().exitCode == 0)
            let good = try await place.run("verify", "batch")
            #expect(good.exitCode == 0 && good.standardOutput.contains("2 good"), "\(good)")
            #expect(good.standardOutput.contains("good     batch/a  by the sums of its download"), "\(good)")

            try damage(place, "a", at: 9_000_000)
            let before = server.requests.count
            let bad = try await place.command(["verify", "batch", "--json"]).run()
            #expect(bad.exitCode == 1, "\(bad)")
            let reported = try bad.events().first { $0["id"]?.string == "a" }
            #expect(reported?["state"]?.string == "bad" && reported?["by"]?.string == "sums")
            #expect(reported?["ranges"]?.string == "8388608-12582911")
            #expect(server.requests.count == before)

            let repaired = try await place.run("verify", "batch", "--repair")
            #expect(repaired.exitCode == 0, "\(repaired)")
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
            let asked = server.requests.dropFirst(before).filter { $0.path == "/a" }
            // Undamaged bytes before the damage are never requested.
            #expect(!asked.isEmpty && asked.allSatisfy { $0.headers["Range"]?.contains("838") == true }, "\(asked)")
            #expect(!server.requests.dropFirst(before).contains { $0.path == "/b" })
            #expect(try await place.run("verify", place.folder.path("a")).exitCode == 0)
        }
    }

    /// Each file of the batch gets a result.
    @Test func aFileThatNeverCameIsReported() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"), etag: "\"1\"")
            try place.jobs([
                download(server.url("/a"), to: "a"), download(server.url("/gone"), to: "b", #""id": "b""#),
            ])
            #expect(try await place.runJobs().exitCode == 1)
            let reported = try await place.run("verify", "batch")
            #expect(reported.exitCode == 66 && reported.standardOutput.contains("1 good, 1 missing"), "\(reported)")
            #expect(reported.standardOutput.contains("missing  batch/b  never downloaded: failed, 404"), "\(reported)")
            let lines = try await place.command(["verify", "batch", "--json"]).run().events()
            #expect(lines.contains { $0["id"]?.string == "b" && $0["state"]?.string == "missing" }, "\(lines)")
        }
    }

    /// A failed repair is reported, keeps the file and its record, and works once the server is repaired.
    @Test func aRepairThatFailsLosesNothing() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"1\"")
            try place.jobs([download(server.url("/a"), to: "a")])
            #expect(try await place.runJobs().exitCode == 0)
            try damage(place, "a", at: 5_000_000)
            let damaged = try place.content("a")
            server.script("/a", [], afterwards: .status(404))
            let failed = try await place.run("verify", "batch", "--repair")
            #expect(failed.exitCode == 1 && failed.standardOutput.contains("1 bad"), "\(failed)")
            #expect(try place.content("a") == damaged)
            for names in [["batch"], [place.folder.path("a")]] {
                let reported = try await place.command(["verify"] + names).run()
                #expect(reported.exitCode == 1 && reported.standardOutput.contains("bad      batch/a"), "\(reported)")
            }
            server.script("/a", [])
            #expect(try await place.run("verify", "batch", "--repair").exitCode == 0)
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        }
    }

    /// The server has different bytes under the same tag, or under a new one: the file would mix two versions, or
    /// contradict its sums.
    @Test(arguments: ["\"1\"", "\"2\""]) func aRepairTakesTheRecordedBytesOnly(_ etag: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"1\"")
            try place.jobs([download(server.url("/a"), to: "a")])
            #expect(try await place.runJobs().exitCode == 0)
            try damage(place, "a", at: 9_000_000)
            let damaged = try place.content("a")
            server.serve("/a", Content.random(seed: 10, count: 13_000_000), etag: etag)
            let failed = try await place.run("verify", "batch", "--repair")
            #expect(failed.exitCode == 1 && failed.standardOutput.contains("1 bad"), "\(failed)")
            #expect(try place.content("a") == damaged)
            #expect(try await place.run("verify", "batch").exitCode == 1)
        }
    }

    /// The repairing process dies: the file's record is still there, and the next repair completes it.
    @Test func aKilledRepairLeavesNoFileWithoutAnAnswer() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content, etag: "\"1\"")
            try place.jobs([download(server.url("/a"), to: "a")])
            #expect(try await place.runJobs().exitCode == 0)
            try damage(place, "a", at: 9_000_000)
            server.script("/a", [.holdHead])
            let process = try place.command(["verify", "batch", "--repair"]).start()
            try await server.waitForHeld(1)
            process.kill(SIGKILL)
            _ = try? await process.result()
            let reported = try await place.run("verify", "batch")
            #expect(reported.exitCode == 1 && reported.standardOutput.contains("bad      batch/a"), "\(reported)")
            #expect(try await place.run("verify", "batch", "--repair").exitCode == 0)
            #expect(try content.firstDifference(fromFileAt: place.folder.path("a")) == nil)
        }
    }

    /// The record names the source of the file.
    @Test func aMissingFileIsReportedAndFetched() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"), etag: "\"1\"")
            try place.jobs([download(server.url("/a"), to: "a")])
            #expect(try await place.runJobs().exitCode == 0)
            try FileManager.default.removeItem(atPath: place.folder.path("a"))
            let missing = try await place.run("verify", "batch")
            #expect(missing.exitCode == 66 && missing.standardOutput.contains("missing  batch/a"), "\(missing)")
            #expect(try await place.run("verify", "batch", "--repair").exitCode == 0)
            #expect(try place.folder.text("a") == "hello")
        }
    }

    @Test func theDigestIsStrongerThanTheSums() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", content)
            let sum = try await digest("sha256", content.bytes())
            try place.jobs([download(server.url("/a"), to: "a", #""checksum": "sha256:\#(sum)""#)])
            #expect(try await place.runJobs().exitCode == 0)
            let good = try await place.run("verify", "batch")
            #expect(good.standardOutput.contains("by its digest"), "\(good)")
            try damage(place, "a", at: 100, count: 5_000_000)
            let bad = try await place.command(["verify", place.folder.path("a"), "--json"]).run()
            let reported = try bad.events().first
            #expect(reported?["by"]?.string == "digest" && reported?["ranges"]?.string == "0-8388607", "\(bad)")
        }
    }

    @Test func aFileWithoutARecordIsComparedWithADigestOrReported() async throws {
        let place = try Workplace()
        try place.folder.write("abc", to: "f")
        let unknown = try await place.run("verify", "f")
        #expect(unknown.exitCode == 66 && unknown.standardError.contains("--checksum"), "\(unknown)")
        let sum = try await digest("sha256", Array("abc".utf8))
        #expect(try await place.run("verify", "f", "--checksum", "sha256:\(sum)").exitCode == 0)
        let other = String(repeating: "0", count: 64)
        let bad = try await place.run("verify", "f", "--checksum", "sha256:\(other)")
        #expect(bad.exitCode == 1 && bad.standardOutput.contains("bad"), "\(bad)")
        #expect(try await place.run("verify", "nowhere").exitCode == 66)
        #expect(try await place.run("verify", "f", "--repair", "--checksum", "sha256:\(sum)").exitCode == 64)
    }
}

/// The digests that a server declares for its file (RFC 9530).
@Suite(.timeLimit(.minutes(1))) struct ReprDigestTests {
    private func field(_ content: Content, _ algorithm: String = "sha256") async throws -> String {
        let hex = try await digest(algorithm, content.bytes())
        let bytes = stride(from: 0, to: hex.count, by: 2).map { start in
            UInt8(hex.dropFirst(start).prefix(2), radix: 16) ?? 0
        }
        return Data(bytes).base64EncodedString()
    }

    @Test(arguments: ["Repr-Digest", "Content-Digest"])
    func aFileIsVerifiedByItsServersDigest(name: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.random(seed: 3, count: 300_000)
            let right = try await field(content)
            let wrong = try await field(.text("another"))
            server.serve("/good", ServedFile(content, headers: [name: "md5=:AAAA:, sha-256=:\(right):"]))
            server.serve("/bad", ServedFile(content, headers: [name: "sha-256=:\(wrong):"]))
            server.serve("/odd", ServedFile(content, headers: [name: "unixsum=:AAAA:"]))
            try place.jobs(["good", "bad", "odd"].map { download(server.url("/\($0)"), to: $0) })
            let result = try await place.runJobs()
            #expect(try result.events().ends == ["good": "finished", "bad": "failed", "odd": "finished"], "\(result)")
            let failed = try #require(try result.events().named("job.failed").first)
            #expect(failed["code"]?.string == "checksumMismatch")
            #expect(failed["message"]?.string?.contains("says in \(name)") == true, "\(failed)")
            #expect(!place.folder.exists("bad"))
            #expect(server.requests.allSatisfy { $0.headers["Want-Repr-Digest"]?.contains("sha-256") == true })
        }
    }

    /// A server that computes the digest while it sends gives it behind the body.
    @Test(arguments: ["Repr-Digest", "Content-Digest"], [true, false])
    func aDigestBehindTheBodyIsVerifiedToo(name: String, isAnnounced: Bool) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sums = ["good": try await field(.text("hello")), "bad": try await field(.text("another"))]
            for (file, sum) in sums {
                server.serve("/\(file)", .text("hello"))
                let head =
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                    + (isAnnounced ? "Trailer: \(name)\r\n" : "") + "\r\n"
                let answer = head + "5\r\nhello\r\n0\r\n\(name): sha-256=:\(sum):\r\n\r\n"
                server.script("/\(file)", [], afterwards: .garbage(Array(answer.utf8)))
            }
            try place.jobs(
                sums.keys.sorted().map { download(server.url("/\($0)"), to: $0, #""retry": {"limit": 1}"#) })
            let result = try await place.runJobs()
            #expect(try result.events().ends == ["good": "finished", "bad": "failed"], "\(result)")
            let failed = try #require(try result.events().named("job.failed").first)
            #expect(failed["code"]?.string == "checksumMismatch")
            #expect(failed["message"]?.string?.contains("says in \(name)") == true, "\(failed)")
            #expect(try place.folder.text("good") == "hello" && !place.folder.exists("bad"))
        }
    }

    /// The job's own digest takes precedence, and no request is sent then.
    @Test func theJobsOwnDigestCounts() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let content = Content.text("hello")
            server.serve(
                "/a", ServedFile(content, headers: ["Repr-Digest": "sha-256=:\(try await field(.text("x"))):"]))
            let sum = try await digest("sha256", content.bytes())
            try place.jobs([download(server.url("/a"), to: "a", #""checksum": "sha256:\#(sum)""#)])
            let result = try await place.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests.first?.headers["Want-Repr-Digest"] == nil)
        }
    }

    @Test func aFileOfAnotherSizeThanDeclaredFails() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("hello"))
            try place.jobs([
                download(server.url("/a"), to: "a", #""size": 5"#), download(server.url("/a"), to: "b", #""size": 6"#),
            ])
            let result = try await place.runJobs()
            #expect(try result.events().ends == ["a": "finished", "b": "failed"], "\(result)")
            #expect(result.standardOutput.contains("expected 6 bytes, got 5"), "\(result)")
        }
    }
}
