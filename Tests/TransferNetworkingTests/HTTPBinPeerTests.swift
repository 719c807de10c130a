import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

/// httpbin under gunicorn, endpoint by endpoint.
@Suite("httpbin under gunicorn", .timeLimit(.minutes(3)), .enabled(if: HTTPBinServer.isWanted))
struct HTTPBinPeerTests {
    struct Echo: Decodable, Sendable {
        var url: String?
        var method: String?
        var args: [String: String]?
        var headers: [String: String]?
        var data: String?
        var form: [String: String]?
        var files: [String: String]?
        var cookies: [String: String]?
        var gzipped: Bool?
        var deflated: Bool?
        var brotli: Bool?
        var authenticated: Bool?
        var user: String?
        var token: String?
        var uuid: String?
        var origin: String?
        var id: Int?
    }

    private let session = makeSession()

    private func echo(
        _ path: String, method: HTTPMethod = .get, headers: HTTPHeaders? = nil, session: Session? = nil
    ) async throws -> DataResponse<Echo, AFError> {
        let url = try await HTTPBinServer.shared().url(path)
        return await (session ?? self.session).request(url, method: method, headers: headers).validate()
            .serializingDecodable(Echo.self).response
    }

    private func url(_ path: String) async throws -> String { try await HTTPBinServer.shared().url(path) }

    // MARK: Redirects

    @Test(arguments: [
        "/redirect/1", "/redirect/6", "/redirect/3?absolute=true", "/relative-redirect/1", "/relative-redirect/5",
        "/absolute-redirect/1", "/absolute-redirect/5", "/redirect-to?url=/get",
        "/redirect-to?url=%2Fget&status_code=307",
    ])
    func redirectsLeadToGet(_ path: String) async throws {
        let response = try await echo(path)
        let end = try await url("/get")
        #expect(response.value?.url == end && response.response?.url?.absoluteString == end)
    }

    @Test func moreThanTwentyRedirectsAreTooMany() async throws {
        let response = try await echo("/redirect/20")
        #expect(response.error == nil)
        let more = try await echo("/redirect/21")
        #expect(URLError.code(of: more.error) == .httpTooManyRedirects)
    }

    @Test(
        arguments: [
            (301, HTTPMethod.post, "GET"), (302, .post, "GET"), (303, .post, "GET"), (307, .post, "POST"),
            (308, .post, "POST"), (301, .put, "PUT"), (302, .patch, "PATCH"), (303, .delete, "GET"),
            (307, .delete, "DELETE"), (303, .put, "GET"),
        ] as [(Int, HTTPMethod, String)])
    func redirectToKeepsOrChangesTheMethod(_ status: Int, _ method: HTTPMethod, _ next: String) async throws {
        let target = try await url("/redirect-to?url=/anything&status_code=\(status)")
        let parameters = method == .delete ? nil : ["a": "b c"]
        let response = await session.request(target, method: method, parameters: parameters).validate()
            .serializingDecodable(Echo.self).response
        #expect(response.value?.method == next)
        #expect(response.value?.form?["a"] == (next == "GET" || method == .delete ? nil : "b c"))
    }

    @Test func aRedirectIsNotFollowedWhereThatIsSaid() async throws {
        let response = await session.request(try await url("/redirect/1")).redirect(using: .doNotFollow).response()
        #expect(response.response?.statusCode == 302)
        #expect(response.response?.value(forHTTPHeaderField: "Location") == "/get")
    }

    // MARK: Cookies

    @Test func cookiesAreSetSentAndDeleted() async throws {
        let session = makeSession()
        let none = try await echo("/cookies", session: session)
        #expect(none.value?.cookies == [:])
        // Each of these redirects to /cookies, so the redirecting answer's cookies are sent at once.
        let one = try await echo("/cookies/set/a/1", session: session)
        #expect(one.value?.cookies == ["a": "1"])
        let two = try await echo("/cookies/set?b=2&c=three%20words", session: session)
        #expect(two.value?.cookies == ["a": "1", "b": "2", "c": "three words"])
        let changed = try await echo("/cookies/set/a/9", session: session)
        #expect(changed.value?.cookies?["a"] == "9")
        let less = try await echo("/cookies/delete?a=&c=", session: session)
        #expect(less.value?.cookies == ["b": "2"])
        let own = try await echo("/cookies", headers: ["Cookie": "mine=1"], session: session)
        #expect(own.value?.cookies == ["mine": "1"])
        let stranger = try await echo("/cookies", session: makeSession())
        #expect(stranger.value?.cookies == [:])
    }

