import Foundation
import Testing
import TransferTestServer

/// The answers of httpbin 0.10 under gunicorn are the reference. curl represents clients that do not know this server.
@Suite("httpbin") struct HTTPBinTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        server.serveHTTPBin()
    }

    private func json(_ path: String, _ arguments: String...) throws -> Echo {
        let output = try Curl(arguments + [server.url(path)]).output
        return try JSONDecoder().decode(Echo.self, from: Data(output))
    }

    @Test func aRequestIsReportedAsItCame() throws {
        defer { server.stop() }
        let echo = try json("/get?a=1&b=2&a=3&c&d=x%20y+z", "-H", "x-team: 5", "-H", "X-Team: 6")
        #expect(echo.args == ["a": .many(["1", "3"]), "b": .one("2"), "c": .one(""), "d": .one("x y z")])
        #expect(echo.headers?["X-Team"] == "5,6")
        #expect(echo.headers?["Host"] == "127.0.0.1:\(server.port)")
        #expect(echo.origin == "127.0.0.1")
        #expect(echo.url == server.url("/get?a=1&b=2&a=3&c&d=x%20y+z"))
        #expect(echo.form == nil)
    }

    @Test func theTextIsSortedAndIndentedAndNothingButASCII() throws {
        defer { server.stop() }
        let reply = try server.get("/anything?k=%C3%A9%22%0A%F0%9F%9A%80", ["Host": "h"])
        #expect(
            String(decoding: reply.body, as: UTF8.self) == #"""
                {
                  "args": {
                    "k": "\u00e9\"\n\ud83d\ude80"
                  },
                  "data": "",
                  "files": {},
                  "form": {},
                  "headers": {
                    "Connection": "close",
                    "Host": "h"
                  },
                  "json": null,
                  "method": "GET",
                  "origin": "127.0.0.1",
                  "url": "http://h/anything?k=%C3%A9%22%0A%F0%9F%9A%80"
                }

                """#)
        #expect(reply.header("Content-Type") == "application/json")
        #expect(reply.header("Access-Control-Allow-Origin") == "*")
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func aFormIsReportedByItsFields(method: String) throws {
        defer { server.stop() }
        let echo = try json("/\(method.lowercased())", "-X", method, "-d", "a=1&b=%C3%A9+x&a=2&c=%zz")
        #expect(echo.form == ["a": .many(["1", "2"]), "b": .one("é x"), "c": .one("%zz")])
        #expect(echo.data == "")
        #expect(echo.json == nil)
    }

    @Test func aJSONBodyIsReportedAsTextAndAsValue() throws {
        defer { server.stop() }
        let body = #" {"list":[1,-2.5e3,null,true,"é\u0001\ud83d\ude80"],"empty":{}} "#
        let echo = try json("/post", "-H", "Content-Type: application/json", "-d", body)
        #expect(echo.data == body)
        let list: [Echo.Value] = [.number(1), .number(-2500), .null, .bool(true), .string("é\u{1}🚀")]
        #expect(echo.json == .object(["list": .list(list), "empty": .object([:])]))
        for broken in [#"{"a":1"#, "[1,]", "01", #""\x""#, "nul", "[1] 2", ""] {
            #expect(try json("/post", "-H", "Content-Type: application/json", "-d", broken).json == nil)
        }
    }

    @Test func aBodyThatIsNoTextIsADataURL() throws {
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let bytes = Data((0..<256).map { UInt8($0) })
        try bytes.write(to: file)
        let echo = try json(
            "/anything", "--data-binary", "@\(file.path)", "-H", "Content-Type: application/octet-stream")
        #expect(echo.data == "data:application/octet-stream;base64,\(bytes.base64EncodedString())")
        #expect(echo.method == "POST")
    }

    @Test func aMultipartBodyIsReportedByFieldsAndFiles() throws {
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = folder.appendingPathComponent("text")
        let picture = folder.appendingPathComponent("picture")
        try Data("one\r\n--two\r\n".utf8).write(to: text)
        try Data([0xFF, 0xD8, 0x0D, 0x0A]).write(to: picture)
        let echo = try json(
            "/post", "-F", "a=1", "-F", "f=@\(text.path);type=text/plain", "-F", "a=2", "-F", "e=",
            "-F", "g=@\(picture.path);type=image/jpeg", "-F", #"h=@\#(text.path);filename="we\"ird;x.txt""#)
        #expect(echo.form == ["a": .many(["1", "2"]), "e": .one("")])
        #expect(
            echo.files == [
                "f": .one("one\r\n--two\r\n"), "g": .one("data:image/jpeg;base64,/9gNCg=="),
                "h": .one("one\r\n--two\r\n"),
            ])
        #expect(echo.data == "")
    }

    @Test func anUnsupportedMethodIsRefusedAndOPTIONSListsTheOthers() throws {
        defer { server.stop() }
        let refused = try server.get("/get", method: "POST")
        #expect(refused.status == 405)
        #expect(refused.header("Allow") == "GET, HEAD, OPTIONS")
        let options = try server.get("/anything", method: "OPTIONS")
        #expect(options.status == 200)
        #expect(options.header("Allow") == "GET, POST, PUT, DELETE, PATCH, TRACE, HEAD, OPTIONS")
        let head = try server.get("/get", method: "HEAD")
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        let length = try #require(head.header("Content-Length"))
        #expect(try #require(Int(length)) > 50)
    }

    @Test func unknownPathsStayFreeAndLaterHandlersWin() throws {
        defer { server.stop() }
        #expect(try server.get("/none").status == 404)
        #expect(try server.get("/status/200/more").status == 404)
        server.serve("/none", .text("mine"))
        server.handle("GET", "/get") { _ in Response(status: 418) }
        server.script("/ip", [.status(503)])
        #expect(try server.get("/none").body == Array("mine".utf8))
        #expect(try server.get("/get").status == 418)
        #expect(try server.get("/ip").status == 503)
        #expect(try server.get("/ip").status == 200)
    }

    @Test func theAddressAndTheAgentHavePathsOfTheirOwn() throws {
        defer { server.stop() }
        #expect(try json("/ip").origin == "127.0.0.1")
        #expect(try json("/ip", "-H", "X-Forwarded-For: 192.0.2.7").origin == "192.0.2.7")
        #expect(try json("/user-agent", "-A", "me/1").userAgent == "me/1")
        #expect(try json("/headers", "-H", "a: b").headers?["A"] == "b")
        let proxied = try JSONDecoder().decode(
            Echo.self, from: Data(Curl(["--proxy", server.url(), "http://a.example/get?x=1"]).output))
        #expect(proxied.url == "http://a.example/get?x=1")
    }

    @Test(arguments: [200, 201, 204, 304, 400, 404, 418, 429, 500, 503])
    func theStatusIsThatOfThePath(status: Int) throws {
        defer { server.stop() }
        for method in ["GET", "POST", "DELETE"] {
            #expect(try server.get("/status/\(status)", method: method).status == status)
        }
        #expect(try server.get("/status/401").header("WWW-Authenticate") == "Basic realm=\"Fake Realm\"")
        #expect(try server.get("/status/302").header("Location") == "/redirect/1")
        #expect(try server.get("/status/teapot").status == 400)
    }

    @Test func redirectsTakeAsManyStepsAsAsked() throws {
        defer { server.stop() }
        #expect(try server.get("/redirect/3").header("Location") == "/relative-redirect/2")
        #expect(try server.get("/relative-redirect/1").header("Location") == "/get")
        #expect(
            try server.get("/absolute-redirect/2", ["Host": "h:1"]).header("Location")
                == "http://h:1/absolute-redirect/1")
        let before = server.requests.count
        #expect(try json("/redirect/5", "--location").url == server.url("/get"))
        #expect(server.requests.count - before == 6)
        #expect(try server.get("/redirect/0").status == 404)
    }

    @Test func aRedirectGoesWhereTheQuerySays() throws {
        defer { server.stop() }
        let reply = try server.get(
            "/redirect-to?url=http%3A%2F%2Fx.example%2Fa%3Fb%3Dc&status_code=308", method: "POST")
        #expect(reply.status == 308)
        #expect(reply.header("Location") == "http://x.example/a?b=c")
        #expect(try server.get("/redirect-to?url=/get&status_code=200").status == 302)
        #expect(try server.get("/redirect-to").status == 400)
    }

    @Test func basicAndBearerCredentialsAreChecked() throws {
        defer { server.stop() }
        #expect(try server.get("/basic-auth/u/p").header("WWW-Authenticate") == "Basic realm=\"Fake Realm\"")
        #expect(try json("/basic-auth/u/p%20:%20q", "-u", "u:p : q").user == "u")
        for wrong in ["u:x", "x:p", "u:"] {
            #expect(try Curl(["-f", "-u", wrong, server.url("/basic-auth/u/p")]).status == 22)
        }
        #expect(try server.get("/hidden-basic-auth/u/p").status == 404)
        #expect(try json("/hidden-basic-auth/u/p", "-u", "u:p").authenticated == true)
        #expect(try server.get("/bearer").header("WWW-Authenticate") == "Bearer")
        #expect(try json("/bearer", "-H", "Authorization: Bearer t.1").token == "t.1")
    }

    @Test(arguments: ["", "/MD5", "/SHA-256"])
    func digestCredentialsAreChecked(algorithm: String) throws {
        defer { server.stop() }
        #expect(try json("/digest-auth/auth/u/p\(algorithm)?q=1", "--digest", "-u", "u:p").user == "u")
        #expect(
            try Curl(["-f", "--digest", "-u", "u:x", server.url("/digest-auth/auth/u/p\(algorithm)")]).status == 22)
        #expect(server.requests.map(\.status) == [401, 200, 401, 401])
    }
}
