import Testing
import TransferTestServer

@Suite struct ServedFileTests {
    let content = Content.random(seed: 1, count: 10_000)
    let modified = 1_700_000_000

    func server() throws -> TestServer {
        let server = try TestServer()
        server.serve("/f", ServedFile(content, etag: "\"a1\"", lastModified: modified))
        return server
    }

    @Test func servesTheWholeFileWithItsValidators() throws {
        let server = try server()
        defer { server.stop() }
        let reply = try server.get("/f?query=ignored")
        #expect(reply.status == 200)
        #expect(reply.body == content.bytes())
        #expect(reply.header("ETag") == "\"a1\"")
        #expect(reply.header("Last-Modified") == "Tue, 14 Nov 2023 22:13:20 GMT")
        #expect(reply.header("Accept-Ranges") == "bytes")
        #expect(reply.header("Date") != nil)
    }

    @Test func answersHeadWithTheLengthAndNoBody() throws {
        let server = try server()
        defer { server.stop() }
        let reply = try server.get("/f", method: "HEAD")
        #expect(reply.header("Content-Length") == "10000")
        #expect(reply.body.isEmpty)
    }

    @Test(
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=100-199", 100..<200), ("bytes=9000-", 9000..<10_000),
            ("bytes=-5", 9995..<10_000),
            ("bytes=9990-20000", 9990..<10_000),
        ] as [(String, Range<Int64>)])
    func servesOneRange(_ header: String, _ range: Range<Int64>) throws {
        let server = try server()
        defer { server.stop() }
        let reply = try server.get("/f", ["Range": header])
        #expect(reply.status == 206)
        #expect(reply.header("Content-Range") == "bytes \(range.lowerBound)-\(range.upperBound - 1)/10000")
        #expect(reply.body == content.bytes(in: range))
    }

    @Test(arguments: ["bytes=0-1,5-6", "lines=1-2", "bytes=7-3", "bytes=x"])
    func answersOtherRangesWithTheWholeFile(_ header: String) throws {
        let server = try server()
        defer { server.stop() }
        let reply = try server.get("/f", ["Range": header])
        #expect(reply.status == 200)
        #expect(reply.body.count == 10_000)
    }

    @Test func refusesARangeBehindTheEnd() throws {
        let server = try server()
        defer { server.stop() }
        let reply = try server.get("/f", ["Range": "bytes=10000-"])
        #expect(reply.status == 416)
        #expect(reply.header("Content-Range") == "bytes */10000")
    }

    @Test(arguments: [
        ("\"a1\"", 206), ("\"other\"", 200), ("W/\"a1\"", 200), ("Tue, 14 Nov 2023 22:13:20 GMT", 206),
        ("Tue, 14 Nov 2023 22:13:21 GMT", 200),
    ])
    func ifRangeHoldsOnlyForTheSameStrongValidator(_ validator: String, _ status: Int) throws {
        let server = try server()
        defer { server.stop() }
        #expect(try server.get("/f", ["Range": "bytes=5-", "If-Range": validator]).status == status)
    }

    @Test func aWeakETagNeverSatisfiesIfRange() throws {
        let server = try server()
        defer { server.stop() }
        server.serve("/f", content, etag: "W/\"a1\"")
        #expect(try server.get("/f", ["Range": "bytes=5-", "If-Range": "W/\"a1\""]).status == 200)
        #expect(try server.get("/f", ["If-None-Match": "\"a1\""]).status == 304)
    }

    @Test(
        arguments: [
            (["If-None-Match": "\"x\", \"a1\""], 304), (["If-None-Match": "\"x\""], 200), (["If-None-Match": "*"], 304),
            (["If-Modified-Since": "Tue, 14 Nov 2023 22:13:20 GMT"], 304),
            (["If-Modified-Since": "Tue, 14 Nov 2023 22:13:19 GMT"], 200), (["If-Match": "\"x\""], 412),
            (["If-Unmodified-Since": "Tue, 14 Nov 2023 22:13:19 GMT"], 412),
        ] as [(HeaderFields, Int)])
    func honoursConditions(_ headers: HeaderFields, _ status: Int) throws {
        let server = try server()
        defer { server.stop() }
        let reply = try server.get("/f", headers)
        #expect(reply.status == status)
        #expect(reply.body.count == (status == 200 ? 10_000 : 0))
    }

    @Test func canBeReplacedAndRemoved() throws {
        let server = try server()
        defer { server.stop() }
        server.serve("/f", .text("new"), etag: "\"a2\"")
        #expect(try server.get("/f", ["Range": "bytes=1-", "If-Range": "\"a1\""]).body == Array("new".utf8))
        server.remove("/f")
        #expect(try server.get("/f").status == 404)
    }

    @Test func contentIsTheSameByOffsetAndAsAWhole() {
        let whole = Content.random(seed: 9, count: 20_000).bytes()
        for range in [0..<1, 3..<5, 4090..<4110, 8191..<16_390, 19_999..<20_000] as [Range<Int64>] {
            let part = Content.random(seed: 9, count: 1 << 40).bytes(in: range)
            #expect(part == Array(whole[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
        #expect(Content.random(seed: 10, count: 20_000).bytes() != whole)
        #expect(Array(whole[..<4096]) != Array(whole[4096..<8192]))
    }

    @Test func servesTheEndOfAFileLargerThanMemory() throws {
        let server = try TestServer()
        defer { server.stop() }
        let huge = Content.random(seed: 3, count: 1 << 42)
        server.serve("/huge", huge)
        let reply = try server.get("/huge", ["Range": "bytes=-4099"])
        #expect(reply.body == huge.bytes(in: (1 << 42) - 4099..<1 << 42))
    }

    @Test func datesRoundTrip() {
        for seconds in [0, 951_782_400, 1_700_000_000, 4_102_444_799] {
            #expect(HTTPDate.seconds(HTTPDate.string(seconds)) == seconds)
        }
        #expect(HTTPDate.seconds("yesterday") == nil)
    }
}