    /// The challenge sets `stale_after=1`, and its answer decrements the value. (`?require-cookie` cannot be used:
    /// httpbin's digest check fails for URLs with a query.)
    @Test func aChallengesCookiesGoAlongWithItsAnswer() async throws {
        let store = CookieStore()
        var settings = SessionSettings()
        settings.cookies = CookieSettings(place: .store(store))
        let target = try await url("/digest-auth/auth/user/secret/MD5/1")
        let response = await Session(settings).request(target.replacingOccurrences(of: "://", with: "://user:secret@"))
            .validate().serializingDecodable(Echo.self).response
        #expect(response.value?.authenticated == true)
        #expect(store.cookies.first { $0.name == "stale_after" }?.value == "0")
    }

    // MARK: Authentication by fields and userinfo (the rest: HTTPBinAuthenticationTests)

    @Test(arguments: [
        "/basic-auth/user/pa:ss", "/digest-auth/auth/user/pa:ss", "/digest-auth/auth/user/pa:ss/MD5",
        "/digest-auth/auth/user/pa:ss/SHA-256",
    ])
    func userinfoOfAURLAnswersAChallenge(_ path: String) async throws {
        let target = try await url(path).replacingOccurrences(of: "://", with: "://user:pa%3Ass@")
        let response = await session.request(target).validate().serializingDecodable(Echo.self).response
        #expect(response.value?.authenticated == true && response.value?.user == "user")
        let wrong = try await url(path).replacingOccurrences(of: "://", with: "://user:wrong@")
        let refused = await makeSession().request(wrong).validate().serializingData().response
        #expect(refused.error?.responseCode == 401)
    }

    @Test func fieldsAreSentWithoutAChallenge() async throws {
        let hidden = try await echo(
            "/hidden-basic-auth/user/secret", headers: [.authorization(username: "user", password: "secret")])
        #expect(hidden.value?.authenticated == true)
        let unknown = try await echo("/hidden-basic-auth/user/secret")
        #expect(unknown.error?.responseCode == 404)
        let bearer = try await echo("/bearer", headers: [.authorization(bearerToken: "t0ken")])
        #expect(bearer.value?.token == "t0ken" && bearer.value?.authenticated == true)
        let refused = try await echo("/bearer")
        #expect(refused.error?.responseCode == 401)
    }

    // MARK: Caching, what the server's part of it is (the rest: HTTPBinCacheTests)

    @Test func conditionsOfTheProgramAreAnswered() async throws {
        let first = await session.request(try await url("/cache")).validate().serializingData().response
        let tag = try #require(first.response?.value(forHTTPHeaderField: "ETag"))
        #expect(first.response?.value(forHTTPHeaderField: "Last-Modified") != nil)
        for name in ["If-None-Match", "If-Modified-Since"] {
            let again = await session.request(try await url("/cache"), headers: [name: tag]).response()
            #expect(again.response?.statusCode == 304 && again.data?.isEmpty ?? true)
        }
        let matching = await session.request(try await url("/etag/x"), headers: ["If-None-Match": "x"]).response()
        #expect(matching.response?.statusCode == 304)
        let failing = await session.request(try await url("/etag/x"), headers: ["If-Match": "y"]).response()
        #expect(failing.response?.statusCode == 412)
        let fields = await session.request(try await url("/cache/60")).validate().serializingData().response
        #expect(fields.response?.value(forHTTPHeaderField: "Cache-Control") == "public, max-age=60")
    }

    @Test func theServerSendsTheFieldsThatItIsAskedFor() async throws {
        let response = await session.request(try await url("/response-headers?X-One=1&X-Two=two%20words"))
            .serializingData().response
        #expect(response.response?.value(forHTTPHeaderField: "X-One") == "1")
        #expect(response.response?.headers["x-two"] == "two words")
    }

    // MARK: Encodings

