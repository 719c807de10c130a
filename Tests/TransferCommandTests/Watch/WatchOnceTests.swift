import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// `watch --once`: one pass over a folder in its current state, with a record and an end.
@Suite(.timeLimit(.minutes(1))) struct WatchOnceTests {
    @Test func aFolderIsTakenOnceAndAgainOnlyWhatIsNew() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/*")
            for name in ["a", "b"] { try place.folder.write(name, to: "out/\(name)") }
            let words = ["watch", "out", "--to", server.url("/in/"), "--once", "--settle", "10ms"]
            let first = try await place.command(words).run()
            #expect(first.exitCode == 0, "\(first)")
            #expect(sink.uploads.map(\.path).sorted() == ["/in/a", "/in/b"])
            try place.folder.write("c", to: "out/c")
            let second = try await place.command(words).run()
            #expect(second.exitCode == 0, "\(second)")
            #expect(sink.uploads.map(\.path).sorted() == ["/in/a", "/in/b", "/in/c"])
            let third = try await place.command(words + ["--then", "delete"]).run()
            #expect(third.exitCode == 0 && sink.uploads.count == 3, "\(third)")
        }
    }

    /// The found version is no longer there at the end, and the new one has not settled yet.
    @Test func aFileThatChangesWhileItIsSentIsWaitedFor() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/*")
            server.script("/in/a", [.holdHead])
            try place.folder.write(count: 300_000, seed: 1, to: "out/a")
            let words = ["watch", "out", "--to", server.url("/in/"), "--once", "--settle", "500ms"]
            let process = try place.command(words).start()
            try await server.waitForHeld(1)
            try place.folder.write("new", to: "out/a")
            server.release()
            let result = try await process.result()
            #expect(result.exitCode == 0 && result.standardError.contains("1 uploaded, nothing left"), "\(result)")
            #expect(sink.uploads.last?.bytes == Array("new".utf8), "\(sink.uploads.map(\.bytes.count))")
        }
    }

    @Test func aRefusedFileAndAMissingFolderAreReportedByTheStatus() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/in/a", [], afterwards: .status(403))
            try place.folder.write("a", to: "out/a")
            let words = ["watch", "out", "--to", server.url("/in/"), "--once", "--settle", "10ms"]
            let refused = try await place.command(words).run()
            #expect(refused.exitCode == 1 && refused.standardError.contains("403"), "\(refused)")
            let missing = try await place.run("watch", "nowhere", "--to", server.url("/in/"), "--once")
            #expect(missing.exitCode == 64 && missing.standardError.contains("nowhere"), "\(missing)")
        }
    }

    /// Returns a command with the test's own temporary folder, where a run without an upload history has its queue.
    private func command(_ place: Workplace, _ words: [String]) throws -> TransferCommand {
        try FileManager.default.createDirectory(
            atPath: place.folder.path("tmp"), withIntermediateDirectories: true)
        var command = place.command(words)
        command.environment["TMPDIR"] = place.folder.path("tmp")
        return command
    }

    @Test func withoutALedgerEverythingIsSentEachTimeAndNothingIsLeft() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/*")
            for name in ["a", "sub/b"] { try place.folder.write(name, to: "out/\(name)") }
            let words = ["watch", "out", "--to", server.url("/in/"), "--once", "--recursive", "--settle", "10ms"]
            for count in [2, 4] {
                let result = try await command(place, words + ["--no-ledger"]).run()
                #expect(result.exitCode == 0 && sink.uploads.count == count, "\(result)")
            }
            #expect(Set(sink.uploads.map(\.path)) == ["/in/a", "/in/sub/b"])
            #expect(try place.folder.files() == ["out/a", "out/sub/b"])
            // A run with an upload history knows nothing of it either.
            let remembered = try await place.command(words).run()
            #expect(remembered.exitCode == 0 && sink.uploads.count == 6, "\(remembered)")
            // A run without one does not read it.
            #expect(try await command(place, words + ["--no-ledger"]).run().exitCode == 0)
            #expect(sink.uploads.count == 8)
            let moved = try await command(place, words + ["--no-ledger", "--then", "delete"]).run()
            #expect(moved.exitCode == 0 && sink.uploads.count == 10, "\(moved)")
            #expect(!place.folder.exists("out/a") && !place.folder.exists("out/sub/b"))
        }
    }

    /// The end waits for the hooks: without an upload history no later run could call them.
    @Test(arguments: [[], ["--no-ledger"]]) func hooksAreCalledForEachFileBeforeTheEnd(_ more: [String]) async throws {
        let hook = try HookPlace()
        try await withTestServer { server in
            server.acceptUploads("/in/*")
            for name in ["a", "b", "c", "d"] { try hook.place.folder.write(name, to: "out/\(name)") }
            let words = ["watch", "out", "--to", server.url("/in/"), "--once", "--settle", "10ms"]
            let result = try await command(hook.place, words + ["--on-finish", hook.script] + more).run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(Set(hook.ids).count == 4, "\(result)")
        }
    }

    @Test func withoutALedgerARefusedFileIsReportedWithoutASuggestion() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/in/a", [], afterwards: .status(403))
            try place.folder.write("a", to: "out/a")
            let words = ["watch", "out", "--to", server.url("/in/"), "--once", "--settle", "10ms", "--no-ledger"]
            let refused = try await command(place, words).run()
            #expect(refused.exitCode == 1 && refused.standardError.contains("403"), "\(refused)")
            #expect(!refused.standardError.contains("transfer status"), "\(refused)")
            #expect(!refused.standardError.contains("transfer retry"), "\(refused)")
            #expect(try place.folder.files() == ["out/a"])
        }
    }

    /// The command ends on its own, so it will not return to a file at a later time. With an upload history the next
    /// run does, and without one none will.
    @Test(arguments: [
        ([], "tried again by a later run", "; the next run tries again"),
        (["--no-ledger"], "not tried again (nothing is remembered)", "; not tried again (nothing is remembered)"),
    ])
    func theAnnouncedRetryTakesPlace(_ more: [String], _ file: String, _ hook: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.script("/in/a", [], afterwards: .status(403))
            server.script("/told", [], afterwards: .status(403))
            try place.folder.write("a", to: "out/a")
            let words = [
                "watch", "out", "--to", server.url("/in/"), "--once", "--settle", "10ms", "--on-finish",
                server.url("/told"), "--report", "report.jsonl",
            ]
            let lines = try await command(place, words + more).run()
            #expect(lines.exitCode == 1, "\(lines)")
            #expect(lines.standardError.contains("/out/a: 403 Forbidden, \(file)\n"), "\(lines)")
            #expect(lines.standardError.contains("\(hook)\n"), "\(lines)")
            let data = try await command(place, words + more + ["--json"]).run()
            let failed = try #require(try data.events().named("job.failed").first, "\(data)")
            #expect(failed["again"] == nil, "\(failed)")
            #expect(try !place.folder.text("report.jsonl").contains("\"again\""))
            // The second run did what the first one's message announced.
            let asked = server.requests(to: "/in/a").count
            #expect(asked == 2, "\(asked)")
            guard more.isEmpty else { return }
            let status = try await place.run("status", "--failed")
            #expect(status.standardOutput.contains("403") && !status.standardOutput.contains("AGAIN"), "\(status)")
        }
    }

    @Test func remainsOfAKilledRunWithoutALedgerAreRemovedByTheNext() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/*")
            server.script("/in/a", [.stallUpload(after: 1000)])
            try place.folder.write(String(repeating: "a", count: 3_000_000), to: "out/a")
            let words = ["watch", "out", "--to", server.url("/in/"), "--once", "--settle", "10ms", "--no-ledger"]
            let process = try command(place, words).start()
            try await server.waitForRequests(1)
            // The folder of a running command is left alone.
            try place.folder.write("b", to: "other/b")
            let other = ["watch", "other", "--to", server.url("/in/"), "--once", "--settle", "10ms", "--no-ledger"]
            #expect(try await command(place, other).run().exitCode == 0)
            #expect(try place.folder.files(below: "tmp").contains { $0.hasSuffix("queue.sqlite") })
            process.kill(SIGKILL)
            #expect(try await process.result().signal == SIGKILL)
            let again = try await command(place, words).run()
            #expect(again.exitCode == 0 && sink.uploads.map(\.path).sorted() == ["/in/a", "/in/b"], "\(again)")
            #expect(try place.folder.files(below: "tmp").isEmpty)
        }
    }

    /// The cases are a dead server, a server that never answers, and files that are still being written.
    @Test(arguments: ["dead", "silent", "unsettled"], [[], ["--no-ledger"]])
    func theDeadlineEndsAnEndlessRun(_ kind: String, _ words: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.acceptUploads("/in/*")
            server.script("/in/a", [], afterwards: .stallUpload(after: 1000))
            try place.folder.write(String(repeating: "a", count: 3_000_000), to: "out/a")
            let url = kind == "dead" ? "http://127.0.0.1:1/in/" : server.url("/in/")
            let settle = kind == "unsettled" ? "1h" : "10ms"
            let result = try await command(
                place,
                ["watch", "out", "--to", url, "--once", "--settle", settle, "--deadline", "700ms"] + words
            ).run()
            #expect(result.exitCode == 75, "\(result)")
            #expect(result.duration >= .milliseconds(700), "\(result)")
            #expect(try place.folder.files(below: "tmp").isEmpty)
            if words.isEmpty, kind == "dead" {
                // A later run continues.
                let sink = server.acceptUploads("/other/*")
                let again = try await command(
                    place,
                    ["watch", "out", "--to", server.url("/other/"), "--once", "--settle", "10ms"]
                        + ["--deadline", "50s"]
                ).run()
                #expect(again.exitCode == 0 && sink.uploads.count == 1, "\(again)")
            }
        }
    }

    @Test(arguments: [[], ["--no-ledger"]])
    func aRunThatIsStoppedEndsByTheSignal(_ words: [String]) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.acceptUploads("/in/*")
            server.script("/in/a", [.stallUpload(after: 1000)])
            try place.folder.write(String(repeating: "a", count: 3_000_000), to: "out/a")
            let process = try command(
                place, ["watch", "out", "--to", server.url("/in/"), "--once", "--settle", "10ms"] + words
            ).start()
            try await server.waitForRequests(1)
            process.kill(SIGTERM)
            #expect(try await process.result().signal == SIGTERM)
            #expect(try place.folder.files(below: "tmp").isEmpty)
        }
    }

    @Test(arguments: [
        (["--no-ledger"], "--once"), (["--no-ledger", "--once", "--new-only"], "--new-only"),
        (["--no-ledger", "--once", "--state", "s"], "--state"),
    ])
    func optionsThatNeedALedgerAreRefusedWithoutOne(_ words: [String], _ option: String) async throws {
        let place = try Workplace()
        try place.folder.write("a", to: "out/a")
        let result = try await place.command(["watch", "out", "--to", "http://127.0.0.1:9/"] + words).run()
        #expect(result.exitCode == 64 && result.standardError.contains(option), "\(result)")
    }
}
