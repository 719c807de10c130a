import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferCore
import TransferCrypto
import TransferNetworking
import TransferTestServer
import TransferTestSupport

/// Each kind of server over each route, with a real nginx: a refused server receives no request.
@Suite("Trust of servers", .timeLimit(.minutes(3)))
struct TrustMatrixTests {
    enum Way: String, Sendable, CaseIterable {
        case http1, http2, tls12, proxy
    }

    private func withServer(
        _ peer: TrustCase.Peer, _ way: Way = .http1, directives: String = "",
        _ body: (NginxServer, inout SessionSettings) async throws -> Void
    ) async throws {
        let authority = try await TestAuthority.shared()
        var options = NginxServer.Options()
        options.certificate = peer.issued.server
        options.speaksHTTP2 = way == .http2 || way == .proxy
        options.server = peer.directives + directives + (way == .tls12 ? " ssl_protocols TLSv1.2;" : "")
        options.location = "return 200 hello;"
        let server = try await NginxServer.start(options: options)
        var settings = SessionSettings()
        settings.loops = 1
        settings.proxies = .none
        settings.authorities = authority.anchors
        settings.serverTrustManager = ServerTrustManager(evaluators: ["127.0.0.1": peer.evaluator])
        try await body(server, &settings)
    }

    @Test(arguments: TrustCase.all, Way.allCases)
    func aServerIsAcceptedOrRefusedBeforeARequestIsSent(_ row: TrustCase, _ way: Way) async throws {
        let peer = try await row.make(try await TestAuthority.shared())
        try await withServer(peer, way) { server, settings in
            let proxy = way == .proxy ? try TestProxy(.http) : nil
            defer { proxy?.stop() }
            if let proxy { settings.proxies = ProxyRule(http: proxy.url(), https: proxy.url()) }
            let response = await Session(settings).request(server.url("/x")).serializingString().response
            var reason: String?
            if case .serverTrustEvaluationFailed(let failure) = response.error { reason = failure.short }
            #expect(reason == row.refusal, "\(String(describing: response.error))")
            #expect(response.value == (row.refusal == nil ? "hello" : nil))
            if let proxy { #expect(proxy.records.map(\.action) == ["CONNECT"]) }
            if row.refusal == nil, let metrics = response.metrics?.transactionMetrics.last {
                #expect(metrics.networkProtocolName == (way == .http2 || way == .proxy ? "h2" : "http/1.1"))
            }
            await server.stopGracefully()
            let log = try server.accessLog()
            #expect(log.count == (row.refusal == nil ? 1 : 0))
        }
        await peer.responder?.stop()
    }

    @Test func withoutAManagerTheFailureIsTheTransfers() async throws {
        let codes: [(String, URLError.Code)] = [
            ("expired", .serverCertificateHasBadDate), ("not yet valid", .serverCertificateNotYetValid),
            ("for another host", .serverCertificateUntrusted),
            ("of an unknown authority", .serverCertificateHasUnknownRoot),
        ]
        for (name, code) in codes {
            let row = try #require(TrustCase.all.first { $0.name == name })
            try await withServer(try await row.make(try await TestAuthority.shared())) { server, settings in
                settings.serverTrustManager = nil
                let response = await Session(settings).request(server.url("/x")).serializingData().response
                #expect((response.error?.underlyingError as? URLError)?.code == code, "\(name)")
                let log = try server.accessLog()
                #expect(log.isEmpty)
            }
        }
    }

    @Test func aHostWithoutAnEvaluatorIsRefusedUnlessTheManagerSaysOtherwise() async throws {
        let peer = try await TrustCase.all[0].make(try await TestAuthority.shared())
        try await withServer(peer) { server, settings in
            settings.serverTrustManager = ServerTrustManager(evaluators: ["other.example": DisabledTrustEvaluator()])
            let refused = await Session(settings).request(server.url("/x")).serializingData().response
            guard case .serverTrustEvaluationFailed(.noRequiredEvaluator(let host)) = refused.error else {
                return #expect(Bool(false), "\(refused)")
            }
            #expect(host == "127.0.0.1")
            settings.serverTrustManager = ServerTrustManager(
                allHostsMustBeEvaluated: false, evaluators: ["other.example": DisabledTrustEvaluator()])
            let usual = await Session(settings).request(server.url("/x")).serializingString().response
            #expect(usual.value == "hello")
        }
    }

    @Test func aManagerOfTheProgramsOwnMatchesWildcards() async throws {
        final class Wildcards: ServerTrustManager, @unchecked Sendable {  // Constant.
            override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
                host.hasPrefix("127.") ? DisabledTrustEvaluator() : try super.serverTrustEvaluator(forHost: host)
            }
        }
        let stranger = try #require(TrustCase.all.first { $0.name == "of an unknown authority" })
        try await withServer(try await stranger.make(try await TestAuthority.shared())) { server, settings in
            settings.serverTrustManager = Wildcards(evaluators: [:])
            let response = await Session(settings).request(server.url("/x")).serializingString().response
            #expect(response.value == "hello")
        }
    }

