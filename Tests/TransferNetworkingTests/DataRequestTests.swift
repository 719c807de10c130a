import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer

@testable import TransferNetworking

@Suite("Data requests")
struct DataRequestTests {
    @Test func theBodyArrivesAsDataStringAndDecodable() async throws {
        try await withTestServer { server async throws in
            server.serve("/g", ServedFile(.text(#"{"text":"hi"}"#), contentType: "application/json; charset=utf-8"))
            let request = makeSession().request(server.url("/g"))
            async let data = request.serializingData().value
            async let text = request.serializingString().value
            async let greeting = request.serializingDecodable(Greeting.self).value
            #expect(try await data == Data(#"{"text":"hi"}"#.utf8))
            #expect(try await text == #"{"text":"hi"}"#)
            #expect(try await greeting == Greeting(text: "hi"))
            #expect(server.requests(to: "/g").count == 1)
        }
    }

    @Test func methodHeadersAndTheSessionsOwnAreSent() async throws {
        try await withTestServer { server async throws in
            server.handle("DELETE", "/x") { _ in Response(status: 204) }
            let response = await makeSession().request(
                server.url("/x?q=1#part"), method: .delete, headers: ["X-Team": "media", "Empty": ""]
            ).serializingData().response
            #expect(response.response?.statusCode == 204)
            #expect(response.value == Data())
            let sent = try #require(server.requests.first)
            #expect(sent.method == "DELETE")
            #expect(sent.target == "/x?q=1")
            #expect(sent.headers["X-Team"] == "media")
            #expect(sent.headers["User-Agent"] == HTTPHeader.defaultUserAgent.value)
        }
    }

    @Test func aRequestsOwnUserAgentWins() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            _ = try await makeSession().request(server.url("/x"), headers: [.userAgent("mine")]).serializingData().value
            #expect(server.requests.first?.headers.all("User-Agent") == ["mine"])
        }
    }

    @Test func aBodyOfAURLRequestIsSent() async throws {
        try await withTestServer { server async throws in
            server.handle("POST", "/echo") { Response(body: .bytes($0.body)) }
            var request = try URLRequest(url: server.url("/echo"), method: .post)
            request.httpBody = Data("body".utf8)
            #expect(try await makeSession().request(request).serializingString().value == "body")
        }
    }

    @Test func anErrorStatusIsASuccessUnlessItIsValidated() async throws {
        try await withTestServer { server async throws in
            let session = makeSession()
            server.script("/x", [], afterwards: .status(404, body: .text("gone")))
            let plain = await session.request(server.url("/x")).serializingString().response
            #expect(plain.value == "gone")
            #expect(plain.response?.statusCode == 404)
            let validated = await session.request(server.url("/x")).validate().serializingString().response
            #expect(validated.error?.responseCode == 404)
            #expect(validated.data == Data("gone".utf8))
        }
    }

    @Test(arguments: [199 + 1, 204, 299, 300, 400, 500])
    func validateTakesStatusesFrom200To299(status: Int) async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.status(status)])
            let error = await makeSession().request(server.url("/x")).validate().response().error
            #expect((error?.responseCode ?? status) == status)
            #expect((error == nil) == (200..<300).contains(status))
        }
    }

    @Test func otherStatusesCanBeAskedFor() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.status(404)])
            #expect(await makeSession().request(server.url("/x")).validate(statusCode: [404]).response().error == nil)
        }
    }

    @Test func theTypeMustBeOneThatWasAskedFor() async throws {
        try await withTestServer { server async throws in
            let session = makeSession()
            server.serve("/x", ServedFile(.text("x"), contentType: "text/plain"))
            let refused = await session.request(server.url("/x"), headers: [.accept("application/json")]).validate()
                .response().error
            guard case .responseValidationFailed(.unacceptableContentType(_, "text/plain")) = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
            let pattern = await session.request(server.url("/x")).validate(contentType: ["text/*"]).response().error
            #expect(pattern == nil)
        }
    }

    @Test func aRuleOfOnesOwnDecides() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let error = await makeSession().request(server.url("/x"))
                .validate { _, _, data in data == Data("y".utf8) ? .success(()) : .failure(TestFailure()) }
                .response().error
            #expect(error?.underlyingError as? TestFailure == TestFailure())
        }
    }

    @Test func redirectsAreFollowedToTheirEnd() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b"))
            server.serve("/b", .text("there"))
            let response = await makeSession().request(server.url("/a")).serializingString().response
            #expect(response.value == "there")
            #expect(response.response?.url?.path == "/b")
        }
    }

    @Test func aCircleOfRedirectsFails() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/a"))
            let error = await makeSession().request(server.url("/a")).response().error
            #expect(URLError.code(of: error) == .httpTooManyRedirects)
            #expect(server.requests.count == SessionSettings().maxRedirects + 1)
        }
    }

    @Test func aServerThatIsNotThereIsAURLError() async throws {
        let gone = try await withTestServer { $0.url("/x") }
        let response = await makeSession().request(gone).response()
        #expect(URLError.code(of: response.error) == .cannotConnectToHost)
        #expect(response.response == nil)
    }

    @Test func aServerThatStaysSilentForTheRequestsTimeoutIsGivenUp() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.holdHead])
            var request = try URLRequest(url: server.url("/x"), method: .get)
            request.timeoutInterval = 1
            #expect(URLError.code(of: await makeSession().request(request).response().error) == .timedOut)
        }
    }

    @Test func aConnectionCutHalfWayIsAURLErrorThatKnowsItsCause() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 1, count: 50_000))
            server.script("/x", [.cut(after: 1000)])
            let error = await makeSession().request(server.url("/x")).response().error
            #expect(URLError.code(of: error) == .networkConnectionLost)
            #expect((error?.underlyingError as? URLError)?.transferError?.isTransient == true)
        }
    }

    @Test(arguments: ["http://[broken", "ftp://a.example/x", "gopher://a.example/x"])
    func urlsThatCannotBeAskedFail(url: String) async {
        let response = await makeSession().request(url).response()
        #expect(response.error?.isInvalidURLError == true || URLError.code(of: response.error) == .unsupportedURL)
    }

    @Test func anEmptyBodyIsAFailureExceptWhereItIsExpected() async throws {
        try await withTestServer { server async throws in
            let session = makeSession()
            server.handle(nil, "/empty") { _ in Response(status: 200) }
            let get = await session.request(server.url("/empty")).serializingData().response
            guard case .responseSerializationFailed(.inputDataNilOrZeroLength) = get.error else {
                Issue.record("\(String(describing: get.error))")
                return
            }
            let head = await session.request(server.url("/empty"), method: .head).serializingData().response
            #expect(head.value == Data())
            server.handle(nil, "/none") { _ in Response(status: 204) }
            #expect(await session.request(server.url("/none")).serializingDecodable(Empty.self).response.error == nil)
            let typed = await session.request(server.url("/none")).serializingDecodable(Greeting.self).response.error
            #expect(typed?.isResponseSerializationError == true)
        }
    }

    @Test func textIsReadInTheEncodingThatTheAnswerNamesElseLatin1() async throws {
        try await withTestServer { server async throws in
            let session = makeSession()
            server.serve("/utf8", ServedFile(.text("é"), contentType: "text/plain; charset=utf-8"))
            server.serve("/none", ServedFile(.bytes([0xE9]), contentType: "text/plain"))
            #expect(try await session.request(server.url("/utf8")).serializingString().value == "é")
            #expect(try await session.request(server.url("/none")).serializingString().value == "é")
        }
    }

    @Test func aDecodingFailureCarriesItsReason() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("{}"))
            let error = await makeSession().request(server.url("/x")).serializingDecodable(Greeting.self).response.error
            #expect(error?.isResponseSerializationError == true)
            #expect(error?.underlyingError is DecodingError)
        }
    }
}

extension DataRequest {
    /// Returns the unserialized response.
    func response() async -> AFDataResponse<Data?> {
        await withCheckedContinuation { continuation in
            response(queue: testQueue) { continuation.resume(returning: $0) }
        }
    }
}
