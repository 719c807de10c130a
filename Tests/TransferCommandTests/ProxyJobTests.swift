import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The `proxy` of job files and of the environment: the credentials, and their secrecy.
@Suite("Proxies of jobs", .timeLimit(.minutes(2)))
struct ProxyJobTests {
    /// A password with all characters that have a meaning in a URL.
    private static let password = "p@s:s/w?ö%41#hunter"
    private static let basic = TestProxy.Authentication.basic(user: "m@e", password: password)

    private func withPeers(
        _ kind: TestProxy.Kind = .http, _ authentication: TestProxy.Authentication = basic,
        _ body: (TestServer, TestProxy, Workplace) async throws -> Void
    ) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("hello"))
            try await withTestProxy(kind, authentication: authentication) { proxy async throws in
                try await body(server, proxy, Workplace())
            }
        }
    }

    private func named(_ server: TestServer, _ path: String = "/x") -> String {
        "http://made-up.example:\(server.port)\(path)"
    }

    private func member(_ proxy: TestProxy, _ scheme: String = "http") -> String {
        #""proxy": {"url": "\#(proxy.url(scheme))", "user": {"file": "user"}, "password": {"env": "PASSWORD"}}"#
    }

    private func run(_ place: Workplace, _ password: String? = Self.password, _ options: String...) async throws
        -> ProcessResult
    {
        try place.folder.write("m@e\n", to: "user")
        var command = place.command(["run", "jobs.json", "--json", "-v"] + options)
        command.environment["PASSWORD"] = password
        return try await command.run()
    }

    private struct Way: Sendable {
        var kind: TestProxy.Kind
        var scheme: String
        var authentication = ProxyJobTests.basic
    }

    @Test(arguments: [
        Way(kind: .http, scheme: "http"), Way(kind: .socks5, scheme: "socks5h"),
        Way(kind: .http, scheme: "http", authentication: .digest(user: "m@e", password: ProxyJobTests.password)),
    ])
    private func onlyTheProxyGetsThePassword(way: Way) async throws {
        try await withPeers(way.kind, way.authentication) { server, proxy, place in
            try place.jobs([download(named(server), to: "x", member(proxy, way.scheme))])
            let plan = try await run(place, Self.password, "--dry-run")
            #expect(plan.exitCode == 0 && proxy.records.isEmpty)
            let result = try await run(place)
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("x") == "hello")
            #expect(proxy.records.last?.isAllowed == true && proxy.records.last?.scheme != nil)
            #expect(server.requests.count == 1)
            #expect(server.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
            let status = try await place.run("status", "--json")
            for output in [plan, result, status] { #expect(!"\(output)".contains("hunter")) }
            #expect(try place.secretIsNowhere("hunter"))
        }
    }

    @Test func aWrongPasswordIsRefusedWithoutRepeatingIt() async throws {
        try await withPeers { server, proxy, place in
            try place.jobs([download(named(server), to: "x", member(proxy))])
            let result = try await run(place, "wronghunter")
            let event = try #require(try result.events().named("job.failed").first, "\(result)")
            #expect(event["code"]?.string == "proxyRefused" && event["attempts"]?.int == 1)
            #expect(event["message"]?.string == "the proxy \(proxy.url()) refused the credentials (407)")
            let status = try await place.run("status", "--failed", "--json")
            #expect(!"\(result)\(status)".contains("hunter"))
            #expect(try place.secretIsNowhere("hunter"))
            #expect(server.requests.isEmpty)
        }
    }

    /// The schemes are those of a plain request, and of a request for a tunnel.
    @Test(arguments: ["http", "https"]) func aProxyThatFindsEveryAnswerStaleIsAskedAFewTimes(_ scheme: String)
        async throws
    {
        try await withPeers(.http, .staleDigest) { _, proxy, place in
            try place.jobs([download("\(scheme)://made-up.example/x", to: "x", member(proxy))])
            let result = try await run(place)
            let event = try #require(try result.events().named("job.failed").first, "\(result)")
            #expect(event["code"]?.string == "proxyRefused")
            #expect((2...8).contains(proxy.records.count), "\(proxy.records.count) requests")
        }
    }

    /// A wait that a proxy asks for spends no attempt, for a tunnel and for a plain request.
    @Test(arguments: ["http", "https"], [503, 429]) func aProxyMayAskForTime(_ scheme: String, _ status: Int)
        async throws
    {
        try await withPeers(.http, .none) { _, proxy, place in
            proxy.refuse(status, retryAfter: 1, times: 1)
            let job = #""proxy": "\#(proxy.url())", "retry": {"limit": 1, "scale": "10ms", "jitter": false}"#
            try place.jobs([download("\(scheme)://made-up.example/x", to: "x", job)])
            let result = try await run(place)
            // No server is there: the attempt and the one retry get a 502.
            #expect(proxy.records.count == 3, "\(result)")
        }
    }

    private struct Dead: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The proxy's URL; `nil` for a proxy that refuses every tunnel.
        var proxy: String?
        var host: String?
        var message: String
    }

    /// The named host is the one where a user will look for the fault.
    @Test(arguments: [
        Dead(
            testDescription: "refused", proxy: "http://127.0.0.1:1", host: "127.0.0.1:1",
            message: "cannot connect to the proxy http://127.0.0.1:1: connection refused"),
        Dead(
            testDescription: "not found", proxy: "http://px.invalid:3128", host: "px.invalid:3128",
            message: "cannot find the proxy px.invalid: "),
        Dead(testDescription: "a refused tunnel", message: "refused the connection to made-up.example (502)"),
    ]) private func aProxyThatFailsIsTheHostThatFailed(_ dead: Dead) async throws {
        try await withPeers(.http, .none) { _, proxy, place in
            let host = dead.host ?? "127.0.0.1:\(proxy.port)"
            let rules = #""proxy": "\#(dead.proxy ?? proxy.url())", "retry": {"limit": 1, "scale": "10ms"}"#
            try place.jobs([download("https://made-up.example/x", to: "x", #""id": "x", \#(rules)"#)])
            let result = try await run(place, nil, "--report", "report")
            let events = try result.events()
            let end = try #require(events.named("job.failed").first, "\(result)")
            #expect(end["host"]?.string == host && end["message"]?.string?.contains(dead.message) == true, "\(end)")
            #expect(events.named("job.retrying").first?["host"]?.string == host, "\(result)")
            #expect(try place.folder.text("report").contains(#""host":"\#(host)""#))
            let status = try await place.run("status", "--failed")
            #expect(status.standardOutput.contains(host), "\(status)")
            let why = try await place.run("why", "batch/x")
            #expect(why.standardOutput.contains(host) && why.standardOutput.contains(dead.message), "\(why)")
        }
    }

    @Test func nullIsNoProxyForAnyEnvironment() async throws {
        try await withPeers { server, _, place in
            server.serve("/y", .text("there"))
            try place.jobs([
                download(server.url("/x"), to: "x", #""proxy": null"#), download(server.url("/y"), to: "y"),
            ])
            for options in [["run", "jobs.json"], ["get", server.url("/y"), "--proxy", "", "-o", "z"]] {
                var command = place.command(options + ["--json", "--retry", "0"])
                command.environment["http_proxy"] = "http://127.0.0.1:1"
                let result = try await command.run()
                if options[0] == "run" {
                    #expect(try result.events().named("job.failed").map { $0["to"]?.string } == ["y"], "\(result)")
                    #expect(try place.folder.text("x") == "hello")
                } else {
                    #expect(result.exitCode == 0, "\(result)")
                }
            }
            var command = place.command(["config", "http://h.example/"])
            command.environment["http_proxy"] = "http://me:hunter2@px.lan:1"
            let shown = try await command.run()
            let row = shown.standardOutput.split(separator: "\n").first { $0.hasPrefix("proxy ") }
            #expect(row?.split(separator: " ") == ["proxy", #""http://px.lan:1""#, "$http_proxy"], "\(shown)")
            #expect(!"\(shown)".contains("hunter2"))
        }
    }

    @Test func aMissingPasswordFailsTheJobBeforeTheProxyIsAsked() async throws {
        try await withPeers { server, proxy, place in
            try place.jobs([download(named(server), to: "x", member(proxy))])
            let result = try await run(place, nil)
            let event = try #require(try result.events().named("job.failed").first, "\(result)")
            #expect(event["message"]?.string == "the environment variable PASSWORD is not set")
            #expect(proxy.records.isEmpty)
        }
    }

    /// The jobs go to one TLS server through one proxy, the last without a password.
    @Test func aTunnelIsNotSharedBetweenPasswords() async throws {
        let authority = try await TestAuthority.shared()
        var options = NginxServer.Options()
        options.certificate = try await authority.issue().server
        let nginx = try await NginxServer.start(options: options)
        try Data("hello".utf8).write(to: URL(fileURLWithPath: nginx.root + "/x"))
        try await withPeers { _, proxy, place in
            let ca = #""tls": {"ca": "\#(authority.anchors)"}"#
            try place.jobs([
                download(nginx.url("/x"), to: "known", #""id": "known", \#(ca), \#(member(proxy))"#),
                download(
                    nginx.url("/x"), to: "same", #""id": "same", "needs": ["known"], \#(ca), \#(member(proxy))"#),
                download(
                    nginx.url("/x"), to: "nobody",
                    #""id": "nobody", "needs": ["same"], \#(ca), "proxy": "\#(proxy.url())""#),
            ])
            let result = try await run(place)
            let events = try result.events()
            #expect(events.ends == ["known": "finished", "same": "finished", "nobody": "failed"], "\(result)")
            #expect(
                events.named("job.failed").first?["message"]?.string
                    == "the proxy \(proxy.url()) asks for credentials (407)")
            // Two jobs with the same credentials share one tunnel.
            #expect(proxy.records.filter(\.isAllowed).count == 1)
        }
    }

    @Test func theEnvironmentsProxiesMayHaveCredentials() async throws {
        let authority = try await TestAuthority.shared()
        var options = NginxServer.Options()
        options.certificate = try await authority.issue().server
        let nginx = try await NginxServer.start(options: options)
        try Data("secret".utf8).write(to: URL(fileURLWithPath: nginx.root + "/x"))
        try await withPeers(.http, .basic(user: "me", password: "p w:envhunter")) { server, proxy, place in
            try place.jobs([
                download(named(server), to: "plain"),
                download(nginx.url("/x"), to: "tunnelled", #""tls": {"ca": "\#(authority.anchors)"}"#),
            ])
            var command = place.command(["run", "jobs.json", "--json", "-v"])
            for name in ["http_proxy", "https_proxy"] {
                command.environment[name] = proxy.url(userinfo: "me:p%20w%3Aenvhunter")
            }
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(result)")
            #expect(try place.folder.text("plain") == "hello" && place.folder.text("tunnelled") == "secret")
            #expect(Set(proxy.records.filter(\.isAllowed).map(\.action)) == ["FORWARD", "CONNECT"])
            #expect(!"\(result)".contains("envhunter"))
            #expect(try place.secretIsNowhere("envhunter"))
        }
    }

    @Test func aRedirectUsesTheProxyOfItsOwnHost() async throws {
        try await withPeers(.http, .none) { server, proxy, place in
            server.script("/away", [], afterwards: .redirect(to: server.url("/x")))
            try place.jobs([
                download(named(server, "/away"), to: "x", #""proxy": "\#(proxy.url())", "noProxy": "127.0.0.1""#)
            ])
            let result = try await run(place)
            #expect(result.exitCode == 0, "\(result)")
            #expect(proxy.records.map(\.target) == ["made-up.example:\(server.port)"])
            #expect(server.requests.map(\.path) == ["/away", "/x"])
        }
    }
}
