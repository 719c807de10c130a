import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// Redirects of RFC 9110 §15.4, case by case, verified by the server's log.
@Suite("Redirects, case by case", .timeLimit(.minutes(2)))
struct RedirectCaseTests {
    // MARK: Methods and bodies

    struct Case: Sendable, CustomTestStringConvertible {
        var status: Int
        var method: String
        /// The method of the next request; `nil` if the redirect itself is the answer.
        var next: String?
        var sendsBody = false
        var testDescription: String { "\(status) to \(method)" }

        init(_ status: Int, _ method: String, _ next: String?, body: Bool = false) {
            self.status = status
            self.method = method
            self.next = next
            sendsBody = body
        }
    }

    private static let cases: [Case] = [
        Case(301, "GET", "GET"), Case(302, "GET", "GET"), Case(303, "GET", "GET"), Case(307, "GET", "GET"),
        Case(308, "GET", "GET"),
        Case(301, "HEAD", "HEAD"), Case(302, "HEAD", "HEAD"), Case(303, "HEAD", "HEAD"), Case(307, "HEAD", "HEAD"),
        Case(308, "HEAD", "HEAD"),
        Case(301, "POST", "GET"), Case(302, "POST", "GET"), Case(303, "POST", "GET"),
        Case(307, "POST", "POST", body: true), Case(308, "POST", "POST", body: true),
        Case(301, "PUT", "PUT", body: true), Case(302, "PUT", "PUT", body: true), Case(303, "PUT", "GET"),
        Case(307, "PUT", "PUT", body: true), Case(308, "PUT", "PUT", body: true),
        Case(301, "PATCH", "PATCH", body: true), Case(303, "PATCH", "GET"), Case(308, "PATCH", "PATCH", body: true),
        Case(301, "DELETE", "DELETE"), Case(302, "DELETE", "DELETE"), Case(303, "DELETE", "GET"),
        Case(307, "DELETE", "DELETE"), Case(302, "OPTIONS", "OPTIONS"), Case(303, "OPTIONS", "GET"),
        Case(300, "GET", nil), Case(304, "GET", nil), Case(305, "GET", nil), Case(306, "GET", nil),
        Case(300, "POST", nil), Case(399, "GET", nil), Case(201, "POST", nil),
    ]

