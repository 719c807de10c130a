import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// `transfer watch` from its start to its end, on the real file system.
@Suite struct WatchCommandTests {
    /// A SIGHUP has no file to read again.
    @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func aFileThatAppearsIsOnTheServer(_ signal: Int32) async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let process = try watch.start()
            try await process.event("watch.found")
            try watch.write("hello", to: "a b.txt")
            let event = try await process.confirmed("a b.txt")
            #expect(event["folder"]?.string == watch.path && event["batch"]?.string == "watch:" + watch.path)
            #expect(event["url"]?.string == server.url("/in/a%20b.txt"))
            let result = try await watch.stop(process, by: signal)
            #expect(watch.bodies("a%20b.txt") == ["hello"] && server.requests.count == 1)
            #expect(watch.folder.exists("out/a b.txt"))
            #expect(result.standardError.contains("\(watch.path): stopped, 1 uploaded, nothing left\n"), "\(result)")
        }
    }

    /// The names are equal to `String`, and different to the kernel.
    @Test func filesWhoseNamesAreEquivalentTextAreBothUploadedOnce() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let process = try watch.start()
            try await process.event("watch.found")
            for (name, text) in [("\u{E9}.txt", "one scalar"), ("e\u{301}.txt", "two scalars")] {
                // The file is made without Foundation, so that only the kernel interprets the name.
                let file = open(watch.folder.path("out/" + name), O_WRONLY | O_CREAT | O_EXCL, 0o644)
                try #require(file >= 0 && write(file, text, text.utf8.count) == text.utf8.count)
                close(file)
            }
            try await process.caughtUp(confirming: 2)
            try await watch.stop(process)
            #expect(watch.bodies("%C3%A9.txt") == ["one scalar"])
            #expect(watch.bodies("e%CC%81.txt") == ["two scalars"])
            #expect(server.requests.count == 2)
        }
    }

    @Test func aFileIsNoFolderToWatch() async throws {
        let place = try Workplace()
        try place.folder.write("x", to: "file")
        let result = try await place.run("watch", "file", "--to", "http://127.0.0.1:1/in/")
        #expect(result.exitCode == 64)
        #expect(result.standardError.contains("file is not a folder; transfer put uploads single files"), "\(result)")
    }

    @Test func existingFilesAreTakenAndTemporaryNamesAreNot() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            for name in ["a.txt", "b.part", ".c", "d~", "sub/e.txt"] { try watch.write("x", to: name) }
            let process = try watch.start()
            try await process.caughtUp(confirming: 1)
            rename(watch.folder.path("out/b.part"), watch.folder.path("out/b.txt"))
            try await process.caughtUp(confirming: 2)
            try await watch.stop(process)
            #expect(Set(watch.sink.uploads.map(\.path)) == ["/in/a.txt", "/in/b.txt"])
            #expect(watch.sink.uploads.count == 2)
        }
    }

    @Test func newOnlyLeavesExistingFiles() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            try watch.write("old", to: "old.txt")
            let process = try watch.start("--new-only")
            try await process.event("watch.caughtUp")
            try watch.write("new", to: "new.txt")
            try await process.caughtUp(confirming: 1)
            try await watch.stop(process)
            #expect(watch.sink.uploads.map(\.path) == ["/in/new.txt"])
        }
    }

    @Test func patternsAndSubfoldersAreKept() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let process = try watch.start("--recursive", "--include", "*.{mp4,mov}", "--exclude", "raw/")
            for name in ["x/y/a.mp4", "b.mov", "c.txt", "raw/d.mp4"] { try watch.write("x", to: name) }
            try await process.caughtUp(confirming: 2)
            // The ignored files were there before this one.
            try watch.write("x", to: "e.mp4")
            try await process.confirmed("e.mp4")
            try await watch.stop(process)
            #expect(Set(watch.sink.uploads.map(\.path)) == ["/in/x/y/a.mp4", "/in/b.mov", "/in/e.mp4"])
        }
    }

    @Test func thenDeleteRemovesTheFileOnceItIsConfirmed() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let process = try watch.start("--then", "delete")
            try watch.write("x", to: "a.txt")
            let event = try await process.event("watch.deleted")
            #expect(event["path"]?.string == "a.txt" && !watch.folder.exists("out/a.txt"))
            #expect(watch.bodies("a.txt") == ["x"])
            try await watch.stop(process)
        }
    }

    /// The value is given as two words, as one, and quoted.
    @Test(arguments: [["--then", "move", "DIR"], ["--then=move DIR"], ["--then", "move DIR"]])
    func thenMovePutsTheFileElsewhere(_ arguments: [String]) async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let done = watch.folder.path("done")
            let options = arguments.map { $0.replacingOccurrences(of: "DIR", with: done) }
            let process = try watch.command(options + ["--recursive"]).start()
            try watch.write("x", to: "sub/a.txt")
            let event = try await process.event("watch.moved")
            #expect(event["path"]?.string == "sub/a.txt" && event["to"]?.string == done + "/sub/a.txt")
            #expect(try watch.folder.text("done/sub/a.txt") == "x" && !watch.folder.exists("out/sub/a.txt"))
            try await watch.stop(process)
        }
    }

    @Test func keepForLeavesTheFileForAWhile() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let process = try watch.start("--then", "delete", "--keep-for", "1h")
            try watch.write("x", to: "a.txt")
            try await process.confirmed("a.txt")
            try await process.event("watch.backlog") { $0["kept"]?.int == 1 && $0["waiting"]?.int == 0 }
            try await watch.stop(process)
            #expect(watch.folder.exists("out/a.txt"))
        }
    }

    @Test func aRewrittenFileIsSentAgainAndATouchedOneIsNot() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            // A file whose digest is in the URL has it before its upload, other files some time after it.
            let process = try watch.command(to: "/in/{name}?{sha256}").start()
            try watch.write("one", to: "a.txt")
            try watch.write("same", to: "b.txt")
            try await process.confirmed("a.txt")
            try await process.confirmed("b.txt")
            try watch.write("two, longer", to: "a.txt")
            let touch = ChildProcess.Command("/usr/bin/touch", [watch.folder.path("out/b.txt")])
            #expect(try await ChildProcess.start(touch).result().exitCode == 0)
            try await process.confirmed("a.txt", 2)
            try watch.write("last", to: "c.txt")
            try await process.confirmed("c.txt")
            try await process.caughtUp(confirming: 4)
            try await watch.stop(process)
            #expect(watch.bodies("a.txt") == ["one", "two, longer"])
            #expect(watch.bodies("b.txt") == ["same"])
        }
    }

    @Test func aRestartSendsNothingTwice() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            for number in 0..<5 { try watch.write("\(number)", to: "f\(number)") }
            let process = try watch.start()
            try await process.caughtUp(confirming: 5)
            try await watch.stop(process)
            try watch.write("5", to: "f5")
            let again = try watch.start()
            try await again.caughtUp(confirming: 1)
            try await watch.stop(again)
            for number in 0..<6 { #expect(watch.bodies("f\(number)") == ["\(number)"]) }
            #expect(server.requests.count == 6)
        }
    }

    @Test func aKilledWatchContinuesWithTheRest() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            server.script("/in/b", [.stallUpload(after: 1000)])
            try watch.write("a", to: "a")
            try watch.folder.write(count: 3_000_000, seed: 5, to: "out/b")
            let process = try watch.start()
            try await process.confirmed("a")
            try await server.waitForHeld(1)
            process.kill(SIGKILL)
            _ = try await process.result()
            let again = try watch.start()
            try await again.caughtUp(confirming: 1)
            try await watch.stop(again)
            #expect(watch.bodies("a") == ["a"])
            let arrived = watch.sink.uploads(to: "/in/b").filter { $0.isComplete }
            let expected = try watch.folder.data("out/b")
            #expect(arrived.count == 1 && Data(arrived[0].bytes) == expected)
        }
    }

    /// The stop takes two seconds at most, with a message on the remaining files; that is no failure.
    @Test func aStopLeavesUploadsUnderWayToTheNextStart() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            server.script("/in/a", [.stallUpload(after: 1000)])
            try watch.folder.write(count: 3_000_000, seed: 5, to: "out/a")
            let process = try watch.start()
            try await server.waitForHeld(1)
            let result = try await watch.stop(process)
            #expect(
                result.standardError.contains(
                    "\(watch.path): stopped, 0 uploaded, 1 file left, which the next start continues\n"), "\(result)"
            )
            let again = try watch.start()
            try await again.confirmed("a")
            try await watch.stop(again)
        }
    }

    /// The kernel reports a deleted folder once no process holds it.
    @Test func anIdleFolderIsNotHeldOpen() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let process = try watch.start()
            try watch.write("one", to: "one")
            try await process.confirmed("one")
            try await until("the folder to be let go") {
                let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processID)/fd")
                return !descriptors.contains { name in
                    let link = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/\(process.processID)/fd/\(name)")
                    return link == watch.path
                }
            }
            try FileManager.default.removeItem(atPath: watch.path)
            try await process.event("watch.lost")
            try watch.write("two", to: "two")
            try await process.confirmed("two")
            try await watch.stop(process)
        }
    }

    @Test func aMissingFolderIsWaitedFor() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            rmdir(watch.path)
            let process = try watch.start()
            let lost = try await process.event("watch.lost")
            #expect(lost["message"]?.string?.isEmpty == false)
            try watch.write("x", to: "a.txt")
            try await process.confirmed("a.txt")
            let result = try await watch.stop(process)
            #expect(result.standardError.contains("warn \(watch.path): waiting for the folder: "), "\(result)")
            #expect(result.standardError.contains("info \(watch.path): the folder is back"), "\(result)")
        }
    }

    @Test func aSecondWatchOfTheFolderIsRefused() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let process = try watch.start()
            try await process.event("watch.found")
            let second = try await watch.command().run()
            #expect(second.exitCode == 75, "\(second)")
            #expect(
                second.standardError.hasSuffix(
                    "transfer: \(watch.path) is being watched by process \(process.processID)\n"),
                "\(second)")
            try watch.write("x", to: "a.txt")
            try await process.confirmed("a.txt")
            try await watch.stop(process)
        }
    }

    /// The log, for the journal and for files, has a line each, with a level and without control characters.
    @Test func theLogHasALineForEachFileFailureAndChange() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            server.script("/in/bad", [], afterwards: .status(403))
            try watch.write("hello", to: "a.txt")
            try watch.write("x", to: "bad")
            let process = try watch.command(json: false).start()
            try await process.line { $0.contains("a.txt: uploaded, 5 B in") }
            try await process.line { $0.contains("403") }
            checkLog(try await watch.stop(process), watch.path)
        }
    }

    private func checkLog(_ result: ProcessResult, _ path: String) {
        let lines = result.standardError.split(separator: "\n")
        for line in lines {
            #expect(
                line.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d (info|warn|error) [ -~]+/#) != nil, "\(line)")
        }
        #expect(lines.filter { $0.contains(" info \(path): watching") }.count == 1)
        #expect(lines.filter { $0.contains(" info \(path)/a.txt: uploaded, 5 B in ") }.count == 1)
        // There is one line for each attempt: the file is tried again when the other one has succeeded.
        let failures = lines.filter { $0.contains(" error ") && $0.contains("/bad: ") }
        let allComeBack = failures.allSatisfy { $0.contains("tried again in ") }
        #expect(!failures.isEmpty && allComeBack, "\(result)")
        #expect(result.standardOutput.isEmpty)
    }

    /// Nothing happens to a thousand files for ten seconds: the command is woken at most twice a second, all threads
    /// together.
    @Test(.enabled(if: TransferCommand.runsHeavyTests)) func anIdleWatchSleeps() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            for number in 0..<1000 { try watch.write("\(number)", to: "f\(number)") }
            var command = watch.command()
            command.timeout = .seconds(150)
            let process = try command.start()
            try await process.caughtUp(confirming: 1000)
            var before = try ProcessFacts.wakes(process.processID)
            // Background work continues for a while: the clock decides, as no event marks its end.
            try await until("it to go to rest", within: .seconds(60)) {
                try await Task.sleep(for: .seconds(2))
                defer { before = (try? ProcessFacts.wakes(process.processID)) ?? before }
                return try ProcessFacts.wakes(process.processID, since: before) <= 4
            }
            // The single pass through the upload history, a minute after the start, may fall into one of these periods,
            // but not into two.
            var counts: [Int] = []
            while counts.count < 2, counts.last.map({ $0 > 20 }) ?? true {
                before = try ProcessFacts.wakes(process.processID)
                // The subject of the test is that nothing happens.
                try await Task.sleep(for: .seconds(10))
                counts.append(try ProcessFacts.wakes(process.processID, since: before))
            }
            print("measured: \(counts.map { Double($0) / 10 }) wakes a second")
            #expect(counts.contains { $0 <= 20 })
            try await watch.stop(process)
        }
    }
}
