import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Invalid command lines: exit status 64 and a message; and unreadable job files: 66.
@Suite struct UsageTests {
    static let wrong: [([String], String)] = [
        (["run"], "Missing expected argument '<file> ...'"),
        (["run", "-"], "standard input needs --name"),
        (["run", "-", "jobs.json", "--name", "x"], "--name goes with one job file"),
        (["run", "jobs.json", "--no-such-option"], "transfer run has no --no-such-option"),
        (["run", "jobs.json", "-j", "0"], "'0' is invalid for '-j <n>': it takes a whole number from 1 to 10000"),
        (["run", "jobs.json", "-j", "many"], "'many' is invalid"),
        (
            ["run", "jobs.json", "--per-host", "0"],
            "is invalid for '--per-host <n>': it takes a whole number from 1 to 10000, or auto"
        ),
        (
            ["run", "jobs.json", "--per-host", "many"],
            "is invalid for '--per-host <n>': it takes a whole number from 1 to 10000, or auto"
        ),
        (["run", "jobs.json", "--limit-rate", "fast"], "'fast' is invalid"),
        (["run", "jobs.json", "--deadline", "soon"], "'soon' is invalid"),
        (["run", "jobs.json", "--max-failures", "101%"], "'101%' is invalid"),
        (["run", "jobs.json", "--progress", "colourful"], "'colourful' is invalid"),
        (["run", "jobs.json", "--report", "no/such/folder/report"], "no such file or directory"),
        (["get"], "name a URL, or a list of them with -i"),
        (
            ["get", "http://a.example:99999/x"],
            "unsupported URL http://a.example:99999/x: the URL's port is not a number from 1 to 65535"
        ),
        (
            ["get", "gopher://a.example/x"],
            "unsupported URL gopher://a.example/x: unsupported scheme \"gopher\"; http, https, s3, ftp, ftps and sftp are supported"
        ),
        (["get", "http://a.example/x", "--checksum", "sha256:12"], "'sha256:12' is invalid"),
        (
            ["get", "http://a.example/x", "http://a.example/y", "-o", "z"],
            "--output without a place such as {name} goes with one URL"
        ),
        (["put", "file"], "name files and then a URL"),
        (["put", "a", "b", "http://a.example/x"], "several files need a URL that ends in /"),
        (["put", "/usr", "http://a.example/x"], "/usr is a folder, which needs a URL that ends in /"),
        (["put", "a", "http://a.example/x", "--parallel", "2"], "--parallel is for the protocol s3 or tus, not put"),
        (["put", "a", "http://a.example/x", "--method", "GET"], "GET stores nothing; an upload's method is \"PUT\""),
        (["validate"], "Missing expected argument '<file> ...'"),
        (["wait"], "Missing expected argument '<batch>'"),
        (["wait", "nobody"], "no batch \"nobody\""),
        (["status", "nobody"], "no batch \"nobody\""),
        (["pause"], "name a batch or BATCH/JOB, or say --all"),
        (["resume"], "name a batch or BATCH/JOB, or say --all"),
        (["cancel"], "name a batch or BATCH/JOB, or say --all"),
        (["retry"], "name a batch or BATCH/JOB, or say --all"),
        (["cancel", "--all", "x"], "--all goes without names"),
        (["cancel", "nobody"], "no batch \"nobody\"; transfer status lists them"),
        (["forget", "nobody"], "no batch \"nobody\""),
        (["dance"], "dance is no command; `transfer --help` lists the commands"),
    ]

