import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// Configuration files of the user and of the machine. Their settings apply to every verb, and change no finished
/// batch.
@Suite(.timeLimit(.minutes(1))) struct ConfigurationTests {
    static let own = "home/.config/transfer/config.json"

    /// Writes the user's file, which other users cannot write.
    private func configure(_ place: Workplace, _ text: String, at path: String = own) throws {
        try place.folder.write("{\"version\": 1,\n\(text)}\n", to: path)
        chmod(place.folder.path(path), 0o644)
        chmod(place.folder.path((path as NSString).deletingLastPathComponent), 0o755)
    }

    @Test func theConfigurationAppliesToEveryVerb() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            let sink = server.acceptUploads("/in/f")
            try place.folder.write("f", to: "f")
            try place.folder.write("\(server.url("/a"))\n", to: "list.txt")
            try place.jobs([download(server.url("/a"), to: "b")])
            try configure(
                place,
                #""defaults": {"headers": {"X-All": "1"}}, "origins": {"127.0.0.1": {"headers": {"X-Own": "2"}}}"#)
            let commands = [
                ["get", "-o", "x", server.url("/a")], ["get", "-i", "list.txt", "-d", "in"],
                ["put", "f", server.url("/in/f")], ["run", "jobs.json"],
            ]
            for command in commands {
                let result = try await place.command(command).run()
                #expect(result.exitCode == 0, "\(result)")
            }
            #expect(sink.uploads.count == 1)
            #expect(server.requests.count == 4)
            for request in server.requests {
                #expect(request.headers["X-All"] == "1" && request.headers["X-Own"] == "2", "\(request)")
            }
            for command in commands {
                #expect(try await place.command(command + ["--no-config", "--verbose"]).run().exitCode == 0)
            }
            #expect(server.requests.dropFirst(4).allSatisfy { $0.headers["X-All"] == nil })
        }
    }

    @Test func theConfigurationAppliesToAWatchedFolder() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            let sink = server.acceptUploads("/in/f")
            try place.folder.write("f", to: "out/f")
            try configure(place, #""defaults": {"headers": {"X-All": "1"}}"#)
            let process = try place.command(["watch", "out", "--to", server.url("/in/"), "--json"]).start()
            try await process.event("job.finished")
            process.kill(SIGTERM)
            _ = try await process.result()
            #expect(sink.uploads.count == 1 && server.requests.allSatisfy { $0.headers["X-All"] == "1" })
        }
    }

    /// The order of precedence is options, variables, the job's own key, its file, and the user's file.
    @Test func theStrongerSourceOfASettingIsReported() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b", "c", "d", "e"] { server.serve("/\(name)", .text(name)) }
            try configure(place, #""defaults": {"headers": {"User-Agent": "config", "X-Two": "config"}}"#)
            let agent = #""defaults": {"headers": {"User-Agent": "file"}}, "#
            func run(_ name: String, _ own: String, _ extra: String, _ options: [String], _ variable: String?)
                async throws
            {
                try place.jobs([download(server.url("/\(name)"), to: name, own)], extra: extra, name: name)
                var command = place.command(["run", "jobs.json"] + options)
                command.environment["TRANSFER_USER_AGENT"] = variable
                let result = try await command.run()
                #expect(result.exitCode == 0, "\(result)")
            }
            try await run("a", "", "", [], nil)
            try await run("b", "", agent, [], nil)
            try await run("c", "", agent, [], "variable")
            try await run("d", "", agent, ["-A", "option"], "variable")
            try await run("e", #""headers": {"User-Agent": "job"}"#, agent, ["-A", "option"], "variable")
            #expect(
                server.requests.map { $0.headers["User-Agent"] } == ["config", "file", "variable", "option", "job"])
            #expect(server.requests.allSatisfy { $0.headers["X-Two"] == "config" })
        }
    }

    /// Headers, proxy and limits are edited between two runs: no file is fetched again.
    @Test func anEditedConfigurationRepeatsNoFinishedBatch() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a", #""headers": {"X-Job": "1"}"#)])
            for text in [
                #""defaults": {"headers": {"X-A": "1"}}"#, #""defaults": {"headers": {"X-A": "2", "X-Job": "2"}}"#,
                #""defaults": {"proxy": "http://127.0.0.1:9", "success": [201]}, "limits": {"concurrency": 1}"#,
                #""origins": {"127.0.0.1": {"perHost": 1, "ssh": {"user": "me"}, "limits": {"limitRate": "1M"}}}"#,
            ] {
                try configure(place, text)
                let result = try await place.runJobs()
                #expect(result.exitCode == 0, "\(text): \(result)")
            }
            unlink(place.folder.path(Self.own))
            #expect(try await place.runJobs().events().ends == ["a": "kept"])
            #expect(server.requests.count == 1)
            #expect(server.requests.first?.headers["X-A"] == "1")
        }
    }

    @Test func aLoginIsForItsOriginAlone() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle("GET", "/a") { request in
                request.headers["Authorization"] == "Bearer secret"
                    ? Response(status: 200, headers: [:], body: .text("a"))
                    : Response(status: 401, headers: [:], body: .text(""))
            }
            for (origin, status) in [("127.0.0.1", 0 as Int32), ("other.example", 1)] {
                try configure(place, #""origins": {"\#(origin)": {"auth": {"bearer": {"env": "TOKEN"}}}}"#)
                var command = place.command(["get", "-o", origin, server.url("/a")])
                command.environment["TOKEN"] = "secret"
                let result = try await command.run()
                #expect(result.exitCode == status, "\(result)")
            }
        }
    }

    @Test func aFileThatOthersCanWriteIsNotRead() async throws {
        let place = try Workplace()
        for (path, mode) in [(Self.own, 0o666 as mode_t), ("home/.config/transfer", 0o777)] {
            try configure(place, #""defaults": {}"#)
            chmod(place.folder.path(path), mode)
            let result = try await place.run("get", "http://127.0.0.1:9/a")
            #expect(result.exitCode == 66, "\(result)")
            #expect(
                result.standardError.contains("\(path) can be written by others")
                    && result.standardError.contains("chmod go-w"), "\(result)")
            let config = try await place.run("config")
            #expect(config.exitCode == 66, "\(config)")
        }
    }

    @Test func aFaultIsReportedWithItsPlaceAndNothingIsStarted() async throws {
        let place = try Workplace()
        try configure(place, #""defaults": {"tiemout": 3}"#)
        try place.jobs([download("http://127.0.0.1:9/a", to: "a")])
        for command in [["run", "jobs.json"], ["get", "http://127.0.0.1:9/a"], ["config"], ["network"]] {
            let result = try await place.command(command).run()
            #expect(result.exitCode == 65, "\(result)")
            #expect(
                result.standardError.contains(
                    "config.json:2:14: error: unknown key \"tiemout\"; did you mean \"timeout\"?"),
                "\(result)")
        }
        #expect(!place.folder.exists("state"))
        let missing = try await place.run("get", "--config", "nowhere.json", "http://127.0.0.1:9/a")
        #expect(missing.exitCode == 66 && missing.standardError.contains("nowhere.json: no such file"), "\(missing)")
        let both = try await place.run("get", "--config", "c", "--no-config", "http://127.0.0.1:9/a")
        #expect(both.exitCode == 64, "\(both)")
    }

    @Test func showsSettingsInEffectWithTheirSources() async throws {
        let place = try Workplace()
        try configure(
            place,
            """
            "defaults": {"retry": {"limit": 20}},
            "limits": {"concurrency": 9},
            "origins": {
              "https://cdn.example": {"auth": {"user": "me", "password": {"credential": "cdn"}}, "perHost": 4}}
            """, at: "own/transfer/config.json")
        func values(_ arguments: String...) async throws -> [String: String] {
            var command = place.command(["config", "--json"] + arguments)
            command.environment["XDG_CONFIG_HOME"] = place.folder.path("own")
            command.environment["TRANSFER_TIMEOUT"] = "7s"
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(result.standardOutput.utf8)) as? [String: Any])
            let files = try #require(object["files"] as? [[String: Any]])
            #expect(
                files.map { $0["path"] as? String } == [
                    "/etc/transfer/config.json", place.folder.path("own/transfer/config.json"),
                ])
            #expect(files.last?["read"] as? Bool == true)
            let values = try #require(object["values"] as? [[String: Any]])
            return Dictionary(
                values.map { value in
                    let from = (value["from"] as? String ?? "").split(separator: "/").last ?? ""
                    return ("\(value["key"] ?? "")", "\(from):\(value["line"] ?? 0)")
                }, uniquingKeysWith: { one, _ in one })
        }
        let all = try await values()
        #expect(all["defaults.retry.limit"] == "config.json:2" && all["defaults.retry.base"] == "built in:0")
        #expect(all["limits.concurrency"] == "config.json:3" && all["defaults.timeout"] == "$TRANSFER_TIMEOUT:0")
        #expect(all[#"origins["https://cdn.example"].auth"#] == "config.json:5", "\(all)")
        let cdn = try await values("https://cdn.example/x")
        #expect(cdn["auth"] == "config.json:5" && cdn["origin.perHost"] == "config.json:5", "\(cdn)")
        #expect(cdn["retry.limit"] == "config.json:2")
        #expect(try await values("https://other.example/x")["auth"] == nil)
        let table = try await place.run("config", "--config", "own/transfer/config.json", "cdn.example/x")
        #expect(
            table.standardOutput.contains(#"{"user": "me", "password": {"credential": "cdn"}}"#)
                && table.standardOutput.contains("own/transfer/config.json:5"), "\(table)")
    }

    /// The machine's file is one of the test's files, through a namespace of its own.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/unshare")))
    func theMachinesFileIsWeakerThanTheUsers() async throws {
        let place = try Workplace()
        try configure(place, #""defaults": {"timeout": 3}"#)
        try place.folder.write(
            #"{"version": 1, "defaults": {"timeout": 1, "maxTime": 4}}"#, to: "machine/config.json")
        let script = """
            mount -t tmpfs tmpfs /etc && mkdir /etc/transfer && cp machine/config.json /etc/transfer/ || exit 99
            chmod -R go-w /etc/transfer
            exec "$@"
            """
        let command = place.command(["config", "--json"])
        let result = try await ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/unshare",
                ["--user", "--map-root-user", "--mount", "/bin/sh", "-c", script, "sh", try TransferCommand.binary()]
                    + command.arguments, environment: command.environment, workingFolder: command.workingFolder)
        ).result()
        // Some machines do not allow such namespaces to every user.
        if result.exitCode == 99 || result.standardError.contains("unshare") { return }
        #expect(result.exitCode == 0, "\(result)")
        let values = result.standardOutput.components(separatedBy: #"{"key":"#)
        func line(_ key: String) -> String { values.first { $0.hasPrefix("\"defaults.\(key)\"") } ?? "" }
        #expect(line("timeout").contains(#""value":3"#) && line("timeout").contains(Self.own), "\(result)")
        #expect(line("maxTime").contains(#""from":"/etc/transfer/config.json""#), "\(result)")
    }

    @Test(arguments: [
        ("TRANSFER_RETRY", "many"), ("TRANSFER_PROXY", "gopher://p"), ("TRANSFER_CONCURRENCY", "0"),
        ("TRANSFER_PER_HOST", "0"), ("TRANSFER_PER_HOST", "many"),
        ("TRANSFER_LIMIT_RATE", "fast"), ("TRANSFER_TIMEOUT", "soon"),
    ]) func aWrongVariableIsNamed(name: String, value: String) async throws {
        let place = try Workplace()
        var command = place.command(["get", "http://127.0.0.1:9/a"])
        command.environment[name] = value
        let result = try await command.run()
        #expect(result.exitCode == 64 && result.standardError.contains(name), "\(result)")
    }
}

