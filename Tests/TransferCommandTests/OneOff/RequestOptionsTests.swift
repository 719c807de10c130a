import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The options of requests: the same for all verbs, each a key of the job file, whose own value takes precedence.
@Suite(.timeLimit(.minutes(1))) struct RequestOptionsTests {
    @Test func fieldsAreSentByEveryVerb() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            let sink = server.acceptUploads("/in/f")
            try place.folder.write("f", to: "f")
            try place.jobs([download(server.url("/a"), to: "b")])
            let options = ["-A", "agent/1", "-e", "http://from.example/", "-H", "X-More: 1"]
            let commands = [["get", server.url("/a")], ["put", "f", server.url("/in/f")], ["run", "jobs.json"]]
            for command in commands {
                let result = try await place.command(command + options).run()
                #expect(result.exitCode == 0, "\(result)")
            }
            #expect(sink.uploads.count == 1)
            for request in server.requests {
                #expect(request.headers["User-Agent"] == "agent/1")
                #expect(request.headers["Referer"] == "http://from.example/")
                #expect(request.headers["X-More"] == "1")
            }
            #expect(server.requests.count == 3)
        }
    }

    @Test func aJobsOwnKeyIsStrongerThanAnOptionAndAnOptionThanTheFilesDefaults() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            for name in ["a", "b"] { server.serve("/\(name)", .text(name)) }
            try place.jobs(
                [
                    download(server.url("/a"), to: "a", #""headers": {"X-Who": "job"}"#),
                    download(server.url("/b"), to: "b"),
                ],
                extra: #""defaults": {"headers": {"X-Who": "file", "X-Else": "file"}}, "#)
            #expect(try await place.runJobs("-H", "X-Who: option").exitCode == 0)
            #expect(server.requests(to: "/a").map { $0.headers["X-Who"] } == ["job"])
            #expect(server.requests(to: "/b").map { $0.headers["X-Who"] } == ["option"])
            #expect(server.requests.allSatisfy { $0.headers["X-Else"] == "file" })
        }
    }

    /// A new field for a finished batch does not repeat it.
    @Test func anotherOptionMakesNoOtherJob() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/a", .text("a"))
            try place.jobs([download(server.url("/a"), to: "a", #""headers": {"X-A": "1"}"#)])
            #expect(try await place.runJobs().exitCode == 0)
            for options in [["-H", "X-B: 1"], ["-A", "me"], ["--retry", "3"], ["-H", "X-A: 2"]] {
                let again = try await place.command(["run", "jobs.json", "--json"] + options).run()
                #expect(try again.events().ends == ["a": "kept"], "\(options): \(again)")
            }
            #expect(server.requests.count == 1)
        }
    }

    /// A fault is reported with the option's name, before any request.
    @Test(
        arguments: [
            (["--proxy", "gopher://p"], "--proxy: unsupported scheme"),
            (
                ["--pinnedpubkey", "sha256//short"],
                "'sha256//short' is invalid for '--pinnedpubkey <digests>': it takes sha256// and 44 characters"
            ),
            (["--retry", "-1"], "--retry"),
            (["--timeout", "soon"], "--timeout"),
            (["--timeout", "0"], "'0' is invalid for '--timeout <time>': it takes a time above 0"),
            (["--proxy-user", "me"], "--proxy-user and --proxy-password go together"),
            (
                ["--proxy", "http://p", "--proxy-user", "me:secret", "--proxy-password", "$P"],
                "--proxy-user is a name alone"
            ),
            (["--user", "me:secret"], "--user is a name alone"),
            (["--user", "me"], "a user needs --password or --netrc"),
            (["--password", "secret"], "--password takes '$VARIABLE' or '@FILE'"),
            (["--cookie", "name=secret"], "name a file of cookies"),
            (["-H", "Authorization: Bearer secret"], "the value of Authorization is a secret"),
            (["-H", "no colon"], "--header takes"),
            (["-H", "X-A: 1", "-H", "x-a: 2"], "x-a is given twice"),
            (["-A", "me", "-H", "User-Agent: you"], "User-Agent is given twice"),
            (["-i", "list", "-X", "PUT"], "--method and --data go with URLs"),
            (["-o", "-", "--if-exists", "skip"], "--if-exists is for files"),
            (["--mirror", "https://me@m.example/x"], "--mirror: its URL cannot name a user"),
        ] as [([String], String)])
    func aWrongValueNamesItsOption(options: [String], answer: String) async throws {
        let place = try Workplace()
        let result = try await place.command(["get", "http://127.0.0.1:9/a"] + options).run()
        #expect(result.exitCode == 64 && result.standardError.contains(answer), "\(result)")
        #expect(!result.standardError.contains("secret\"") && !result.standardError.contains("me:secret"))
        #expect(try place.traces().isEmpty)
    }

    @Test func aLoginOptionAppliesToAllJobsOfAFile() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.handle("GET", "/a") { request in
                request.headers["Authorization"] == "Basic bWU6c2VjcmV0"
                    ? Response(status: 200, headers: [:], body: .text("a"))
                    : Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""], body: .text(""))
            }
            try place.jobs([download(server.url("/a"), to: "a")])
            var command = place.command(["run", "jobs.json", "-u", "me", "--password", "$SECRET"])
            command.environment["SECRET"] = "secret"
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
        }
    }

    /// A file of cookies as browsers' add-ons, curl and wget write it: each server gets its own cookies.
    @Test func cookiesOfAFileGoToTheirServers() async throws {
        try await withTestServer { server in
            let place = try Workplace()
            server.serve("/in/a", .text("a"))
            server.serve("/b", .text("b"))
            try place.folder.write(
                """
                # Netscape HTTP Cookie File
                127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tabc
                #HttpOnly_127.0.0.1\tFALSE\t/in\tFALSE\t4102444800\tinner\tx y
                127.0.0.1\tFALSE\t/\tTRUE\t0\ttls\tonly
                127.0.0.1\tFALSE\t/in\tFALSE\t4102444800.5\tempty
                127.0.0.1\tFALSE\t/\tFALSE\t1000\tpast\tgone
                other.example\tTRUE\t/\tFALSE\t0\telse\twhere
                nonsense
                """, to: "cookies.txt")
            let result = try await place.run("get", "-b", "cookies.txt", server.url("/in/a"), server.url("/b"))
            #expect(result.exitCode == 0, "\(result)")
            #expect(server.requests(to: "/in/a").map { $0.headers["Cookie"] } == ["inner=x y; empty=; session=abc"])
            #expect(server.requests(to: "/b").map { $0.headers["Cookie"] } == ["session=abc"])
            let missing = try await place.run("get", "--load-cookies", "nowhere.txt", server.url("/b"))
            #expect(missing.exitCode == 66 && missing.standardError.contains("nowhere.txt"), "\(missing)")
        }
    }

    /// A certificate without a known authority is refused. It is accepted only with the option, which is reported.
    @Test func anyCertificateIsAcceptedOnlyWithTheOption() async throws {
        let issued = try await TestAuthority.shared().issue()
        var options = NginxServer.Options()
        options.certificate = issued.server
        let server = try await NginxServer.start(options: options)
        try Data("hello".utf8).write(to: URL(fileURLWithPath: server.root + "/a"))
        let place = try Workplace()
        let refused = try await place.run("get", "-o", "a", server.url("/a"))
        #expect(refused.exitCode == 1 && refused.standardError.contains("certificate"), "\(refused)")
        let taken = try await place.run("get", "-k", "-o", "a", server.url("/a"))
        #expect(taken.exitCode == 0 && taken.standardError.contains("without a check of certificates"), "\(taken)")
        #expect(try place.folder.text("a") == "hello")
        try place.jobs([download(server.url("/a"), to: "b", #""tls": {"insecure": true}"#)])
        let job = try await place.run("run", "jobs.json")
        #expect(job.exitCode == 0 && job.standardError.contains("1 job without a check of certificates"), "\(job)")
        try place.jobs([download(server.url("/a"), to: "c")], extra: #""defaults": {"tls": {"insecure": true}}, "#)
        let all = try await place.run("run", "jobs.json")
        #expect(all.exitCode == 65 && all.standardError.contains("\"insecure\" is for single jobs"), "\(all)")
    }

    @Test(arguments: [(["--http1.1"], "HTTP/1.1"), ([], "HTTP/2.0")])
    func theVersionOfHTTPCanBeChosen(options: [String], version: String) async throws {
        let issued = try await TestAuthority.shared().issue()
        var nginx = NginxServer.Options()
        nginx.certificate = issued.server
        nginx.location = "return 200 $server_protocol;"
        let server = try await NginxServer.start(options: nginx)
        let place = try Workplace()
        let result = try await place.command(["get", "-k", "-o", "v", server.url("/a")] + options).run()
        #expect(result.exitCode == 0, "\(result)")
        #expect(try place.folder.text("v") == version)
    }
}