    @Test(arguments: cases)
    func methodsAndBodiesFollowTheStatus(_ row: Case) async throws {
        try await withTestServer { server async throws in
            server.handle(nil, "/a") { _ in Response(status: row.status, headers: ["Location": "/b"]) }
            server.handle(nil, "/b") { request in
                Response(body: request.method == "HEAD" ? .empty : .text("\(request.body.count)"))
            }
            var request = URLRequest(url: try #require(URL(string: server.url("/a"))))
            request.httpMethod = row.method
            request.headers.add(name: "X-Kept", value: "1")
            let hasBody = ["POST", "PUT", "PATCH"].contains(row.method)
            if hasBody {
                request.httpBody = Data("body".utf8)
                request.headers.add(.contentType("text/plain"))
                request.headers.add(name: "Content-Language", value: "en")
            }
            let response = await Session.ofRedirects().request(request).response()
            guard let next = row.next else {
                #expect(server.requests.count == 1 && response.response?.statusCode == row.status)
                #expect(response.response?.url?.path == "/a")
                return
            }
            let seen = try #require(server.requests.last)
            #expect(server.requests.count == 2 && seen.path == "/b" && seen.method == next)
            #expect(seen.bodyLength == (row.sendsBody ? 4 : 0))
            #expect((seen.headers["Content-Type"] != nil) == row.sendsBody)
            #expect((seen.headers["Content-Language"] != nil) == row.sendsBody)
            #expect(seen.headers["X-Kept"] == "1")
            #expect(response.response?.statusCode == 200 && response.response?.url?.absoluteString == server.url("/b"))
        }
    }

    // MARK: Places

    @Test(
        arguments: [
            // Columns: Location, the requested target, and the URL of the answer. The request is for /d/x?p=0.
            ("/y", "/y", "/y"), ("y", "/d/y", "/d/y"), ("../y", "/y", "/y"), ("./y", "/d/y", "/d/y"),
            ("?q=1", "/d/x?q=1", "/d/x?q=1"), ("y?q=/a/../b", "/d/y?q=/a/../b", "/d/y?q=/a/../b"),
            ("//HOST/y", "/y", "/y"), ("http://HOST/y", "/y", "/y"), ("HTTP://HOST/y", "/y", "/y"),
            ("http://u:p@HOST/y", "/y", "/y"), ("//u@HOST/y", "/y", "/y"),
            ("/a b", "/a%20b", "/a%20b"), ("/ä?ö=ü", "/%C3%A4?%C3%B6=%C3%BC", "/%C3%A4?%C3%B6=%C3%BC"),
            ("/y?q=a b", "/y?q=a%20b", "/y?q=a%20b"), ("http://HOST/ä b", "/%C3%A4%20b", "/%C3%A4%20b"),
            ("/a%20b%2Fc", "/a%20b%2Fc", "/a%20b%2Fc"), ("/\"<a>\"", "/%22%3Ca%3E%22", "/%22%3Ca%3E%22"),
            ("/y#part", "/y", "/y#part"), ("#part", "/d/x?p=0", "/d/x?p=0#part"), ("y#ä b", "/d/y", "/d/y#%C3%A4%20b"),
            ("http://HOST", "/", "/"), ("http://HOST?q=1", "/?q=1", "/?q=1"),
        ] as [(String, String, String)])
    func placesAreReadAsTheyAreMeant(_ location: String, _ target: String, _ url: String) async throws {
        try await withTestServer { server async throws in
            let place = location.replacingOccurrences(of: "HOST", with: "127.0.0.1:\(server.port)")
            let isFirst = Calls<Bool>()
            server.handle("GET", "/*") { _ in
                defer { isFirst.add(false) }
                return isFirst.all.isEmpty
                    ? Response(status: 302, headers: ["Location": place]) : Response(body: .text("there"))
            }
            let response = await Session.ofRedirects().request(server.url("/d/x?p=0")).serializingString().response
            #expect(response.value == "there")
            #expect(server.requests.last?.target == target && server.requests.last?.headers["Authorization"] == nil)
            #expect(response.response?.url?.absoluteString == server.url(url))
        }
    }

    @Test(
        arguments: [
            ("/b", "/b#mine"), ("/b#theirs", "/b#theirs"), ("/b#", "/b#"),
        ])
    func aFragmentIsInheritedUnlessThereIsAnother(_ location: String, _ url: String) async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: location))
            server.serve("/b", .text("there"))
            let calls = Calls<String?>()
            let request = Session.ofRedirects().request(server.url("/a#mine")).onHTTPResponse { response in
                calls.add(response.url?.absoluteString)
            }
            let response = await request.serializingString().response
            #expect(server.requests.map(\.target) == ["/a", "/b"])
            #expect(response.response?.url?.absoluteString == server.url(url))
            let early = await calls.first()
            #expect(early == server.url(url), "the URL is right before the body has come, too")
        }
    }

    @Test(
        arguments: [
            ("ftp://127.0.0.1/x", URLError.Code.redirectToNonExistentLocation),
            ("file:///etc/passwd", .redirectToNonExistentLocation), ("http:///x", .badServerResponse),
            ("http://127.0.0.1:99999/x", .badServerResponse), ("http://", .badServerResponse),
        ] as [(String, URLError.Code)])
    func anInvalidLocationIsAnError(_ location: String, _ code: URLError.Code) async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: location))
            let error = await Session.ofRedirects().request(server.url("/a")).response().error
            #expect(URLError.code(of: error) == code && server.requests.count == 1)
        }
    }

    @Test func withoutALocationTheAnswerIsTaken() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .status(302, body: .text("nowhere")))
            server.script("/b", [], afterwards: .status(302, headers: ["Location": ""], body: .text("nowhere")))
            for path in ["/a", "/b"] {
                let response = await Session.ofRedirects().request(server.url(path)).serializingString().response
                #expect(response.value == "nowhere" && response.response?.statusCode == 302)
            }
        }
    }

    @Test(arguments: [(["/b", "/b"], true), (["/b", "/c"], false)] as [([String], Bool)])
    func severalLocationsMustAgree(_ places: [String], _ isFollowed: Bool) async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "/a") { _ in
                var response = Response(status: 302)
                for place in places { response.headers.add("Location", place) }
                return response
            }
            server.serve("/b", .text("there"))
            server.serve("/c", .text("elsewhere"))
            let response = await Session.ofRedirects().request(server.url("/a")).serializingString().response
            #expect(response.value == (isFollowed ? "there" : nil))
            #expect(server.requests.count == (isFollowed ? 2 : 1))
            if !isFollowed { #expect(URLError.code(of: response.error) == .badServerResponse) }
        }
    }

    // MARK: Origins

    private static let secrets: HTTPHeaders = [
        "Authorization": "Bearer s", "Cookie": "s=1", "Proxy-Authorization": "Basic s", "X-Api-Key": "s",
        "X-Custom": "s", "Referer": "http://a.example/secret", "Host": "a.example",
    ]

    @Test(
        arguments: [
            // Another host, a subdomain, a parent domain, and another port.
            "http://b.example/b", "http://www.a.example/b", "http://example/b", "http://a.example:81/b",
        ])
    func credentialsAreDroppedAcrossOriginsAndNotRestored(_ other: String) async throws {
        try await withTestServer { server async throws in
            server.script("http://a.example/a", [], afterwards: .redirect(to: other, status: 307))
            server.script(
                other.replacingOccurrences(of: ":81", with: ""), [], afterwards: .redirect(to: "http://a.example/c"))
            server.serve("http://a.example/c", .text("there"))
            var headers = Self.secrets
            headers.remove(name: "Host")
            headers.add(.accept("text/plain"))
            let response = await Session.ofRedirects(server).request("http://a.example/a", headers: headers)
                .serializingString()
                .response
            #expect(response.value == "there")
            let requests = server.requests
            #expect(requests.count == 3 && requests[0].headers["X-Api-Key"] == "s")
            for request in requests.dropFirst() {
                for name in ["Authorization", "Cookie", "X-Api-Key", "X-Custom", "Referer"] {
                    #expect(request.headers[name] == nil, "\(name) to \(request.target)")
                }
                #expect(request.headers["Accept"] == "text/plain" && request.headers["User-Agent"] != nil)
            }
        }
    }

    @Test func withinAnOriginEverythingGoesAlong() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b", status: 308))
            server.serve("/b", .text("there"))
            _ = await Session.ofRedirects().request(server.url("/a"), headers: Self.secrets).response()
            let seen = try #require(server.requests.last)
            for header in Self.secrets where header.name != "Proxy-Authorization" {
                #expect(seen.headers[header.name] == header.value)
            }
        }
    }

    @Test func credentialsOfTheURLGoToNoOtherOrigin() async throws {
        try await withTestServer { other async throws in
            try await withTestServer { server async throws in
                let challenge = Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
                server.script("/a", [], afterwards: .redirect(to: other.url("/b")))
                other.handle("GET", "/b") { _ in challenge }
                let url = server.url("/a").replacingOccurrences(of: "http://", with: "http://u:p@")
                let response = await Session.ofRedirects().request(url).response()
                #expect(response.response?.statusCode == 401)
                #expect(other.requests.map { $0.headers["Authorization"] } == [nil])
                #expect(response.response?.url?.absoluteString == other.url("/b"))
            }
        }
    }

    @Test func fromHTTPSToHTTPARedirectIsFollowedWithoutSecrets() async throws {
        try await withTestServer { plain async throws in
            plain.serve("/b", .text("there"))
            let folder = try TemporaryFolder("redirects")
            var options = NginxServer.Options()
            options.certificate = try await ServerCertificate.make(in: folder)
            options.server = """
                location /a { add_header Set-Cookie "s=1; Secure; Path=/" always; return 302 \(plain.url("/b")); }
                """
            let nginx = try await NginxServer.start(options: options)
            let session = Session.ofRedirects { $0.authorities = options.certificate?.path }
            let response = await session.request(nginx.url("/a"), headers: [.authorization(bearerToken: "t")])
                .serializingString().response
            #expect(response.value == "there" && response.response?.url?.absoluteString == plain.url("/b"))
            let seen = try #require(plain.requests.last)
            #expect(seen.headers["Authorization"] == nil && seen.headers["Cookie"] == nil)
            withExtendedLifetime(nginx) {}
        }
    }

    // MARK: Limits

    @Test func twentyRedirectsAreFollowedAndNoMore() async throws {
        try await withTestServer { server async throws in
            server.handle("GET", "/n/*") { request in
                let number = Int(request.path.dropFirst(3)) ?? 0
                return number == 0
                    ? Response(body: .text("there"))
                    : Response(status: 302, headers: ["Location": "/n/\(number - 1)"])
            }
            let text = try await Session.ofRedirects().request(server.url("/n/20")).serializingString().value
            #expect(text == "there" && server.requests.count == 21)
            let error = await Session.ofRedirects().request(server.url("/n/21")).response().error
            #expect(URLError.code(of: error) == .httpTooManyRedirects && server.requests.count == 42)
            let few = Session.ofRedirects { $0.maxRedirects = 0 }
            let first = await few.request(server.url("/n/1")).response().error
            #expect(URLError.code(of: first) == .httpTooManyRedirects)
            // A redirect that is not followed does not exceed the limit.
            let kept = await few.request(server.url("/n/0")).response()
            #expect(kept.response?.statusCode == 200)
        }
    }

    // MARK: Uploads and downloads

    enum Kind: CaseIterable { case data, file, stream, freshStream, form }

    @Test(arguments: Kind.allCases, [307, 308, 303])
    func uploadsAreSentAgainOrNot(_ kind: Kind, _ status: Int) async throws {
        try await withTestServer { server async throws in
            let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            server.handle(nil, "/a") { _ in Response(status: status, headers: ["Location": "/in"]) }
            server.serve("/in", .text("there"))
            let sink = server.acceptUploads("/in")
            let folder = try TemporaryFolder("redirects")
            let session = Session.ofRedirects { $0.temporaryFolder = folder.path }
            let url = server.url("/a")
            let request: UploadRequest
            switch kind {
            case .data: request = session.upload(content, to: url)
            case .file:
                try folder.write(content, to: "source")
                request = session.upload(URL(fileURLWithPath: folder.path("source")), to: url)
            case .stream: request = session.upload(InputStream(data: content), to: url)
            case .freshStream: request = session.upload(streamedBy: { InputStream(data: content) }, to: url)
            case .form:
                request = session.upload(multipartFormData: { $0.append(content, withName: "part") }, to: url)
            }
            let response = await request.serializingData(emptyResponseCodes: [201]).response
            guard status != 303 else {
                #expect(response.value == Data("there".utf8))
                let seen = try #require(server.requests.last)
                #expect(seen.method == "GET" && seen.bodyLength == 0 && seen.headers["Content-Type"] == nil)
                return
            }
            if kind == .stream {
                #expect(URLError.code(of: response.error) == .requestBodyStreamExhausted)
                #expect(sink.uploads.allSatisfy { $0.count == 0 && !$0.isComplete })
                return
            }
            #expect(response.response?.statusCode == 201)
            let received = try #require(sink.uploads.first?.bytes)
            if kind == .form {
                #expect(Data(received).range(of: content) != nil)
            } else {
                #expect(Data(received) == content)
            }
        }
    }

    @Test func aDownloadIsNamedByTheLastURL() async throws {
        try await withTestServer { server async throws in
            server.script("/old.txt", [], afterwards: .redirect(to: "/files/new%20name.bin?sig=1"))
            server.serve("/files/new%20name.bin", .text("there"))
            let folder = try TemporaryFolder("redirects")
            let target = folder.path("target")
            let names = Calls<String?>()
            let destination: DownloadRequest.Destination = { _, response in
                names.add(response.url?.lastPathComponent)
                return (URL(fileURLWithPath: target), [])
            }
            let session = Session.ofRedirects { $0.temporaryFolder = folder.path }
            let response = await session.download(server.url("/old.txt"), to: destination)
                .serializingDownloadedFileURL().response
            #expect(response.error == nil && response.response?.url?.path == "/files/new name.bin")
            #expect(names.all == ["new name.bin"])
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "there")
        }
    }
}

extension Session {
    /// Makes a session for one case.
    static func ofRedirects(
        _ server: TestServer? = nil, _ change: (inout SessionSettings) -> Void = { _ in }
    ) -> Session {
        var settings = SessionSettings()
        settings.loops = 1
        if let server { settings.proxy = "http://127.0.0.1:\(server.port)" }
        change(&settings)
        return Session(settings)
    }
}
