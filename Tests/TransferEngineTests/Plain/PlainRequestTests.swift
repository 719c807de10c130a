import Testing
import TransferCore

@testable import TransferEngine

/// Requests as they go over connections of our own.
@Suite struct PlainRequestTests {
    private func text(
        _ url: String, _ method: String = "PUT", _ headers: [HeaderField] = [], body: String = "body"
    ) -> String? {
        var maker = PlainRequestMaker()
        return maker.make(url, method, headers, body: Array(body.utf8)).map {
            String(decoding: $0.bytes, as: UTF8.self)
        }
    }

    @Test func isWrittenAsRFC9112HasIt() {
        let headers = [HeaderField("User-Agent", "me"), HeaderField("X-Empty", "")]
        #expect(
            text("http://a.example:8080/in/f%20?q=1", "PUT", headers)
                == "PUT /in/f%20?q=1 HTTP/1.1\r\nHost: a.example:8080\r\nAccept: */*\r\nUser-Agent: me\r\nX-Empty:\r\nContent-Length: 4\r\n\r\nbody"
        )
    }

    @Test(arguments: [
        ("http://a.example", "PUT / HTTP/1.1\r\nHost: a.example\r\n"),
        ("http://a.example:80/", "PUT / HTTP/1.1\r\nHost: a.example\r\n"),
        ("http://a.example?q", "PUT /?q HTTP/1.1\r\nHost: a.example\r\n"),
        ("http://[::1]:81/f", "PUT /f HTTP/1.1\r\nHost: [::1]:81\r\n"),
        ("http://127.0.0.1/f", "PUT /f HTTP/1.1\r\nHost: 127.0.0.1\r\n"),
    ]) func namesPathAndHost(_ url: String, _ start: String) {
        #expect(text(url)?.hasPrefix(start) == true, "\(text(url) ?? "none")")
    }

    @Test(arguments: [
        "https://a.example/", "HTTP://a.example/", "http://A.example/", "http:///f", "http://user@a.example/",
        "http://a.example:x/", "http://127.1/", "http://2130706433/", "http://1.2.3.04/", "http://a.example:70000/",
        "http://a_b.example/", "http://ä.example/",
        "http://a.example/a/../f", "http://a.example/.f", "http://a.example/ü", "http://a.example/a b",
        "http://a.example/f#g", "http://a.example/\"", "http://a.example/{a}", "http://a.example/\r\nX: y", "http://",
        "ftp://a.example/", "",
    ]) func leavesOtherURLsToLibcurl(_ url: String) {
        #expect(text(url) == nil)
    }

    @Test(arguments: [
        HeaderField("Host", "b.example"), HeaderField("content-length", "5"),
        HeaderField("Transfer-Encoding", "chunked"),
        HeaderField("Connection", "close"), HeaderField("Expect", "100-continue"), HeaderField("Upgrade", "h2c"),
        HeaderField("Proxy-Authorization", "x"), HeaderField("X", "a\r\nY: b"), HeaderField("X\nY", "a"),
        HeaderField("X:", "a"), HeaderField("", "a"), HeaderField("X", "\0"), HeaderField("X", " "),
    ]) func leavesFieldsThatSayMoreToLibcurl(_ field: HeaderField) {
        #expect(text("http://a.example/f", "PUT", [field]) == nil)
    }

    @Test func leavesOddMethodsToLibcurl() {
        #expect(text("http://a.example/f", "PUT /x HTTP/1.1\r\n") == nil && text("http://a.example/f", "put") == nil)
    }

    /// What one of them has stays with it.
    @Test func nothingOfOneIsInTheNext() throws {
        var maker = PlainRequestMaker()
        for (place, name, size) in [("a", "X", 5), ("b", "X", 0), ("b", "Y", 12_345), ("a", "Y", 10), ("a", "Y", 9)] {
            let fields = [HeaderField(name, place)]
            let body = Array(repeating: UInt8(ascii: "z"), count: size)
            let made = maker.make("http://\(place)/\(size)", "POST", fields, body: body)
            let request = try #require(made)
            #expect(
                String(decoding: request.bytes[..<request.headLength], as: UTF8.self)
                    == "POST /\(size) HTTP/1.1\r\nHost: \(place)\r\nAccept: */*\r\n\(name): \(place)\r\nContent-Length: \(size)\r\n\r\n"
            )
            #expect(Array(request.bytes[request.headLength...]) == body)
            #expect(request.place == Array("http://\(place)".utf8))
        }
    }
}
