import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// `onFinish` with a command: its calls, their messages, and their number.
@Suite struct HookTests {
    private static let quick = #""defaults": {"retry": {"scale": 0, "jitter": false, "limit": 1}}, "#
    private static let batchHook = quick + #""onFinish": "tell", "#

    @Test func jobsAndTheirBatchAreReportedOnce() async throws {
        try await withTestServer { server in
            let hook = try HookPlace()
            server.serve("/a", .text("abc"))
            server.script("/gone", [], afterwards: .status(404))
            let jobs = [
                download(server.url("/a?X-Amz-Signature=5ecret"), to: "a", #""id": "a", "onFinish": "tell""#),
                download(server.url("/gone"), to: "gone", #""id": "g", "onFinish": "tell""#),
                download(server.url("/gone"), to: "late", #""id": "l", "needs": ["g"], "onFinish": "tell""#),
                download(server.url("/a"), to: "silent", #""id": "s""#),
            ]
            try hook.place.jobs(jobs, extra: Self.batchHook)
            let result = try await hook.place.runJobs(hook.option)
            #expect(result.exitCode == 1, "\(result)")
            let reported = try hook.reported
            #expect(reported.count == 4)
            #expect(Set(reported.compactMap { $0["id"]?.string }) == Set(hook.ids) && Set(hook.ids).count == 4)
            let a = try #require(reported.first { $0["job"]?.string == "a" })
            #expect(a["event"]?.string == "job.finished" && a["state"]?.string == "finished")
            #expect(a["batch"]?.string == "batch" && a["bytes"]?.int == 3 && a["to"]?.string == "a")
            #expect(a["path"]?.string == hook.place.folder.path("a") && a["direction"]?.string == "download")
            #expect(a["url"]?.string?.hasPrefix(server.url("/a")) == true)
            #expect(!(try hook.place.folder.text("told")).contains("5ecret"))
            let gone = try #require(reported.first { $0["job"]?.string == "g" })
            #expect(gone["state"]?.string == "failed" && gone["code"]?.string == "httpStatus")
            #expect(gone["status"]?.int == 404)
            #expect(reported.first { $0["job"]?.string == "l" }?["need"]?.string == "g")
            let batch = try #require(reported.first { $0["event"]?.string == "batch.finished" })
            #expect(batch["jobs"]?.int == 4 && batch["completed"]?.int == 2 && batch["failed"]?.int == 1)
            #expect(batch["state"]?.string == "failed" && batch["skipped"]?.int == 1)
            #expect(try result.events().named("hook.told").count == 4)
        }
    }

    @Test func aReportedBatchIsReportedAgainOnlyAfterANewEnd() async throws {
        try await withTestServer { server in
            let hook = try HookPlace()
            server.serve("/a", .text("abc"))
            let job = download(server.url("/a"), to: "a", #""id": "a""#)
            try hook.place.jobs([job], extra: Self.batchHook)
            for _ in 0..<2 { #expect(try await hook.place.runJobs(hook.option).exitCode == 0) }
            #expect(try hook.reported.count == 1)
            server.serve("/b", .text("b"))
            try hook.place.jobs([job, download(server.url("/b"), to: "b")], extra: Self.batchHook)
            #expect(try await hook.place.runJobs(hook.option).exitCode == 0)
            #expect(try hook.reported.map { $0["jobs"]?.int } == [1, 2])
        }
    }

    @Test func aHookIsNoPartOfAJobsIdentity() async throws {
        try await withTestServer { server in
            let hook = try HookPlace()
            server.serve("/a", .text("abc"))
            try hook.place.jobs([download(server.url("/a"), to: "a", #""id": "a""#)])
            #expect(try await hook.place.runJobs().exitCode == 0)
            try hook.place.jobs([download(server.url("/a"), to: "a", #""id": "a", "onFinish": "tell""#)])
            #expect(try await hook.place.runJobs(hook.option).exitCode == 0)
            #expect(server.requests.count == 1)
            #expect(try hook.reported.isEmpty)
        }
    }

    @Test func aCommandGetsNoSecretNoDescriptorAndAGroupOfItsOwn() async throws {
        try await withTestServer { server in
            let hook = try HookPlace(
                rest: """
                    env > env.txt
                    ls /proc/$$/fd > fds.txt
                    cut -d' ' -f5 /proc/$$/stat > group.txt; echo $$ >> group.txt
                    """)
            server.serve("/a", .text("abc"))
            try hook.place.jobs([download(server.url("/a"), to: "a")], extra: Self.batchHook)
            var command = hook.place.command(["run", "jobs.json", hook.option])
            command.environment["TOKEN"] = "5ecret"
            command.environment["LC_TIME"] = "C"
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            let lines = try hook.place.folder.text("env.txt").split(separator: "\n")
            let names = Set(lines.compactMap { $0.split(separator: "=").first.map(String.init) })
            // The shell sets some variables of its own.
            let own: Set = ["PWD", "OLDPWD", "_", "SHLVL"]
            #expect(names.subtracting(own) == ["PATH", "HOME", "LANG", "LC_TIME", "TZ", "TRANSFER_EVENT_ID"])
            let descriptors: Set<String> = Set(
                try hook.place.folder.text("fds.txt").split(separator: "\n").map(String.init))
            // A shell keeps its script open from descriptor 10 up, or at 255.
            let low: Set<String> = descriptors.filter { (Int($0) ?? 0) < 10 }
            #expect(low == ["0", "1", "2"])
            let group = try hook.place.folder.text("group.txt").split(separator: "\n")
            #expect(group.count == 2 && group[0] == group[1])
        }
    }

    @Test func anUnsentMessageOfAKilledRunIsSentByTheNextWithTheSameID() async throws {
        try await withTestServer { server in
            // The command blocks until the test opens the other end.
            let hook = try HookPlace(rest: #"[ -e open ] || read line < gate"#)
            #expect(mkfifo(hook.place.folder.path("gate"), 0o600) == 0)
            server.serve("/a", .text("abc"))
            try hook.place.jobs(
                [download(server.url("/a"), to: "a", #""id": "a", "onFinish": "tell""#)], extra: Self.quick)
            let process = try hook.place.startJobs(hook.option)
            try await process.event("job.finished")
            try await until("the command") { !hook.ids.isEmpty }
            process.kill(SIGKILL)
            _ = try await process.result()
            _ = try hook.place.folder.write("", to: "open")
            // The command of the killed process continues.
            let gate = open(hook.place.folder.path("gate"), O_RDWR)
            _ = write(gate, "\n", 1)
            let result = try await hook.place.runJobs(hook.option)
            close(gate)
            #expect(result.exitCode == 0, "\(result)")
            #expect(hook.ids.count == 2 && Set(hook.ids).count == 1)
            #expect(server.requests.count == 1)
            #expect(try await hook.place.runJobs(hook.option).exitCode == 0)
            #expect(hook.ids.count == 2)
        }
    }

    @Test func aStopEndsTheCommandAndLeavesTheMessageToTheNextRun() async throws {
        try await withTestServer { server in
            let hook = try HookPlace(rest: #"[ -e open ] || read line < gate"#)
            #expect(mkfifo(hook.place.folder.path("gate"), 0o600) == 0)
            server.serve("/a", .text("abc"))
            try hook.place.jobs([download(server.url("/a"), to: "a")], extra: Self.batchHook)
            let process = try hook.place.startJobs(hook.option)
            try await until("the command") { !hook.ids.isEmpty }
            process.kill(SIGTERM)
            #expect(try await process.result().status == .signalled(SIGTERM))
            _ = try hook.place.folder.write("", to: "open")
            #expect(try await hook.place.runJobs(hook.option).exitCode == 0)
            #expect(hook.ids.count == 2 && Set(hook.ids).count == 1)
        }
    }

    @Test func aFailedCommandIsRetriedReportedAndLeftToTheNextRun() async throws {
        try await withTestServer { server in
            let hook = try HookPlace(rest: "echo no mail today >&2; exit 3")
            server.serve("/a", .text("abc"))
            try hook.place.jobs([download(server.url("/a"), to: "a")], extra: Self.batchHook)
            let result = try await hook.place.runJobs(hook.option)
            #expect(result.exitCode == 1, "\(result)")
            #expect(hook.ids.count == 2 && Set(hook.ids).count == 1)
            let events = try result.events()
            #expect(events.named("hook.retrying").count == 1)
            let failed = try #require(events.named("hook.failed").first)
            #expect(failed["attempts"]?.int == 2 && failed["hook"]?.string == "tell")
            #expect(failed["message"]?.string == #"the command "tell" ended with status 3: no mail today"#)
            #expect(result.standardError.contains("batch: tell could not be called in 2 attempts"), "\(result)")
            let status = try await hook.place.run("status")
            #expect(status.standardOutput.contains("ended with status 3: no mail today"), "\(status)")
            let row = try #require(try await hook.place.status().first)
            #expect(row["hooks"]?[0]?["attempts"]?.int == 2, "\(row)")
            let why = try await hook.place.run("why", "batch/a")
            #expect(why.standardOutput.contains("onFinish: tell could not be called"), "\(why)")
            try hook.write(rest: "")
            #expect(try await hook.place.runJobs(hook.option).exitCode == 0)
            #expect(hook.ids.count == 3 && Set(hook.ids).count == 1)
            #expect(try await !hook.place.run("status").standardOutput.contains("onFinish"))
        }
    }

    @Test func aCommandThatTakesTooLongIsEndedWithAllItStarted() async throws {
        try await withTestServer { server in
            let hook = try HookPlace(rest: #"(trap "" TERM; read line < gate; touch late) & read line < gate"#)
            #expect(mkfifo(hook.place.folder.path("gate"), 0o600) == 0)
            server.serve("/a", .text("abc"))
            let never = #""defaults": {"retry": {"limit": 0}}, "onFinish": "tell", "#
            try hook.place.jobs([download(server.url("/a"), to: "a")], extra: never)
            let result = try await hook.place.runJobs(hook.option, "--on-finish-timeout=1s")
            #expect(result.exitCode == 1, "\(result)")
            let failed = try #require(try result.events().named("hook.failed").first)
            #expect(failed["message"]?.string?.contains("took longer than 1") == true, "\(failed)")
            // No process waits at the other end any longer.
            #expect(open(hook.place.folder.path("gate"), O_WRONLY | O_NONBLOCK) == -1 && errno == ENXIO)
        }
    }

    // MARK: Names

    @Test(arguments: [["validate", "jobs.json"], ["run", "jobs.json", "--dry-run"], ["run", "jobs.json"]])
    func anUnknownOrUnstartableCommandIsAFaultBeforeAnyTransfer(_ words: [String]) async throws {
        let place = try Workplace("names")
        try place.jobs([download("http://127.0.0.1:9/a", to: "a", #""onFinish": "other""#)], extra: Self.batchHook)
        let result = try await place.command(words + ["--on-finish", "other=/nowhere/at-all"]).run()
        #expect(result.exitCode == 65, "\(result)")
        let text = result.standardError
        #expect(text.contains("jobs.json:1:1: error: no command \"tell\" is known"), "\(result)")
        #expect(text.contains("--on-finish tell=COMMAND") && text.contains("$.onFinish"), "\(result)")
        #expect(text.contains("$.jobs[0].onFinish") && text.contains("/nowhere/at-all: no such file"), "\(result)")
    }

    @Test(arguments: [
        (#""rm -rf /""#, "a job file names a command"), (#""https://h.example/x""#, "a webhook is an object"),
        (#"{"secret": {"env": "S"}}"#, "\"url\" is missing"),
        (#"{"url": "https://h.example/?token=5ecret"}"#, "name the whole URL as a secret"),
        (#"{"url": "https://h.example/", "secret": "whsec_5ecret"}"#, "named, never written"),
        (#"{"url": "ftp://h.example/"}"#, "unsupported scheme"), ("7", "the name of a command"),
    ])
    func anInvalidHookIsReported(_ value: String, _ words: String) async throws {
        let place = try Workplace("faults")
        try place.jobs([download("http://127.0.0.1:9/a", to: "a")], extra: "\"onFinish\": \(value), ")
        let result = try await place.run("validate", "jobs.json")
        #expect(result.exitCode == 65 && result.standardError.contains(words), "\(result)")
        #expect(!result.standardError.contains("5ecret"), "\(result)")
    }

    @Test(arguments: [
        ("a=", "a command is missing"), ("a=x 'y z'", "as a JSON array"), ("a=[1]", "not a JSON array"),
        ("a=https://h.example/", "a name stands for a command"), ("https://u:p@h.example/", "secret"),
    ])
    func anOptionWithoutACommandIsReported(_ value: String, _ words: String) async throws {
        let place = try Workplace("option")
        let result = try await place.run("get", "http://127.0.0.1:9/a", "--on-finish", value)
        #expect(result.exitCode == 64, "\(result)")
        #expect(result.standardError.contains("--on-finish: ") && result.standardError.contains(words), "\(result)")
    }

    // MARK: Other verbs

    @Test func getCallsACommandWithUnchangedArguments() async throws {
        try await withTestServer { server in
            let hook = try HookPlace(rest: #"printf '%s|' "$@" > words"#)
            server.serve("/a", .text("abc"))
            let words = #"["\#(hook.script)", "$HOME", "a b"]"#
            let result = try await hook.place.run("get", server.url("/a"), "--on-finish", words)
            #expect(result.exitCode == 0, "\(result)")
            #expect(try hook.place.folder.text("words") == "$HOME|a b|")
            #expect(try hook.reported.map { $0["event"]?.string } == ["batch.finished"])
        }
    }

    @Test func watchCallsTheHookForEachFile() async throws {
        try await withTestServer { server in
            let hook = try HookPlace()
            server.acceptUploads("/in/*")
            _ = try hook.place.folder.write("x", to: "out/one")
            let process = try hook.place.command([
                "watch", "out", "--to", server.url("/in/"), "--settle", "50ms", "--json", "--on-finish", hook.script,
            ]).start()
            try await process.event("hook.told")
            _ = try hook.place.folder.write("yy", to: "out/two")
            try await until("the second file") { hook.ids.count == 2 }
            process.kill(SIGTERM)
            _ = try await process.result()
            #expect(try hook.reported.map { $0["bytes"]?.int } == [1, 2])
            #expect(try hook.reported.allSatisfy { $0["event"]?.string == "job.finished" })
        }
    }
}
