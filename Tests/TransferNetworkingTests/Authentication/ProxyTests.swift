import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine
@testable import TransferNetworking

/// Runs a test with a server and a proxy. The proxy resolves invented names to this machine.
@Suite(.timeLimit(.minutes(2))) struct ProxyTests {
    private func withPeers(
        _ kind: TestProxy.Kind = .http, authentication: TestProxy.Authentication = .none, refusal: Int? = nil,
        _ body: (TestServer, TestProxy) async throws -> Void
    ) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("hello"))
            try await withTestProxy(kind, authentication: authentication, refusal: refusal) { proxy async throws in
                try await body(server, proxy)
            }
        }
    }

    private func named(_ server: TestServer, _ host: String = "made-up.example", _ path: String = "/x") -> String {
        "http://\(host):\(server.port)\(path)"
    }

    // MARK: Kinds

    @Test func anHTTPProxyGetsTheWholeURLAndLooksTheNameUp() async throws {
        try await withPeers { server, proxy async throws in
            let session = makeSession { $0.proxy = proxy.url() }
            let value = try await session.request(named(server)).serializingString().value
            #expect(value == "hello")
            #expect(proxy.records.map(\.action) == ["FORWARD"])
            #expect(proxy.records.first?.target == "made-up.example:\(server.port)")
        }
    }

    @Test func metricsSayThatAProxyWasUsed() async throws {
        try await withPeers { server, proxy async throws in
            let session = makeSession { $0.proxy = proxy.url() }
            let response = await session.request(named(server)).serializingString().response
            #expect(response.metrics?.transactionMetrics.first?.isProxyConnection == true)
        }
    }

    @Test func socks5hLetsTheProxyLookUpTheName() async throws {
        try await withPeers(.socks5) { server, proxy async throws in
            let session = makeSession { $0.proxy = proxy.url("socks5h") }
            let value = try await session.request(named(server)).serializingString().value
            #expect(value == "hello")
            #expect(proxy.records.map(\.target) == ["made-up.example:\(server.port)"])
        }
    }

    @Test func socks5LooksTheNameUpHere() async throws {
        try await withPeers(.socks5) { server, proxy async throws in
            let session = makeSession { $0.proxy = proxy.url("socks5") }
            // A name that only this process can resolve, and a name that no resolver knows.
            let value = try await session.request(named(server, "127.0.0.1")).serializingString().value
            #expect(value == "hello")
            #expect(proxy.records.map(\.target) == ["127.0.0.1:\(server.port)"])
            let failed = await session.request(named(server, "made-up.invalid")).serializingString().response
            #expect(URLError.code(of: failed.error) == .cannotFindHost)
            #expect(proxy.records.count == 1)
        }
    }

    @Test func aTunnelCarriesHTTPS() async throws {
        let folder = try TemporaryFolder("proxy")
        var options = NginxServer.Options()
        options.certificate = try await ServerCertificate.make(in: folder)
        let origin = try await NginxServer.start(options: options)
        try Data("secret".utf8).write(to: URL(fileURLWithPath: origin.root + "/x"))
        for kind in [TestProxy.Kind.http, .socks5] {
            try await withTestProxy(kind, authentication: .basic(user: "u", password: "p")) { proxy async throws in
                let session = makeSession {
                    $0.authorities = options.certificate?.path
                    $0.proxy = proxy.url(kind == .http ? "http" : "socks5h", userinfo: "u:p")
                }
                let response = await session.request("https://localhost:\(origin.port)/x").serializingString().response
                #expect(response.value == "secret", "\(String(describing: response.error))")
                #expect(response.metrics?.transactionMetrics.first?.networkProtocolName == "h2")
                #expect(proxy.records.last?.isAllowed == true)
            }
        }
    }

    /// nginx terminates TLS in front of the test proxy.
    @Test(arguments: [true, false])
    func anHTTPSProxysOwnCertificateIsVerified(_ isTrusted: Bool) async throws {
        try await withPeers(authentication: .basic(user: "u", password: "p")) { server, proxy async throws in
            let folder = try TemporaryFolder("proxy")
            let certificate = try await ServerCertificate.make(in: folder)
            let port = try LoopbackPort.free()
            var options = NginxServer.Options()
            options.main = """
                load_module /usr/lib/nginx/modules/ngx_stream_module.so;
                stream { server {
                    listen 127.0.0.1:\(port) ssl; proxy_pass 127.0.0.1:\(proxy.port);
                    ssl_certificate "\(certificate.path)"; ssl_certificate_key "\(certificate.key)";
                } }
                """
            options.certificate = certificate
            let nginx = try await NginxServer.start(options: options)
            try Data("secret".utf8).write(to: URL(fileURLWithPath: nginx.root + "/x"))
            let session = makeSession {
                $0.proxy = "https://u:p@localhost:\(port)"
                $0.authorities = certificate.path
                if isTrusted { $0.proxyAuthorities = certificate.path }
            }
            let plain = await session.request(named(server)).serializingString().response
            let tunnelled = await session.request("https://localhost:\(nginx.port)/x").serializingString().response
            if isTrusted {
                #expect(plain.value == "hello" && tunnelled.value == "secret")
                #expect(Set(proxy.records.map(\.action)) == ["FORWARD", "CONNECT"])
            } else {
                for error in [plain.error, tunnelled.error] {
                    let cause = try #require((error?.underlyingError as? URLError)?.transferError)
                    #expect(cause.code == .certificateRefused && cause.message.contains("https://localhost:\(port)"))
                }
                #expect(proxy.records.isEmpty)
            }
        }
    }

    // MARK: Credentials

    @Test(arguments: [true, false])
    func credentialsOfAnHTTPProxyAreSentAfterItAsked(_ isDigest: Bool) async throws {
        let authentication: TestProxy.Authentication =
            isDigest ? .digest(user: "u", password: "p w") : .basic(user: "u", password: "p w")
        try await withPeers(authentication: authentication) { server, proxy async throws in
            let session = makeSession { $0.proxy = proxy.url(userinfo: "u:p%20w") }
            for _ in 0..<2 {
                let value = try await session.request(named(server)).serializingString().value
                #expect(value == "hello")
            }
            #expect(proxy.records.first?.scheme == nil)
            #expect(proxy.records.filter(\.isAllowed).allSatisfy { $0.scheme == (isDigest ? "Digest" : "Basic") })
            // Credentials are sent at once after the first challenge. Digest needs reused handles, which keep the
            // nonces.
            #expect(proxy.records.count == (isDigest && !CurlLibrary.reusesHandles ? 4 : 3))
            #expect(server.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
        }
    }

    @Test func aBodyIsSentAgainAfterTheProxyAsked() async throws {
        try await withPeers(authentication: .digest(user: "u", password: "p")) { server, proxy async throws in
            let sink = server.acceptUploads("/in", answer: Response(status: 200, body: .text("ok")))
            let session = makeSession { $0.proxy = proxy.url(userinfo: "u:p") }
            let response = await session.upload(Data(count: 100_000), to: named(server, "a.example", "/in"))
                .serializingString().response
            #expect(response.value == "ok")
            #expect(sink.uploads.map(\.count) == [100_000])
        }
    }

    @Test func socksTakesAPassword() async throws {
        try await withPeers(.socks5, authentication: .basic(user: "u", password: "p")) { server, proxy async throws in
            let right = makeSession { $0.proxy = proxy.url("socks5h", userinfo: "u:p") }
            #expect(try await right.request(named(server)).serializingString().value == "hello")
            let wrong = makeSession { $0.proxy = proxy.url("socks5h", userinfo: "u:secretword") }
            let error = await wrong.request(named(server)).serializingString().response.error
            let cause = (error?.underlyingError as? URLError)?.transferError
            #expect(cause?.code == .proxyRefused && cause?.message.contains("127.0.0.1:\(proxy.port)") == true)
            #expect(!"\(String(describing: error))".contains("secretword"))
        }
    }

    @Test(arguments: [nil, "u:secretword"] as [String?])
    func a407IsAClearErrorWithoutThePassword(_ userinfo: String?) async throws {
        try await withPeers(authentication: .basic(user: "u", password: "p")) { server, proxy async throws in
            let session = makeSession { $0.proxy = proxy.url(userinfo: userinfo) }
            for url in [named(server), "https://made-up.example:\(server.port)/x"] {
                let error = await session.request(url).serializingString().response.error
                let cause = try #require((error?.underlyingError as? URLError)?.transferError)
                #expect(cause.code == .proxyRefused && cause.status == 407)
                #expect(cause.message.contains("http://127.0.0.1:\(proxy.port)"))
                #expect(cause.message.contains(userinfo == nil ? "asks for" : "refused"))
                #expect(!"\(String(describing: error)) \(cause)".contains("secretword"))
            }
            #expect(server.requests.isEmpty)
        }
    }

    // MARK: Failures

    @Test(arguments: ["http", "socks5h", "socks5", "https"])
    func aDeadProxyIsNamed(_ scheme: String) async throws {
        let port = try LoopbackPort.free()
        let session = makeSession { $0.proxy = "\(scheme)://u:secretword@127.0.0.1:\(port)" }
        let error = await session.request("http://192.0.2.1/x").serializingString().response.error
        let cause = try #require((error?.underlyingError as? URLError)?.transferError)
        #expect(cause.code == .cannotConnect || cause.code == .proxyRefused)
        #expect(cause.message.contains("proxy") && cause.message.contains("127.0.0.1:\(port)"))
        #expect(!"\(String(describing: error)) \(cause)".contains("secretword"))
    }

    @Test func aProxyThatRefusesATunnelIsNamed() async throws {
        try await withPeers(refusal: 403) { server, proxy async throws in
            let session = makeSession { $0.proxy = proxy.url() }
            let error = await session.request("https://a.example:\(server.port)/").serializingString().response.error
            let cause = try #require((error?.underlyingError as? URLError)?.transferError)
            #expect(cause.code == .proxyRefused && cause.message.contains("403"))
            #expect(cause.message.contains("a.example") && !cause.isTransient)
        }
    }

    @Test func aSOCKSProxyThatRefusesIsNamed() async throws {
        try await withPeers(.socks5, refusal: 1) { server, proxy async throws in
            let session = makeSession { $0.proxy = proxy.url("socks5h") }
            let error = await session.request(named(server)).serializingString().response.error
            let cause = try #require((error?.underlyingError as? URLError)?.transferError)
            #expect(cause.code == .proxyRefused && cause.message.contains("socks5h://127.0.0.1:\(proxy.port)"))
        }
    }

    @Test func aProxyThatCannotBeResolvedIsNamed() async throws {
        let session = makeSession { $0.proxy = "http://proxy.invalid:3128" }
        let error = await session.request("http://a.example/x").serializingString().response.error
        let cause = try #require((error?.underlyingError as? URLError)?.transferError)
        #expect(cause.code == .cannotResolveHost && cause.message.contains("proxy.invalid"))
    }

    // MARK: Rules

    @Test func exceptionsGoStraightAndEachHopHasItsOwnWay() async throws {
        try await withPeers { server, proxy async throws in
            server.script("/away", [], afterwards: .redirect(to: server.url("/x")))
            let session = makeSession {
                $0.proxies = ProxyRule(http: proxy.url(), exceptions: ["127.0.0.0/8"])
            }
            #expect(try await session.request(server.url("/x")).serializingString().value == "hello")
            #expect(proxy.records.isEmpty)
            // The proxy reaches an invented name, which redirects to an exception.
            let value = try await session.request(named(server, "a.example", "/away")).serializingString().value
            #expect(value == "hello" && proxy.records.count == 1)
        }
    }

    @Test func theEnvironmentCountsByDefaultAndASettingInsteadOfIt() throws {
        let environment = ProxyRule(environment: ProcessInfo.processInfo.environment)
        #expect(SessionSettings().proxies == environment)
        var settings = SessionSettings()
        settings.proxy = "http://p:1"
        #expect(settings.proxies == ProxyRule(http: "http://p:1", https: "http://p:1"))
        settings.proxy = nil
        #expect(settings.proxies == ProxyRule.none)
    }

    @Test func theDictionaryOfTheConfigurationComesBeforeTheEnvironment() async throws {
        try await withPeers(authentication: .basic(user: "u@", password: "p:")) { server, proxy async throws in
            let configuration = URLSessionConfiguration.af.default
            configuration.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port),
                "kCFProxyUsernameKey": "u@", "kCFProxyPasswordKey": "p:", "ExceptionsList": ["*.internal"],
            ]
            let session = Session(configuration: configuration)
            #expect(try await session.request(named(server)).serializingString().value == "hello")
            #expect(proxy.records.last?.isAllowed == true)
            #expect(session.settings.proxies.exceptions == ["*.internal"])
            configuration.connectionProxyDictionary = [:]
            #expect(SessionSettings(configuration: configuration).proxies == ProxyRule.none)
        }
    }

    @Test func theDictionaryHasItsKinds() {
        let rule = ProxyRule(connectionProxyDictionary: [
            "SOCKSEnable": 1, "SOCKSProxy": "::1", "SOCKSPort": 9, "HTTPSProxy": "s.example", "HTTPSPort": 8,
            "HTTPEnable": 0, "HTTPProxy": "off.example",
        ])
        #expect(rule == ProxyRule(http: "socks5h://[::1]:9", https: "http://s.example:8"))
    }

    @Test func credentialsOfTheServerDoNotReachTheProxy() async throws {
        try await withPeers { server, proxy async throws in
            requireBasic(server, "/in")
            let session = makeSession { $0.proxy = proxy.url() }
            let value = try await session.request(named(server, "a.example", "/in"))
                .authenticate(username: "user", password: "pass").serializingString().value
            #expect(value == "GET 0" && proxy.records.allSatisfy { $0.scheme == nil })
        }
    }
}