    @Test func anErrorOfAnEvaluatorOfTheProgramsOwnComesThrough() async throws {
        struct Refused: Error {}
        struct Refusing: ServerTrustEvaluating {
            func evaluate(_ trust: SecTrust, forHost host: String) throws { throw Refused() }
        }
        let peer = try await TrustCase.all[0].make(try await TestAuthority.shared())
        try await withServer(peer) { server, settings in
            settings.serverTrustManager = ServerTrustManager(evaluators: ["127.0.0.1": Refusing()])
            let error = await Session(settings).request(server.url("/x")).serializingData().response.error
            guard case .serverTrustEvaluationFailed(.customEvaluationFailed(let cause)) = error else {
                return #expect(Bool(false), "\(String(describing: error))")
            }
            #expect(cause is Refused && error?.isServerTrustEvaluationError == true)
        }
    }

    /// A responder that never answers keeps one connection waiting, and no other.
    @Test func aResponderThatNeverAnswersStallsItsOwnConnectionOnly() async throws {
        let silent = try SilentListener()
        let issued = try await TestAuthority.shared().issue { $0.ocspURL = silent.url }
        var sources = RevocationSources()
        sources.timeout = .seconds(20)
        let slow = RevocationTrustEvaluator(options: [.ocsp, .requirePositiveResponse], sources: sources)
        try await withServer(TrustCase.Peer(issued: issued, evaluator: slow)) { server, settings in
            settings.serverTrustManager = ServerTrustManager(
                evaluators: ["127.0.0.1": slow, "localhost": DefaultTrustEvaluator()])
            let session = Session(settings)
            let request = session.request(server.url("/slow"))
            let waiting = request.serializingData()
            let other = server.url("/x").replacing("127.0.0.1", with: "localhost")
            for _ in 0..<5 {
                let quick = await session.request(other).serializingString().response
                #expect(quick.value == "hello")
            }
            #expect(!request.isFinished)
            request.cancel()
            let error = await waiting.response.error
            #expect(error?.isExplicitlyCancelledError == true)
        }
        withExtendedLifetime(silent) {}
    }

    // MARK: Connections

    @Test func twoSessionsWithOtherRulesShareNoConnection() async throws {
        let peer = try await TrustCase.all[0].make(try await TestAuthority.shared())
        try await withServer(peer) { server, settings in
            let first = Session(settings)
            settings.serverTrustManager = nil
            let second = Session(settings)
            for session in [first, second, first, second] {
                let value = try await session.request(server.url("/x")).serializingString().value
                #expect(value == "hello")
            }
            await server.stopGracefully()
            let connections = try Dictionary(grouping: server.accessLog(), by: \.connection)
            #expect(connections.count == 2)
        }
    }

    @Test(arguments: [Way.http1, .http2, .tls12])
    func aClientCertificateIsShownToItsHostOnly(_ way: Way) async throws {
        let authority = try await TestAuthority.shared()
        let peer = try await TrustCase.all[0].make(authority)
        let client = try await authority.issue {
            $0.name = "client"
            $0.usage = "clientAuth"
            $0.alternativeNames = []
        }
        let bundle = try await authority.pkcs12(client, passphrase: "secret")
        let directives = "ssl_client_certificate \"\(authority.anchors)\"; ssl_verify_client on; ssl_verify_depth 3;"
        try await withServer(peer, way, directives: directives) { server, settings in
            let nobody = await Session(settings).request(server.url("/x")).serializingString().response
            #expect(nobody.response?.statusCode == 400 || nobody.error != nil)
            settings.clientIdentities = ["other.example": try ClientIdentity(pkcs12: bundle, passphrase: "secret")]
            let other = await Session(settings).request(server.url("/x")).validate().serializingString().response
            #expect(other.error != nil)
            settings.clientIdentities = ["127.0.0.1": try ClientIdentity(pkcs12: bundle, passphrase: "secret")]
            let shown = await Session(settings).request(server.url("/x")).validate().serializingString().response
            #expect(shown.value == "hello")
            settings.clientIdentities = [:]
            settings.clientIdentity = try ClientIdentity(
                pemCertificate: client.chain, key: client.key, passphrase: nil)
            let again = await Session(settings).request(server.url("/x")).validate().serializingString().response
            #expect(again.value == "hello")
        }
    }
}
