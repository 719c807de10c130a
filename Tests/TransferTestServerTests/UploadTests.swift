import Testing
import TransferTestServer

@Suite struct UploadTests {
    @Test func keepsWhatArrives() throws {
        let server = try TestServer()
        defer { server.stop() }
        let sink = server.acceptUploads("/in/*")
        let client = try RawClient(server)
        try client.request("PUT", "/in/a", ["Content-Length": "5"], body: "hello")
        #expect(client.readReply().status == 201)
        try client.request(
            "POST", "/in/b", ["Transfer-Encoding": "chunked"],
            body: "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: 1\r\n\r\n")
        #expect(client.readReply().status == 201)
        try client.request("PUT", "/in/c", ["Content-Length": "0"])
        #expect(client.readReply().status == 201)
        #expect(sink.uploads.map(\.path) == ["/in/a", "/in/b", "/in/c"])
        #expect(sink.uploads.map(\.bytes) == [Array("hello".utf8), Array("abcde".utf8), []])
        #expect(sink.uploads.map(\.isComplete) == [true, true, true])
        #expect(sink.uploads(to: "/in/a").first?.digest == UploadDigest.of(.text("hello")))
        #expect(server.requests.map(\.bodyLength) == [5, 5, 0])
        #expect(server.requests.map(\.connection) == [1, 1, 1])
    }

    @Test func canKeepOnlyTheDigest() throws {
        let server = try TestServer()
        defer { server.stop() }
        let sink = server.acceptUploads("/in", keepsBytes: false)
        let content = Content.random(seed: 5, count: 300_000)
        let client = try RawClient(server)
        try client.request("PUT", "/in", ["Content-Length": "300000"])
        try client.send(content.bytes())
        #expect(client.readReply().status == 201)
        #expect(sink.uploads.first?.bytes == [])
        #expect(sink.uploads.first?.digest == UploadDigest.of(content))
    }

    @Test func answers100WhenExpected() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.acceptUploads("/in")
        let client = try RawClient(server)
        try client.request("PUT", "/in", ["Content-Length": "2", "Expect": "100-continue"])
        #expect(client.readHead().status == 100)
        try client.send("ok")
        #expect(client.readReply().status == 201)
    }

    @Test func canLeave100Out() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.acceptUploads("/in")
        server.script("/in", [.noContinue])
        let client = try RawClient(server)
        try client.request("PUT", "/in", ["Content-Length": "2", "Expect": "100-continue"])
        try client.send("ok")
        #expect(client.readReply().status == 201)
    }

    @Test func canAnswerBeforeTheBody() throws {
        let server = try TestServer()
        defer { server.stop() }
        let sink = server.acceptUploads("/in")
        server.script("/in", [.answerEarly(413, body: .text("too big"))])
        let client = try RawClient(server)
        try client.request("PUT", "/in", ["Content-Length": "1000", "Expect": "100-continue"])
        let reply = client.readToEnd()
        #expect(reply.status == 413)
        #expect(reply.body == Array("too big".utf8))
        #expect(reply.header("Connection") == "close")
        #expect(sink.uploads.isEmpty)
    }

    @Test func anEarlyAnswerReachesAClientThatIsStillSending() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.script("/in", [.answerEarly(417)])
        let client = try RawClient(server)
        try client.request("PUT", "/in", ["Content-Length": "9000000"])
        try client.send([UInt8](repeating: 1, count: 9_000_000))
        #expect(client.readToEnd().status == 417)
    }

    @Test func cutsAfterExactlySoManyReceivedBytes() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let sink = server.acceptUploads("/in")
        server.script("/in", [.cutUpload(after: 3)])
        let client = try RawClient(server)
        try client.request("PUT", "/in", ["Content-Length": "10"], body: "abcdefg")
        #expect(client.readToEnd().end == .reset)
        try await server.waitForAnswers(1)
        #expect(sink.uploads.map(\.bytes) == [Array("abc".utf8)])
        #expect(sink.uploads.map(\.isComplete) == [false])
        #expect(server.requests.first?.status == nil)
    }

    @Test func aBodyThatEndsEarlyIsKnownAsIncomplete() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let sink = server.acceptUploads("/in")
        var client: RawClient? = try RawClient(server)
        try client?.request("PUT", "/in", ["Content-Length": "10"], body: "abc")
        client = nil
        try await server.waitForConnections(closed: 1)
        #expect(sink.uploads.map(\.count) == [3])
        #expect(sink.uploads.map(\.isComplete) == [false])
    }

    @Test func canLoseTheAnswer() throws {
        let server = try TestServer()
        defer { server.stop() }
        let sink = server.acceptUploads("/in")
        server.script("/in", [.loseAnswer])
        let client = try RawClient(server)
        try client.request("PUT", "/in", ["Content-Length": "3"], body: "abc")
        let reply = client.readToEnd()
        #expect(reply.head.isEmpty && reply.end == .fin)
        #expect(sink.uploads.map(\.isComplete) == [true])
    }

    @Test func stallsUntilReleased() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let sink = server.acceptUploads("/in")
        server.script("/in", [.stallUpload(after: 2)])
        let client = try RawClient(server)
        try client.request("PUT", "/in", ["Content-Length": "4"], body: "abcd")
        try await server.waitForHeld(1)
        #expect(server.requests.first?.bodyLength == 2)
        server.release()
        #expect(client.readReply().status == 201)
        #expect(sink.uploads.map(\.bytes) == [Array("abcd".utf8)])
    }

    @Test func aRequestThatIsReleasedBeforeItsStallPassesItOnce() async throws {
        let server = try TestServer()
        defer { server.stop() }
        let sink = server.acceptUploads("/in")
        server.script("/in", [.stallUpload(after: 2), .stallUpload(after: 2)])
        let client = try RawClient(server)
        try client.request("PUT", "/in", ["Content-Length": "4"])
        try await server.waitForRequests(1)
        server.release()
        try client.send("abcd")
        #expect(client.readReply().status == 201)
        // The next request is held again.
        try client.request("PUT", "/in", ["Content-Length": "4"], body: "efgh")
        try await server.waitForHeld(1)
        server.release()
        #expect(client.readReply().status == 201)
        #expect(sink.uploads.map(\.bytes) == [Array("abcd".utf8), Array("efgh".utf8)])
    }

    @Test func handlersGetTheBody() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.handle("PUT", "/echo/*") { request in
            Response(status: 200, headers: ["X-Path": request.path], body: .bytes(request.body))
        }
        let client = try RawClient(server)
        try client.request("PUT", "/echo/it", ["Content-Length": "3"], body: "abc")
        let reply = client.readReply()
        #expect(reply.header("X-Path") == "/echo/it")
        #expect(reply.body == Array("abc".utf8))
    }
}
