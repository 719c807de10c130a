import Testing
import TransferTestServer

@Suite struct FaultTests {
    let content = Content.random(seed: 2, count: 100_000)

    /// Returns the reply to one request of `/f` with this fault.
    func reply(_ fault: Fault, _ headers: HeaderFields = [:]) throws -> RawClient.Reply {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("/f", content, etag: "\"a1\"")
        server.script("/f", [fault])
        let reply = try server.get("/f", headers)
        #expect(try server.get("/f").body == content.bytes(), "the fault was for one request only")
        return reply
    }

    @Test(arguments: [0, 1, 1000, 99_999, 100_000])
    func cutsAfterExactlySoManyBytes(_ count: Int64) throws {
        let reply = try reply(.cut(after: count))
        #expect(reply.header("Content-Length") == "100000")
        #expect(reply.body == content.bytes(in: 0..<count))
        #expect(reply.end == .fin)
    }

    @Test(arguments: [0, 1000, 99_999])
    func resetsAfterExactlySoManyBytes(_ count: Int64) throws {
        let reply = try reply(.reset(after: count))
        #expect(reply.body == content.bytes(in: 0..<count))
        #expect(reply.end == .reset)
    }

    @Test func canEndBeforeTheHead() throws {
        let closed = try reply(.closeBeforeHead)
        #expect(closed.head.isEmpty && closed.end == .fin)
        let reset = try reply(.resetBeforeHead)
        #expect(reset.head.isEmpty && reset.end == .reset)
    }

    @Test func contentLengthCanBeWrongEitherWay() throws {
        let tooLong = try reply(.contentLength(off: 5))
        #expect(tooLong.header("Content-Length") == "100005")
        #expect(tooLong.body.count == 100_000)
        let tooShort = try reply(.contentLength(off: -5))
        #expect(tooShort.header("Content-Length") == "99995")
        #expect(tooShort.body.count == 100_000)
    }

    @Test func lengthCanBeLeftOut() throws {
        let reply = try reply(.noContentLength)
        #expect(reply.header("Content-Length") == nil)
        #expect(reply.header("Connection") == "close")
        #expect(reply.body == content.bytes())
    }

    @Test func chunksCanBeCutInTheMiddle() throws {
        let reply = try reply(Fault.chunked(size: 1000).and(.cut(after: 1500)))
        #expect(reply.header("Transfer-Encoding") == "chunked")
        let chunk = Array("3e8\r\n".utf8)
        #expect(
            reply.body == chunk + content.bytes(in: 0..<1000) + Array("\r\n".utf8) + chunk
                + content.bytes(in: 1000..<1500))
    }

    @Test func chunksCanMissTheirEnd() throws {
        let reply = try reply(Fault.chunked(size: 100_000).and(.cut(after: 100_000)))
        #expect(reply.body == Array("186a0\r\n".utf8) + content.bytes() + Array("\r\n".utf8))
    }

    @Test func rangesCanBeIgnored() throws {
        let reply = try reply(.ignoreRange, ["Range": "bytes=500-"])
        #expect(reply.status == 200)
        #expect(reply.body.count == 100_000)
    }

    @Test func contentRangeCanBeMissingOrWrong() throws {
        let range: HeaderFields = ["Range": "bytes=500-599"]
        #expect(try reply(.missingContentRange, range).header("Content-Range") == nil)
        let shifted = try reply(.wrongContentRange(shiftedBy: -100), range)
        #expect(shifted.header("Content-Range") == "bytes 400-499/100000")
        #expect(shifted.body == content.bytes(in: 500..<600))
        #expect(try reply(.contentRangeTotal(7), range).header("Content-Range") == "bytes 500-599/7")
        #expect(try reply(.contentRangeTotal(nil), range).header("Content-Range") == "bytes 500-599/*")
    }

    @Test func anUnsolicitedRangeCanBeServed() throws {
        let reply = try reply(.serveRange(10..<20))
        #expect(reply.status == 206)
        #expect(reply.header("Content-Range") == "bytes 10-19/100000")
        #expect(reply.body == content.bytes(in: 10..<20))
    }

    @Test func a206CanBeMultipart() throws {
        let reply = try reply(.multipartRanges, ["Range": "bytes=0-9"])
        #expect(reply.status == 206)
        #expect(reply.header("Content-Type")?.hasPrefix("multipart/byteranges; boundary=") == true)
        #expect(reply.header("Content-Length") == "\(reply.body.count)")
        let text = String(decoding: reply.body, as: UTF8.self)
        #expect(text.contains("Content-Range: bytes 0-4/100000") && text.contains("Content-Range: bytes 5-9/100000"))
    }

    @Test func statusesAndRedirectsFollowTheScript() throws {
        let busy = try reply(.status(503, headers: ["Retry-After": "1"], body: .text("later")))
        #expect(busy.status == 503 && busy.header("Retry-After") == "1" && busy.body == Array("later".utf8))
        let moved = try reply(.redirect(to: "/g", status: 307))
        #expect(moved.status == 307 && moved.header("Location") == "/g")
        let refused = try reply(.rangeNotSatisfiable)
        #expect(refused.status == 416 && refused.header("Content-Range") == "bytes */100000")
    }

    @Test func theMessageCanBeNonsense() throws {
        #expect(try reply(.garbage()).head.contains("nonsense"))
        #expect(try reply(.oversizedHeaders(300_000)).head.utf8.count > 300_000)
        #expect(try reply(.header("Date", "")).header("Date") == nil)
        #expect(try reply(.header("ETag", nil)).header("ETag") == nil)
    }

    @Test func interimResponsesComeFirst() throws {
        let reply = try reply(.interim(103, headers: ["Link": "</style>"], count: 2))
        #expect(reply.status == 103)
        let rest = String(decoding: reply.body, as: UTF8.self)
        #expect(rest.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </style>\r\n\r\nHTTP/1.1 200 OK\r\n"))
    }

    @Test func changesOfTheFileStay() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("/f", ServedFile(content, etag: "\"a1\"", lastModified: 1_700_000_000))
        let other = ServedFile(.text("other"), etag: "\"a3\"")
        server.script(
            "/f",
            [
                Fault.changeETag("\"a2\"").and(.changeLastModified(nil)).and(.cut(after: 10)), .none,
                .replace(with: other), .none, .remove,
            ])
        let first = try server.get("/f")
        #expect(first.header("ETag") == "\"a2\"" && first.body.count == 10)
        let second = try server.get("/f")
        #expect(
            second.header("ETag") == "\"a2\"" && second.header("Last-Modified") == nil && second.body.count == 100_000)
        for _ in 1...2 { #expect(try server.get("/f").body == Array("other".utf8)) }
        for _ in 1...2 { #expect(try server.get("/f").status == 404) }
    }

    @Test func aScriptCanRepeatForeverAndForOneMethod() throws {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("/f", content)
        server.script("/f", method: "GET", [.status(500)], afterwards: .status(502))
        #expect(try server.get("/f", method: "HEAD").status == 502)
        #expect(try [server.get("/f").status, server.get("/f").status, server.get("/f").status] == [500, 502, 502])
    }
}
