import Foundation
import Testing
import TransferTestServer

@Suite struct TestServerTests {
    @Test func keepsConnectionsOpen() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("/f", .text("abc"))
        let client = try RawClient(server)
        for _ in 1...3 {
            try client.request("GET", "/f")
            #expect(client.readReply().body == Array("abc".utf8))
        }
        try client.request("GET", "/none")
        #expect(client.readReply().status == 404)
        #expect(server.connectionCount == 1)
        #expect(server.requests.map(\.path) == ["/f", "/f", "/f", "/none"])
        #expect(server.requests.map(\.status) == [200, 200, 200, 404])
    }

    @Test func answersForEveryHostAsAProxy() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("http://a.example/f", .text("from a"))
        server.serve("http://b.example/f", .text("from b"))
        server.serve("/g", .text("from any"))
        let proxy = ["--proxy", server.url()]
        #expect(try Curl(proxy + ["http://a.example/f"]).text == "from a")
        #expect(try Curl(proxy + ["http://b.example/f"]).text == "from b")
        #expect(try Curl(proxy + ["http://c.example/g"]).text == "from any")
        #expect(server.requests.map(\.host) == ["a.example", "b.example", "c.example"])
        #expect(server.requests(to: "http://a.example/f").count == 1)
    }

    @Test func listensOnIPv6AndUnixSockets() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sock").path
        let local = try TestServer(on: .unix(path: path))
        local.serve("/f", .text("local"))
        #expect(try Curl(["--unix-socket", path, local.url("/f")]).text == "local")
        local.stop()
        #expect(!FileManager.default.fileExists(atPath: path))

        // Without IPv6 the test has no subject.
        guard let six = try? TestServer(on: .ipv6()) else { return }
        defer { six.stop() }
        six.serve("/f", .text("six"))
        #expect(try Curl([six.url("/f")]).text == "six")
    }

    @Test func curlSeesTheFaultsAsWhatTheyAre() throws {
        let server = try TestServer()
        defer { server.stop() }
        let content = Content.random(seed: 6, count: 70_000)
        server.serve("/f", content)
        server.script(
            "/f",
            [
                .cut(after: 100), .reset(after: 100), .closeBeforeHead, .chunked(size: 999),
                Fault.chunked().and(.cut(after: 10_000)), .gzip, .garbage(), .oversizedHeaders(400_000),
                .redirect(to: "/f"),
                .interim(103, count: 3),
            ])
        let address = server.url("/f")
        #expect(try Curl([address]).status == 18)
        #expect(try Curl([address]).status == 56)
        #expect(try Curl([address]).status == 52)
        #expect(try Curl([address]).output == content.bytes())
        #expect(try Curl([address]).status == 18)
        #expect(try Curl(["--compressed", address]).output == content.bytes())
        #expect(try Curl([address]).status == 1)
        #expect([27, 56, 100].contains(try Curl([address]).status))
        #expect(try Curl(["--location", address]).output == content.bytes())
        #expect(try Curl([address]).output == content.bytes())
    }

    @Test func servesThreeHundredConnectionsAtOnce() async throws {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("/f", .text("abc"))
        server.script("/f", [], afterwards: .holdHead)
        let clients = try (0..<300).map { _ in try RawClient(server) }
        for client in clients { try client.request("GET", "/f", ["Connection": "close"]) }
        try await server.waitForHeld(300)
        #expect(server.peakConnections == 300)
        #expect(server.peakRequests == 300)
        #expect(server.peakRequests("/f") == 300)
        server.release()
        for client in clients { #expect(client.readToEnd().body == Array("abc".utf8)) }
        try await server.waitForConnections(closed: 300)
    }

    @Test func findsTheFirstDifferenceOfAFile() throws {
        let content = Content.random(seed: 7, count: 400_000)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        var bytes = content.bytes()
        func difference() throws -> Int64? {
            try Data(bytes).write(to: file)
            return try content.firstDifference(fromFileAt: file.path)
        }
        #expect(try difference() == nil)
        bytes[300_001] ^= 1
        #expect(try difference() == 300_001)
        bytes = content.bytes() + [0]
        #expect(try difference() == 400_000)
        bytes = content.bytes(in: 0..<399_999)
        #expect(try difference() == 399_999)
    }

    @Test func stopsAtTheEndOfItsScope() async throws {
        let server = try await withTestServer { server in
            server.serve("/f", .text("abc"))
            let status = try server.get("/f").status
            #expect(status == 200)
            return server
        }
        #expect(throws: RawClient.Failure.self) { try RawClient(server) }
    }
}