    @Test(arguments: ["/gzip", "/deflate", "/brotli"])
    func codedAnswersAreDecoded(_ path: String) async throws {
        let response = try await echo(path)
        #expect(response.value?.gzipped ?? response.value?.deflated ?? response.value?.brotli == true)
        #expect(response.value?.headers?["Accept-Encoding"] == "br;q=1.0, gzip;q=0.9, deflate;q=0.8")
    }

    @Test func textIsReadInItsEncoding() async throws {
        let text = await session.request(try await url("/encoding/utf8")).validate().serializingString().response
        #expect(text.value?.contains("∮ E⋅da = Q") == true && text.value?.contains("⡌⠁⠧⠑") == true)
        let robots = await session.request(try await url("/robots.txt")).validate().serializingString().response
        #expect(robots.value == "User-agent: *\nDisallow: /deny\n")
        let deny = await session.request(try await url("/deny")).validate().serializingString().response
        #expect(deny.value?.contains("YOU SHOULDN'T BE HERE") == true)
        let base64 = await session.request(try await url("/base64/VHJhbnNmZXJLaXQ=")).serializingString().response
        #expect(base64.value == "TransferKit")
        let html = await session.request(try await url("/html")).validate(contentType: ["text/html"])
            .serializingString().response
        #expect(html.value?.contains("Herman Melville") == true)
        let xml = await session.request(try await url("/xml")).validate(contentType: ["application/xml"])
            .serializingString().response
        #expect(xml.value?.hasPrefix("<?xml version='1.0'") == true)
        let json = await session.request(try await url("/json")).validate(contentType: ["application/json"])
            .serializingData().response
        #expect(json.error == nil)
    }