/// Links that the configuration declares as metered.
@Suite(.enabled(if: NetworkNamespaces.areWanted), .timeLimit(.minutes(2)))
struct MeteredByConfigurationTests {
    @Test func aLinkIsMeteredByTheConfiguration() async throws {
        try await NetworkStage.with { stage in
            let sum = try await stage.serve("file", mebibytes: 1)
            let path = ConfigurationTests.own
            func say(_ metered: Bool) throws {
                try stage.place.folder.write(
                    #"{"version": 1, "links": {"eth*": {"metered": \#(metered)}}}"#, to: path)
                chmod(stage.place.folder.path(path), 0o600)
            }
            try say(true)
            #expect(try await stage.command("network", "--json").run().standardOutput.contains(#""metered":"yes""#))
            try stage.place.jobs([
                download(
                    stage.url("/file"), to: "file", #""checksum": "sha256:\#(sum)", "network": {"metered": "forbid"}"#)
            ])
            let process = try stage.startJobs()
            try await process.waiting(for: "network")
            let why = try await stage.command("why", "batch/file").run()
            #expect(why.standardOutput.contains("eth0      up, metered: refused by the rule"), "\(why)")
            process.kill(SIGTERM)
            _ = try await process.result()
            #expect(try stage.server.accessLog().isEmpty)
            try say(false)
            let result = try await stage.startJobs().result()
            #expect(result.exitCode == 0, "\(result)")
        }
    }
}
