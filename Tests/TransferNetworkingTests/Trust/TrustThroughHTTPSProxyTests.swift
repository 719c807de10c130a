import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferCore
import TransferCrypto
import TransferNetworking
import TransferTestServer
import TransferTestSupport

/// TLS within TLS. `proxyAuthorities` judge the proxy under its own name, and the session's rules judge the server. A
/// rule for one of them never applies to the other.
@Suite("Trust through HTTPS proxies", .timeLimit(.minutes(3)))
struct TrustThroughHTTPSProxyTests {
    /// A server's certificate, and the session's rules.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var refusal: String?
        /// Changes the server's certificate.
        var origin: @Sendable (inout TestAuthority.Order) -> Void = { _ in }
        /// Whether the server's certificate is of the authority that only proxies are judged by.
        var isOfProxysAuthority = false
        /// The evaluators by host: the server is 127.0.0.1, and the proxy is localhost.
        var evaluators: @Sendable (_ server: String, _ proxy: String) throws -> [String: any ServerTrustEvaluating] = {
            _, _ in ["127.0.0.1": DefaultTrustEvaluator()]
        }
        var testDescription: String { name }
    }

    private static func pinned(_ path: String) throws -> PinnedCertificatesTrustEvaluator {
        PinnedCertificatesTrustEvaluator(certificates: try Certificate.certificates(atPath: path))
    }

    static let rows: [Row] = [
        Row(name: "good"),
        Row(
            name: "server for another host", refusal: "trustEvaluationFailed wrongHost",
            origin: { $0.alternativeNames = ["DNS:other.example"] }),
        Row(
            name: "server of the proxy's authority", refusal: "trustEvaluationFailed unknownAuthority",
            isOfProxysAuthority: true),
        Row(
            name: "expired server", refusal: "trustEvaluationFailed expired",
            origin: {
                $0.validFrom = -3
                $0.validUntil = -1
            }),
        Row(name: "pinned server", evaluators: { server, _ in ["127.0.0.1": try pinned(server)] }),
        Row(
            name: "the proxy's certificate pinned for the server", refusal: "certificatePinningFailed",
            evaluators: { _, proxy in ["127.0.0.1": try pinned(proxy)] }),
        Row(
            name: "the server's certificate pinned for the proxy's host",
            evaluators: { server, _ in
                ["127.0.0.1": DefaultTrustEvaluator(), "localhost": try pinned(server)]
            }),
        Row(
            name: "no evaluator but for the proxy's host", refusal: "noRequiredEvaluator",
            evaluators: { _, _ in ["localhost": DisabledTrustEvaluator()] }),
    ]

    /// A manager that records the hosts for which it was called.
    private final class Listening: ServerTrustManager, @unchecked Sendable {  // A mutex and constants.
        private let asked = Mutex<[String]>([])
        var hosts: [String] { asked.withLock { $0 } }

        override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
            asked.withLock { $0.append(host) }
            return try super.serverTrustEvaluator(forHost: host)
        }
    }

    private struct Way {
        let proxy: TestProxy
        /// nginx, which terminates TLS in front of the proxy.
        let front: NginxServer
        let port: UInt16
        let origin: NginxServer
        let issued: (server: TestAuthority.Issued, proxy: TestAuthority.Issued)
        let authorities: (server: TestAuthority, proxy: TestAuthority)

        func settings(_ manager: ServerTrustManager?) -> SessionSettings {
            var settings = SessionSettings()
            settings.loops = 1
            settings.authorities = authorities.server.anchors
            settings.proxyAuthorities = authorities.proxy.anchors
            settings.proxies = ProxyRule(http: nil, https: "https://localhost:\(port)")
            settings.serverTrustManager = manager
            return settings
        }
    }

    private func withWay(
        server row: Row = rows[0], isProxyOfServersAuthority: Bool = false, speaksHTTP2: Bool = false,
        proxy order: @Sendable (inout TestAuthority.Order) -> Void = { _ in },
        _ body: (Way) async throws -> Void
    ) async throws {
        let (ours, theirs) = (try await TestAuthority.shared(), try await TestAuthority.make(name: "Proxies"))
        let server = try await (row.isOfProxysAuthority ? theirs : ours).issue(row.origin)
        let issued = try await (isProxyOfServersAuthority ? ours : theirs).issue(order)
        try await withTestProxy(.http) { proxy async throws in
            let port = try LoopbackPort.free()
            var options = NginxServer.Options()
            options.main = """
                load_module /usr/lib/nginx/modules/ngx_stream_module.so;
                stream { server {
                    listen 127.0.0.1:\(port) ssl; proxy_pass 127.0.0.1:\(proxy.port);
                    ssl_certificate "\(issued.chain)"; ssl_certificate_key "\(issued.key)";
                } }
                """
            let front = try await NginxServer.start(options: options)
            options = NginxServer.Options()
            options.certificate = server.server
            options.speaksHTTP2 = speaksHTTP2
            options.location = "return 200 hello;"
            let origin = try await NginxServer.start(options: options)
            try await body(
                Way(
                    proxy: proxy, front: front, port: UInt16(port), origin: origin, issued: (server, issued),
                    authorities: (ours, theirs)))
            withExtendedLifetime(front) {}
        }
    }

    @Test(arguments: rows, [false, true])
    func theServerIsJudgedUnderItsOwnNameAndByItsOwnRules(_ row: Row, _ speaksHTTP2: Bool) async throws {
        try await withWay(server: row, speaksHTTP2: speaksHTTP2) { way in
            let manager = Listening(
                evaluators: try row.evaluators(way.issued.server.certificate, way.issued.proxy.certificate))
            let session = Session(way.settings(manager))
            let response = await session.request(way.origin.url("/x")).serializingString().response
            var reason: String?
            if case .serverTrustEvaluationFailed(let failure) = response.error { reason = failure.short }
            #expect(reason == row.refusal, "\(String(describing: response.error))")
            #expect(response.value == (row.refusal == nil ? "hello" : nil))
            #expect(manager.hosts == ["127.0.0.1"])
            #expect(way.proxy.records.map(\.action) == ["CONNECT"])
            if row.refusal == nil {
                let name = response.metrics?.transactionMetrics.last?.networkProtocolName
                #expect(name == (speaksHTTP2 ? "h2" : "http/1.1"))
            }
            await way.origin.stopGracefully()
            let log = try way.origin.accessLog()
            #expect(log.count == (row.refusal == nil ? 1 : 0))
        }
    }

    @Test(arguments: ["unknown authority", "another host", "expired"])
    func aBadProxyIsAskedForNothing(_ fault: String) async throws {
        try await withWay(
            isProxyOfServersAuthority: fault == "unknown authority",
            proxy: {
                if fault == "another host" { $0.alternativeNames = ["DNS:other.example"] }
                if fault == "expired" { ($0.validFrom, $0.validUntil) = (-3, -1) }
            }
        ) { way in
            // Rules for hosts do not make a proxy acceptable.
            let manager = Listening(
                evaluators: ["127.0.0.1": DisabledTrustEvaluator(), "localhost": DisabledTrustEvaluator()])
            let session = Session(way.settings(manager))
            let response = await session.request(way.origin.url("/x")).serializingString().response
            let cause = (response.error?.underlyingError as? URLError)?.transferError
            #expect(cause?.code == .certificateRefused, "\(String(describing: response.error))")
            #expect(cause?.message.contains("certificate of the proxy https://localhost:\(way.port)") == true)
            #expect(way.proxy.records.isEmpty && manager.hosts.isEmpty)
            await way.origin.stopGracefully()
            let log = try way.origin.accessLog()
            #expect(log.isEmpty)
        }
    }
}