    // MARK: Methods and bodies

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete])
    func parametersArriveAsFormsAndAsJSON(_ method: HTTPMethod) async throws {
        let target = try await url("/\(method.rawValue.lowercased())")
        let parameters = ["a": "1", "ä b": "ü&="]
        let form = await session.request(
            target, method: method, parameters: parameters,
            encoder: URLEncodedFormParameterEncoder(destination: .httpBody)
        ).validate().serializingDecodable(Echo.self).response
        #expect(form.value?.form == parameters)
        let json = await session.request(target, method: method, parameters: parameters, encoder: .json).validate()
            .serializingDecodable(Echo.self).response
        let data = try #require(json.value?.data)
        let decoded = try JSONDecoder().decode([String: String].self, from: Data(data.utf8))
        #expect(decoded == parameters)
    }

    @Test func queriesFieldsAndFormsArrive() async throws {
        let target = try await url("/get")
        let query = await session.request(target, parameters: ["q": "ä b+c&d"]).validate()
            .serializingDecodable(Echo.self).response
        #expect(query.value?.args == ["q": "ä b+c&d"])
        let headers = try await echo("/headers", headers: ["X-Own": "yes"])
        #expect(headers.value?.headers?["X-Own"] == "yes")
        let agent = await session.request(try await url("/user-agent")).serializingString().response
        #expect(agent.value?.contains("TransferKit/") == true)
        let form = await session.upload(
            multipartFormData: { form in
                form.append(Data("value".utf8), withName: "field")
                form.append(Data("content".utf8), withName: "file", fileName: "a.txt", mimeType: "text/plain")
            }, to: try await url("/post")
        ).validate().serializingDecodable(Echo.self).response
        #expect(form.value?.form == ["field": "value"] && form.value?.files == ["file": "content"])
        let upload = await session.upload(Data("raw".utf8), to: try await url("/put"), method: .put).validate()
            .serializingDecodable(Echo.self).response
        #expect(upload.value?.data == "raw")
        let streamed = await session.upload(
            streamedBy: { InputStream(data: Data("streamed".utf8)) }, to: try await url("/anything")
        ).validate().serializingDecodable(Echo.self).response
        #expect(streamed.value?.data == "streamed" && streamed.value?.method == "POST")
        let uuid = try await echo("/uuid")
        #expect(uuid.value?.uuid.flatMap { UUID(uuidString: $0) } != nil)
        let ip = try await echo("/ip")
        #expect(ip.value?.origin == "127.0.0.1")
    }

    // MARK: Statuses

    @Test(arguments: [200, 201, 204, 205, 301, 302, 303, 304, 400, 401, 403, 404, 406, 409, 418, 429, 500, 502, 503])
    func statusesAreReportedAndValidated(_ status: Int) async throws {
        let response = await session.request(try await url("/status/\(status)")).redirect(using: .doNotFollow)
            .validate().serializingData(emptyResponseCodes: Set(200..<600)).response
        #expect(response.response?.statusCode == status)
        #expect(response.error?.responseCode == ((200..<300).contains(status) ? nil : status))
    }

    @Test func headHasNoBody() async throws {
        let response = await session.request(try await url("/get"), method: .head).validate().response()
        #expect(response.response?.statusCode == 200 && response.data?.isEmpty ?? true)
        #expect((response.response?.expectedContentLength ?? 0) > 0)
    }

    // MARK: Streams, ranges, time

    @Test func linesAreStreamed() async throws {
        let task = session.streamRequest(try await url("/stream/20")).validate().streamTask()
        var text = ""
        for await event in task.streamingData() {
            if case .stream(.success(let data)) = event.event { text += String(decoding: data, as: UTF8.self) }
        }
        let lines = text.split(separator: "\n")
        let numbers = try lines.map { try JSONDecoder().decode(Echo.self, from: Data($0.utf8)).id }
        #expect(numbers == Array(0..<20))
    }

    @Test func bytesDripAndAreCounted() async throws {
        let drip = await session.request(try await url("/drip?duration=0.2&numbytes=40&delay=0&code=200")).validate()
            .serializingData().response
        #expect(drip.value == Data(repeating: UInt8(ascii: "*"), count: 40))
        let bytes = await session.request(try await url("/bytes/5000?seed=1")).serializingData().response
        let again = await session.request(try await url("/stream-bytes/5000?seed=1&chunk_size=77")).serializingData()
            .response
        #expect(bytes.value?.count == 5000 && again.value?.count == 5000)
    }

    @Test func rangesAreAnsweredWithParts() async throws {
        let alphabet = Data("abcdefghijklmnopqrstuvwxyz".utf8)
        let whole = await session.request(try await url("/range/26")).serializingData().response
        #expect(whole.response?.statusCode == 200 && whole.value == alphabet)
        for (range, part, status) in [
            ("bytes=5-9", 5..<10, 206), ("bytes=20-", 20..<26, 206), ("bytes=-3", 23..<26, 206),
        ] {
            let response = await session.request(try await url("/range/26"), headers: ["Range": range])
                .serializingData().response
            #expect(response.response?.statusCode == status && response.value == alphabet[part])
            #expect(
                response.response?.value(forHTTPHeaderField: "Content-Range")
                    == "bytes \(part.lowerBound)-\(part.upperBound - 1)/26")
        }
        let beyond = await session.request(try await url("/range/26"), headers: ["Range": "bytes=30-40"]).response()
        #expect(beyond.response?.statusCode == 416)
        let folder = try TemporaryFolder("httpbin")
        let file = try await makeSession(folder).download(try await url("/range/100000?chunk_size=1000"))
            .validate().serializingDownloadedFileURL().value
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
        #expect(size == 100_000)
    }

    @Test func anAnswerThatTakesTooLongIsGivenUp() async throws {
        let prompt = try await echo("/delay/0")
        #expect(prompt.error == nil)
        var request = URLRequest(url: try #require(URL(string: try await url("/delay/10"))))
        request.timeoutInterval = 0.3
        let response = await session.request(request).response()
        #expect(URLError.code(of: response.error) == .timedOut)
    }

    @Test(arguments: ["png", "jpeg", "webp", "svg"])
    func imagesHaveTheirType(_ kind: String) async throws {
        let type = kind == "svg" ? "image/svg+xml" : "image/\(kind)"
        let own = await session.request(try await url("/image/\(kind)")).validate(contentType: [type])
            .serializingData().response
        #expect(own.error == nil && (own.value?.count ?? 0) > 1000)
        let accepted = await session.request(try await url("/image"), headers: [.accept(type)]).validate()
            .serializingData().response
        #expect(accepted.value == own.value)
    }
}
