import Testing
import TransferTestServer

@Suite struct TimingFaultTests {
    let content = Content.random(seed: 4, count: 50_000)

    @Test func stallsUntilReleased() async throws {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("/f", content)
        server.script("/f", [Fault.stall(after: 700).and(.cut(after: 900))])
        let client = try RawClient(server)
        try client.request("GET", "/f")
        #expect(client.readHead().status == 200)
        #expect(client.read(700).0 == content.bytes(in: 0..<700))
        try await server.waitForHeld(1)
        #expect(server.bytesSent("/f") == 700)
        server.release("/elsewhere")
        server.release("/f")
        let (rest, end) = client.read(.max)
        #expect(rest == content.bytes(in: 700..<900))
        #expect(end == .fin)
    }

    @Test func aStallEndsWhenTheClientLeaves() async throws {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("/f", content)
        server.script("/f", [.stall(after: 10)])
        var client: RawClient? = try RawClient(server)
        try client?.request("GET", "/f")
        try await server.waitForHeld(1)
        #expect(server.openConnections == 1)
        client = nil
        try await server.waitForConnections(closed: 1)
        #expect(server.openConnections == 0)
    }

    @Test func holdsTheHeadUntilReleased() async throws {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("/f", content)
        server.script("/f", [.holdHead])
        let client = try RawClient(server)
        try client.request("GET", "/f", ["Connection": "close"])
        try await server.waitForHeld(1)
        #expect(server.requests.first?.isFinished == false)
        server.release()
        #expect(client.readToEnd().body == content.bytes())
    }

    @Test func tricklesWithoutLosingBytes() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("/f", content)
        server.script("/f", [.trickle(10_000, every: .milliseconds(20))])
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try server.get("/f").body == content.bytes())
        #expect(clock.now - start >= .milliseconds(80))
    }

    @Test func stopEndsHeldRequests() async throws {
        let server = try TestServer()
        server.serve("/f", content)
        server.script("/f", [], afterwards: .stall(after: 10))
        let clients = try (0..<5).map { _ in try RawClient(server) }
        for client in clients { try client.request("GET", "/f") }
        try await server.waitForHeld(5)
        server.stop()
        server.stop()
        #expect(server.openConnections == 0)
        for client in clients { #expect(client.readToEnd().body.count == 10) }
    }

    @Test func aWaitInVainReportsItsRequests() async throws {
        let server = try TestServer()
        defer { server.stop() }
        await #expect {
            try await server.waitForRequests(1, timeout: .milliseconds(10))
        } throws: { error in
            "\(error)".contains("1 requests") && "\(error)".contains("0 connections")
        }
    }

    @Test func aCancelledWaitEnds() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let waiting = Task { try await server.waitForRequests(1) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
