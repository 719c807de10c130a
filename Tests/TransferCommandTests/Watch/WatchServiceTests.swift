import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// `transfer run` of a job file that watches, as a service: systemd's notifications, SIGHUP, and the end.
@Suite struct WatchServiceTests {
    /// Writes a job file that watches folders, and has jobs.
    private func write(_ watch: WatchPlace, folders: [String], jobs: [String] = [], more: String = "") throws {
        let entries = folders.map {
            #"{"folder": "\#($0)", "to": "\#(watch.server.url("/in/"))\#($0)/", "settle": "50ms"\#(more)}"#
        }
        try watch.folder.write(
            """
            {"version": 1, "name": "svc", "defaults": {"retry": {"scale": 0}},
             "watch": [\(entries.joined(separator: ", "))],
             "jobs": [\(jobs.joined(separator: ", "))]}
            """, to: "svc.json")
    }

    private func command(_ watch: WatchPlace, _ options: String...) -> TransferCommand {
        watch.place.command(["run", "svc.json", "--json"] + options)
    }

    @Test func runsTheJobsAndWatchesUntilItIsStopped() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            server.serve("/a", .text("a"))
            try write(watch, folders: ["out"], jobs: [download(server.url("/a"), to: "a", #""id": "a""#)])
            let process = try command(watch).start()
            try await process.event("batch.finished") { $0["batch"]?.string == "svc" }
            try watch.write("x", to: "f.txt")
            try await process.confirmed("f.txt")
            let result = try await watch.stop(process)
            #expect(watch.bodies("out/f.txt") == ["x"])
            #expect(try watch.folder.text("a") == "a")
            #expect(try result.events().ends["a"] == "finished")
            #expect(result.standardError.contains("svc: 1 fetched"), "\(result)")
        }
    }

    @Test func reportsItsStateToItsManager() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let manager = try ManagerSocket(watch.folder.path("manager"))
            try write(watch, folders: ["out", "missing"])
            var command = command(watch)
            command.environment["NOTIFY_SOCKET"] = watch.folder.path("manager")
            command.environment["WATCHDOG_USEC"] = "500000"
            let process = try command.start()
            let first = try await manager.message { $0.hasPrefix("READY=1") }
            #expect(first.hasPrefix("READY=1\nSTATUS=2 folders: nothing waiting, 0 uploaded since "), "\(first)")
            #expect(first.hasSuffix("; \(watch.folder.path("missing")) is not there"))
            try await manager.message { $0 == "WATCHDOG=1" }
            try watch.write("x", to: "f.txt")
            try await manager.message { $0.hasPrefix("STATUS=") && $0.contains(", 1 uploaded since ") }
            process.kill(SIGHUP)
            let reloading = try await manager.message { $0.hasPrefix("RELOADING=1") }
            #expect(reloading.wholeMatch(of: #/RELOADING=1\nMONOTONIC_USEC=\d+/#) != nil)
            try await manager.message { $0 == "READY=1" }
            process.kill(SIGTERM)
            try await manager.message { $0.hasPrefix("STOPPING=1") }
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
        }
    }

    @Test func aFileWithJobsOnlyRunsAsAServiceToo() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let manager = try ManagerSocket(watch.folder.path("manager"))
            server.serve("/a", .text("a"))
            server.script("/a", [.holdHead])
            try watch.place.jobs([download(server.url("/a"), to: "a")])
            var command = watch.place.command(["run", "jobs.json"])
            command.environment["NOTIFY_SOCKET"] = watch.folder.path("manager")
            command.environment["WATCHDOG_USEC"] = "500000"
            let process = try command.start()
            try await manager.message { $0 == "READY=1" }
            try await server.waitForHeld(1)
            for _ in 0..<2 { try await manager.message { $0 == "WATCHDOG=1" } }
            server.release()
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
        }
    }

    /// A service with a missing folder is up: it waits.
    @Test func theServiceIsReadyWithoutItsFolder() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let manager = try ManagerSocket(watch.folder.path("manager"))
            var command = watch.command()
            rmdir(watch.path)
            command.environment["NOTIFY_SOCKET"] = watch.folder.path("manager")
            let process = try command.start()
            let first = try await manager.message { $0.hasPrefix("READY=1") }
            #expect(first.hasSuffix("; the folder is not there"), "\(first)")
            try await watch.stop(process)
        }
    }

    @Test func aHangUpReadsTheFileAgain() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            for name in ["b", "c"] { try watch.folder.folder(name) }
            server.serve("/a", .text("a"))
            try write(watch, folders: ["out", "b"])
            let process = try command(watch).start()
            try await process.event("watch.found") { $0["folder"]?.string?.hasSuffix("/b") == true }

            try write(
                watch, folders: ["out", "c"], jobs: [download(server.url("/a"), to: "a", #""id": "a""#)],
                more: #", "include": "*.txt""#)
            process.kill(SIGHUP)
            try await process.event("watch.ended") { $0["folder"]?.string?.hasSuffix("/b") == true }
            try await process.event("watch.found") { $0["folder"]?.string?.hasSuffix("/c") == true }
            try await process.event("job.finished", id: "a")
            try await process.line {
                $0.hasSuffix("read again: 1 folder added, 1 folder changed, 1 folder removed, 1 job")
            }
            // The rule of `out` has changed, `c` is watched, `b` is not.
            for name in ["out/x.log", "out/x.txt", "b/y.txt", "c/z.txt"] { try watch.folder.write(name, to: name) }
            try await process.confirmed("x.txt")
            try await process.confirmed("z.txt")
            try await watch.stop(process)
            #expect(Set(watch.sink.uploads.map(\.path)) == ["/in/out/x.txt", "/in/c/z.txt"])
        }
    }

    /// A reader of the report about the first folder does not know the number of folders to come.
    @Test func signalsAreHeardWhileTheFoldersAreStillBegun() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let names = (0..<50).map { "in\($0)" }
            for name in names { try watch.folder.folder(name) }
            try write(watch, folders: names)
            let process = try command(watch).start()
            try await process.event("watch.started")
            process.kill(SIGHUP)
            try await process.line { $0.hasSuffix("read again: the same folders, 0 jobs") }
            try await watch.stop(process)

            let second = try command(watch).start()
            try await second.event("watch.started")
            try await watch.stop(second)
        }
    }

    /// Transfers under way are not changed; all waiting files go to the new URL, including those that this process had
    /// taken already.
    @Test func aHangUpSendsUnstartedFilesElsewhere() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            let other = server.acceptUploads("/in/elsewhere/*")
            let names = (0..<20).map { "f\($0)" }
            for name in names {
                try watch.write(name, to: name)
                server.script("/in/out/\(name)", [.holdHead])
            }
            try write(watch, folders: ["out"])
            let process = try command(watch, "-j", "2").start()
            try await server.waitForHeld(2)
            try await process.event("watch.backlog") { $0["waiting"]?.int == 20 }
            try watch.folder.write(
                try watch.folder.text("svc.json").replacingOccurrences(of: "/in/out/", with: "/in/elsewhere/"),
                to: "svc.json")
            process.kill(SIGHUP)
            try await process.line { $0.hasSuffix("read again: 1 folder changed, 0 jobs") }
            server.release()
            for name in names { try await process.confirmed(name) }
            try await watch.stop(process)
            #expect(server.requests.count { $0.path.hasPrefix("/in/out/") } == 2)
            #expect(other.uploads.count == 18)
        }
    }

    /// The final state of the file decides, even where its job was under way.
    @Test func aJobChangedWhileItIsUnderWayIsDoneInItsNewForm() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            server.serve("/old", .text("old"))
            server.serve("/new", .text("new"))
            server.script("/old", [.holdHead])
            func jobs(_ path: String) -> [String] { [download(server.url(path), to: "a", #""id": "a""#)] }
            try write(watch, folders: ["out"], jobs: jobs("/old"))
            let process = try command(watch).start()
            try await server.waitForHeld(1)
            try write(watch, folders: ["out"], jobs: jobs("/new"))
            process.kill(SIGHUP)
            try await process.event("job.restarted", id: "a")
            try await process.event("job.finished", id: "a")
            try await process.line { $0.hasSuffix("read again: the same folders, 1 job") }
            let result = try await watch.stop(process)
            #expect(try result.events().ends["a"] == "finished")
            #expect(try watch.folder.text("a") == "new")
            #expect(server.requests.map(\.path) == ["/old", "/new"])
        }
    }

    @Test func aHangUpLeavesCancelledAndFailedFilesAlone() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            server.serve("/b", .text("b"))
            server.script("/gone", [.status(404)])
            server.script("/b", [.holdHead])
            let old = [
                download(server.url("/gone"), to: "a", #""id": "a""#),
                download(server.url("/b"), to: "b", #""id": "b""#),
            ]
            try write(watch, folders: ["out"], jobs: old)
            let process = try command(watch).start()
            try await process.event("job.failed", id: "a")
            try await server.waitForHeld(1)
            #expect(try await watch.place.run("cancel", "svc/b").exitCode == 0)
            try await process.event("job.cancelled", id: "b")
            server.serve("/c", .text("c"))
            try write(watch, folders: ["out"], jobs: old + [download(server.url("/c"), to: "c", #""id": "c""#)])
            process.kill(SIGHUP)
            try await process.event("job.finished", id: "c")
            try await process.line { $0.hasSuffix("read again: the same folders, 3 jobs") }
            let last = try await process.event("batch.finished") { $0["completed"]?.int == 1 }
            #expect(last["failed"]?.int == 1 && last["cancelled"]?.int == 1, "\(last)")
            let result = try await watch.stop(process)
            #expect(try result.events().ends == ["a": "failed", "b": "cancelled", "c": "finished"])
            #expect(
                server.requests.map(\.path) == ["/gone", "/b", "/c"]
                    || server.requests.map(\.path) == ["/b", "/gone", "/c"])
        }
    }

    @Test func aFaultyFileIsReportedAndChangesNothing() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            try write(watch, folders: ["out"])
            let process = try command(watch).start()
            try await process.event("watch.found")
            try write(watch, folders: ["out", "out/"])
            process.kill(SIGHUP)
            try await process.line {
                $0.contains("error svc.json:2:") && $0.hasSuffix("same folder as another entry (line 2)")
            }
            try await process.line { $0.hasSuffix("the job file has faults; continuing as before") }
            try FileManager.default.removeItem(atPath: watch.folder.path("svc.json"))
            process.kill(SIGHUP)
            try await process.line { $0.hasSuffix("cannot read svc.json: no such file or directory") }
            try watch.write("x", to: "f.txt")
            try await process.confirmed("f.txt")
            try await watch.stop(process)
            #expect(watch.bodies("out/f.txt") == ["x"])
        }
    }

    @Test func anotherRunOfTheFileIsRefused() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            try write(watch, folders: ["out"])
            let process = try command(watch).start()
            try await process.event("watch.found")
            let second = try await command(watch).run()
            #expect(second.exitCode == 75, "\(second)")
            #expect(second.standardError.contains("by process \(process.processID)"), "\(second)")
            try await watch.stop(process)
        }
    }

    @Test func twoFilesCannotWatchOneFolder() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            try write(watch, folders: ["out"])
            try watch.folder.write(
                #"{"version": 1, "name": "b", "watch": [{"folder": "./out", "to": "http://h/"}]}"#, to: "b.json")
            let result = try await watch.place.run("run", "svc.json", "b.json")
            #expect(
                result.exitCode == 65 && result.standardError == "transfer: \(watch.path) is watched twice\n",
                "\(result)"
            )
        }
    }

    @Test func aWatchingFileIsValidatedAndShownByADryRun() async throws {
        try await withTestServer { server in
            let watch = try WatchPlace(server)
            try write(watch, folders: ["out", "b"], more: #", "then": {"move": "done"}, "keepFor": "1h""#)
            let valid = try await watch.place.run("validate", "svc.json")
            #expect(valid.standardOutput == "svc.json: 0 jobs, 2 watched folders, no errors\n", "\(valid)")
            let plan = try await watch.place.run("run", "-n", "svc.json")
            let url = server.url("/in/out/{name}")
            #expect(plan.exitCode == 0 && plan.standardOutput.hasPrefix("svc: 0 jobs\n"), "\(plan)")
            #expect(
                plan.standardOutput.contains(
                    "  watch  \(watch.path) -> \(url), then move to \(watch.folder.path("done")) after 1h 00m\n"),
                "\(plan)")
            #expect(server.requests.isEmpty && !watch.folder.exists("state"))
        }
    }

    /// `jobs/watch.json` is run unchanged, against the demonstration's server.
    @Test func theSampleFileRuns() async throws {
        let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        var demo = ChildProcess.Command(try TransferCommand.builtProduct("transfer-demo-server"))
        demo.standardInput = .open
        let server = try ChildProcess.start(demo)
        let port = try await server.line(.standardOutput) { !$0.isEmpty }
        let place = try Workplace("sample")
        try place.folder.write("late", to: "demo/outbox/b/late.txt")
        var command = place.command(["run", root.appendingPathComponent("jobs/watch.json").path, "--json"])
        command.environment["http_proxy"] = "http://127.0.0.1:\(port)"
        let process = try command.start()
        try await process.event("watch.moved") { $0["path"]?.string == "b/late.txt" }
        process.kill(SIGTERM)
        let result = try await process.result()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try place.folder.text("demo/sent/b/late.txt") == "late")
        server.closeStandardInput()
        _ = try await server.result()
    }
}
