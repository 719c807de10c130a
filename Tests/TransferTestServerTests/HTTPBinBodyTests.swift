import Foundation
import Testing
import TransferTestServer

@Suite("httpbin's bodies") struct HTTPBinBodyTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        server.serveHTTPBin()
    }

    @Test func bytesAreTheSameOnEveryCallAndOthersForAnotherSeed() throws {
        defer { server.stop() }
        let first = try server.get("/bytes/300000")
        #expect(first.body.count == 300_000)
        #expect(first.header("Content-Type") == "application/octet-stream")
        #expect(try server.get("/bytes/300000").body == first.body)
        #expect(try server.get("/payloads/300000").body == first.body)
        #expect(try server.get("/bytes/300000?seed=7").body == Content.random(seed: 7, count: 300_000).bytes())
        #expect(try server.get("/bytes/0").body == [])
        #expect(try server.get("/bytes/-1").status == 404)
    }

    @Test func aStreamHasALineOfJSONForEachCount() throws {
        defer { server.stop() }
        let lines = try Curl([server.url("/stream/12?a=b")]).text.split(separator: "\n")
        let echoes = try lines.map { try JSONDecoder().decode(Echo.self, from: Data($0.utf8)) }
        #expect(echoes.map(\.id) == Array(0..<12))
        #expect(echoes.allSatisfy { $0.args == ["a": .one("b")] && $0.url == server.url("/stream/12?a=b") })
        #expect(try server.get("/stream/2").header("Transfer-Encoding") == "chunked")
        #expect(try Curl([server.url("/stream/0")]).output.isEmpty)
    }

    @Test func chunksHaveTheSizeThatWasAsked() throws {
        defer { server.stop() }
        let raw = try String(decoding: server.get("/chunked/2").body, as: UTF8.self)
        #expect(raw == "a\r\nchunk0000\n\r\na\r\nchunk0001\n\r\n0\r\n\r\n")
        let bytes = Content.random(seed: 3, count: 5).bytes()
        let expected =
            Array("3\r\n".utf8) + bytes[..<3] + Array("\r\n2\r\n".utf8) + bytes[3...]
            + Array("\r\n0\r\n\r\n".utf8)
        #expect(try server.get("/stream-bytes/5?seed=3&chunk_size=3").body == expected)
        #expect(try Curl([server.url("/stream-bytes/30000")]).output == Content.random(seed: 0, count: 30_000).bytes())
    }

    @Test func rangesAndDownloadsCanBeContinued() throws {
        defer { server.stop() }
        #expect(try server.get("/range/30").body == Array("abcdefghijklmnopqrstuvwxyzabcd".utf8))
        let part = try server.get("/range/30", ["Range": "bytes=2-5", "If-Range": "\"range30\""])
        #expect(part.status == 206)
        #expect(part.header("Content-Range") == "bytes 2-5/30")
        #expect(part.body == Array("cdef".utf8))
        #expect(try server.get("/range/30", ["Range": "bytes=40-"]).status == 416)

        let whole = try server.get("/download/5000")
        #expect(whole.header("Content-Disposition") == "attachment; filename=\"download-5000.bin\"")
        let tag = try #require(whole.header("ETag"))
        let rest = try server.get("/download/5000", ["Range": "bytes=4000-", "If-Range": tag])
        #expect(rest.status == 206)
        #expect(rest.body == Array(whole.body[4000...]))
    }

    @Test(arguments: ["gzip", "deflate", "brotli"])
    func codedBodiesDecode(name: String) throws {
        defer { server.stop() }
        // The text is longer than one stored block of deflate and one meta-block of brotli.
        let long = String(repeating: "x", count: 90_000)
        for value in ["short", long] {
            let curl = try Curl(["--compressed", "-H", "X-Long: \(value)", server.url("/\(name)")])
            let echo = try JSONDecoder().decode(Echo.self, from: Data(curl.output))
            #expect(echo.headers?["X-Long"] == value)
            #expect(echo.method == "GET")
        }
        #expect(
            try server.get("/\(name)").header("Content-Encoding") == (name == "brotli" ? "br" : name))
    }

    @Test func thePictureIsAWholePNG() throws {
        defer { server.stop() }
        let reply = try server.get("/image/png")
        #expect(reply.header("Content-Type") == "image/png")
        let bytes = reply.body
        #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        var types: [String] = []
        var place = 8
        while place + 12 <= bytes.count {
            let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            types.append(String(decoding: bytes[place + 4..<place + 8], as: UTF8.self))
            place += 12 + length
        }
        #expect(types == ["IHDR", "IDAT", "IEND"])
        #expect(place == bytes.count)
        #expect(Array(bytes[16..<24]) == [0, 0, 0, 64, 0, 0, 0, 48])
        #expect(Array(bytes.suffix(4)) == [0xAE, 0x42, 0x60, 0x82], "the checksum of an IEND chunk")
    }

    @Test(arguments: [
        ("/json", "application/json"), ("/xml", "application/xml"), ("/html", "text/html; charset=utf-8"),
        ("/robots.txt", "text/plain"), ("/encoding/utf8", "text/html; charset=utf-8"),
    ])
    func eachFormatHasItsType(path: String, type: String) throws {
        defer { server.stop() }
        let reply = try server.get(path)
        #expect(reply.status == 200)
        #expect(reply.header("Content-Type") == type)
        #expect(String(validating: reply.body, as: UTF8.self)?.isEmpty == false)
        if path == "/json" {
            let value = try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: [String: Any]]
            #expect(value?["slideshow"]?["title"] as? String == "Sample Slide Show")
        }
    }

    @Test func cookiesAreSetReportedAndRemoved() throws {
        defer { server.stop() }
        let both = try Curl(["--location", "--cookie-jar", "/dev/null", server.url("/cookies/set?a=1&b=2")])
        #expect(try JSONDecoder().decode(Echo.self, from: Data(both.output)).cookies == ["a": "1", "b": "2"])
        #expect(try server.get("/cookies/set/k/v%20w").header("Set-Cookie") == "k=v w; Path=/")
        #expect(
            try server.get("/cookies/delete?a").header("Set-Cookie")
                == "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/")
    }

    @Test func cacheFieldsAndConditionsAreThoseOfThePath() throws {
        defer { server.stop() }
        #expect(try server.get("/cache").status == 200)
        #expect(try server.get("/cache").header("Last-Modified") != nil)
        #expect(try server.get("/cache", ["If-Modified-Since": "x"]).status == 304)
        #expect(try server.get("/cache/60").header("Cache-Control") == "public, max-age=60")
        #expect(try server.get("/etag/abc").header("ETag") == "\"abc\"")
        #expect(try server.get("/etag/abc", ["If-None-Match": "\"abc\""]).status == 304)
        #expect(try server.get("/etag/abc", ["If-Match": "\"other\""]).status == 412)
    }

    @Test func theHeadersOfAResponseAreThoseOfTheQuery() throws {
        defer { server.stop() }
        let reply = try server.get("/response-headers?X-A=1&X-A=2&Warning=a%20b")
        #expect(reply.head.contains("X-A: 1\r\nX-A: 2\r\nWarning: a b\r\n"))
        let reported = try JSONDecoder().decode([String: Echo.Field].self, from: Data(reply.body))
        #expect(reported["X-A"] == .many(["1", "2"]))
        #expect(reported["Content-Length"] == .one("\(reply.body.count)"))
    }

    @Test func aDelayLastsUntilItIsReleasedOrTheClientLeaves() async throws {
        defer { server.stop() }
        let client = try RawClient(server)
        try client.request("GET", "/delay/10?a=b", ["Connection": "close"])
        do {
            let leaving = try RawClient(server)
            try leaving.request("GET", "/delay/10")
            try await server.waitForHeld(2)
        }
        try await server.waitForConnections(closed: 1)
        server.release("/delay/10")
        let echo = try JSONDecoder().decode(Echo.self, from: Data(client.readToEnd().body))
        #expect(echo.args == ["a": .one("b")])
        #expect(try server.get("/delay/0").status == 200)
    }
}