    @Test(arguments: wrong) func invalidUsageEndsWithStatus64(_ arguments: [String], _ message: String) async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            let result = try await place.command(arguments).run()
            #expect(result.exitCode == 64, "\(result)")
            #expect(result.standardError.contains(message), "\(result)")
            #expect(result.standardOutput.isEmpty)
            #expect(server.requests.isEmpty)
            #expect(!place.folder.exists("a"))
        }
    }

    /// Wrong usage of each verb, found by the parser or by the verb itself.
    private static let usages: [(words: [String], variable: String?)] = [
        (["run"], nil), (["run", "jobs.json"], "TRANSFER_RETRY"), (["get"], nil),
        (["get", "http://127.0.0.1:9/x"], "TRANSFER_RETRY"), (["put", "a"], nil),
        (["put", "jobs.json", "http://127.0.0.1:9/x"], "TRANSFER_RETRY"), (["copy", "http://a.example/x"], nil),
        (["watch"], nil),
        (["watch", ".", "--to", "http://127.0.0.1:9/"], "TRANSFER_RETRY"), (["status", "--list"], nil), (["why"], nil),
        (["verify"], nil), (["network", "x"], nil), (["config", "a", "b"], nil), (["config", "gopher://h/"], nil),
        (["work"], nil), (["work", "--queue", "here"], nil), (["config", "ftp:x"], nil),
        (["config"], "TRANSFER_CONCURRENCY"), (["wait"], nil), (["pause"], nil),
        (["resume"], nil), (["cancel"], nil), (["retry"], nil), (["forget", "a", "b"], nil), (["validate"], nil),
        (["top", "a", "b"], nil),
    ]

    @Test(arguments: usages) func eachVerbHasItsOwnUsage(_ words: [String], _ variable: String?) async throws {
        let place = try Workplace()
        try place.jobs([download("http://127.0.0.1:9/x", to: "a")])
        var command = place.command(words)
        if let variable { command.environment[variable] = "many" }
        let result = try await command.run()
        #expect(result.exitCode == 64, "\(result)")
        #expect(result.standardError.contains("Usage: transfer \(words[0]) "), "\(result)")
        #expect(result.standardError.contains("transfer \(words[0]) --help"), "\(result)")
        #expect(result.standardOutput.isEmpty)
    }

    @Test func everyVerbsUsageIsChecked() async throws {
        let place = try Workplace()
        let dump = try JSONSerialization.jsonObject(
            with: try await place.run("--experimental-dump-help").standardOutputData)
        let command = (dump as? [String: Any])?["command"] as? [String: Any]
        let verbs = (command?["subcommands"] as? [[String: Any]] ?? []).compactMap { $0["commandName"] as? String }
        // The arguments of `serve` belong to a different program, those of the fronts to other tools.
        let others: Set = ["help", "serve", "curl", "wget", "aria2c"]
        #expect(Set(verbs).subtracting(others) == Set(Self.usages.map { $0.words[0] }))
        for verb in verbs where !others.contains(verb) {
            let result = try await place.run(verb, "--no-such-option")
            #expect(result.exitCode == 64 && result.standardError.contains("transfer \(verb) has no --no-such-option"))
        }
    }

    /// Read as UTF-8 it would be the name of a different file.
    @Test func anArgumentThatIsNotUTF8IsRefused() async throws {
        let place = try Workplace()
        try place.folder.write("another's", to: "r\u{FFFD}")
        let command = ChildProcess.Command(
            "/bin/sh",
            ["-c", #"exec "$0" put "$(printf 'r\377')" http://127.0.0.1:9/x"#, try TransferCommand.binary()],
            environment: place.command([]).environment, workingFolder: place.folder.path)
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 64, "\(result)")
        #expect(result.standardError.contains("not UTF-8"), "\(result)")
    }

    @Test(arguments: ["run", "validate"]) func aJobFileThatIsNotThereEndsWith66(_ verb: String) async throws {
        let place = try Workplace()
        let result = try await place.run(verb, "missing.json")
        #expect(result.exitCode == 66, "\(result)")
        #expect(result.standardError == "transfer: cannot read missing.json: no such file or directory\n")
        #expect(try place.traces() == [])
    }

    @Test func aJobFileThatIsAFolderEndsWith66() async throws {
        let place = try Workplace()
        try place.folder.folder("jobs.json")
        let result = try await place.run("run", "jobs.json")
        #expect(result.exitCode == 66, "\(result)")
        #expect(result.standardError == "transfer: cannot read jobs.json: it is a folder\n")
    }

    @Test func aJobFileThatMayNotBeReadEndsWith66() async throws {
        let place = try Workplace()
        try place.jobs([])
        let result = try await OrdinaryUser.run(["run", "jobs.json"], in: place) {
            chmod(place.folder.path("jobs.json"), 0)
        }
        #expect(result.exitCode == 66, "\(result)")
        #expect(result.standardError == "transfer: cannot read jobs.json: permission denied\n")
    }

    @Test func oneOfTwoJobFilesMissingStartsNothing() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a")])
            let result = try await place.run("run", "jobs.json", "missing.json")
            #expect(result.exitCode == 66, "\(result)")
            #expect(server.requests.isEmpty)
            #expect(try place.traces() == [], "not even the state folder is made")
        }
    }

    @Test(arguments: [["--help"], ["run", "--help"], ["--version"]])
    func helpAndVersionSucceedOnStandardOutput(_ arguments: [String]) async throws {
        let place = try Workplace()
        let result = try await place.command(arguments).run()
        #expect(result.exitCode == 0)
        #expect(result.standardError.isEmpty)
        #expect(!result.standardOutput.isEmpty)
        #expect(try place.traces() == [])
    }

    /// A missing batch must not create a state folder.
    @Test(arguments: [["status"], ["status", "x"], ["wait", "x"], ["forget", "x"]])
    func readingVerbsChangeNothing(_ arguments: [String]) async throws {
        let place = try Workplace()
        _ = try await place.command(arguments).run()
        #expect(try place.traces() == [])
    }
}
