import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Unix sockets, IPv6 and internationalised names.
@Suite(.timeLimit(.minutes(1))) struct AddressTests {
    @Test func aUnixSocketCarriesRequestsWhateverTheHost() async throws {
        let folder = try TemporaryFolder("unix")
        let path = folder.path("s")
        try await withTestServer(on: .unix(path: path)) { server async throws in
            server.serve("/x", .text("hello"))
            let session = makeSession {
                $0.unixSocket = path
                $0.proxies = ProxyRule(http: "http://dead.invalid:1")
            }
            let value = try await session.request("http://nobody.invalid/x").serializingString().value
            #expect(value == "hello" && server.requests.first?.host == "nobody.invalid")
        }
    }

    @Test func aSocketFileThatIsNotThereIsAConnectionError() async throws {
        let folder = try TemporaryFolder("unix")
        let session = makeSession { $0.unixSocket = folder.path("none") }
        let response = await session.request("http://localhost/x").serializingString().response
        #expect(URLError.code(of: response.error) == .cannotConnectToHost)
    }

    @Test func anIPv6ServerIsReachedByItsLiteral() async throws {
        try await withTestServer(on: .ipv6()) { server async throws in
            server.serve("/x", .text("hello"))
            requireBasic(server, "/a")
            let session = makeSession { _ in }
            let response = await session.request(server.url("/x")).serializingString().response
            #expect(response.value == "hello" && response.response?.url?.absoluteString == server.url("/x"))
            #expect(server.requests.first?.headers["Host"] == "[::1]:\(server.port)")
            #expect(response.metrics?.transactionMetrics.first?.remoteAddress == "::1")
            let value = try await session.request(server.url("/a")).authenticate(username: "user", password: "pass")
                .serializingString().value
            #expect(value == "GET 0")
        }
    }

    @Test(arguments: ["http://bücher.example", "http://xn--bcher-kva.example", "http://BÜCHER.example"])
    func anInternationalNameGoesOutAsPunycode(_ origin: String) async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("hello"))
            // The server stands in for a proxy, as the name leads nowhere.
            let session = makeSession { $0.proxy = server.url("") }
            let value = try await session.request(origin + "/x").serializingString().value
            #expect(value == "hello" && server.requests.first?.headers["Host"] == "xn--bcher-kva.example")
            #expect(server.requests.first?.target == "http://xn--bcher-kva.example/x")
        }
    }

    @Test func theNameOfATunnelIsPunycodeToo() async throws {
        try await withTestProxy(refusal: 403) { proxy async throws in
            let session = makeSession { $0.proxy = proxy.url() }
            _ = await session.request("https://bücher.example/x").serializingString().response
            #expect(proxy.records.first?.target == "xn--bcher-kva.example:443")
        }
    }
}
