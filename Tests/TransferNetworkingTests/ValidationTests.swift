import Foundation
import FoundationNetworking
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Validation")
struct ValidationTests {
    private let session = makeSession()

    private static func typed(_ type: String?, _ text: String = "x") -> ServedFile {
        ServedFile(.text(text), contentType: type)
    }

    // MARK: The rules themselves

    @Test(
        arguments: [
            ("text/plain", "text/plain", true), ("TEXT/Plain", "text/plain", true), ("text/*", "text/plain", true),
            ("*/plain", "text/plain", true), ("*/*", "text/plain", true), ("text/html", "text/plain", false),
            ("image/*", "text/plain", false), ("*/html", "text/plain", false), ("text", "text/plain", false),
            ("text/plain;q=0.5", "text/plain", true), ("text/plain", "text/plain; charset=utf-8", true),
            ("application/json", "Application/JSON ;v=2", true), ("text/plain", "text/*", false),
        ])
    func typesAreMatchedByPatternWithoutParametersAndCase(accepted: String, type: String, isTaken: Bool) throws {
        let result = ResponseRule.contentType(try head(type), [accepted], isEmpty: false)
        #expect(result.error == nil || result.error?.asAFError?.isResponseValidationError == true)
        #expect((result.error == nil) == isTaken)
    }

    @Test(arguments: [nil, "garbage", "text/", "/plain", ""])
    func anAnswerWithoutATypePassesOnlyWhereEveryTypeDoes(type: String?) throws {
        #expect(ResponseRule.contentType(try head(type), ["text/plain", "*/*"], isEmpty: false).error == nil)
        let error = ResponseRule.contentType(try head(type), ["text/*"], isEmpty: false).error?.asAFError
        guard case .responseValidationFailed(.missingContentType(["text/*"]))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aMissingTypeNamesTheAcceptedOnesInTheirOrder() throws {
        let error = ResponseRule.contentType(try head(nil), ["b/*", "a/*"], isEmpty: false).error?.asAFError
        #expect(error?.acceptableContentTypes == ["a/*", "b/*"])
    }

    @Test func anAnswerWithoutABodyHasNoTypeToCheck() throws {
        #expect(ResponseRule.contentType(try head("text/html"), ["image/png"], isEmpty: true).error == nil)
        #expect(ResponseRule.contentType(try head(nil), ["image/png"], isEmpty: true).error == nil)
    }

    @Test func aRefusedTypeNamesBothSides() throws {
        let error = ResponseRule.contentType(try head("Text/HTML; x=y"), ["image/png", "image/gif"], isEmpty: false)
            .error?.asAFError
        #expect(error?.acceptableContentTypes == ["image/gif", "image/png"])
        #expect(error?.responseContentType == "text/html")
    }

    @Test(
        arguments: [
            (nil, ["*/*"]), ("", ["*/*"]), (" , ", ["*/*"]), ("text/plain", ["text/plain"]),
            ("text/plain, application/json;q=0.9,*/*;q=0.1", ["text/plain", "application/json;q=0.9", "*/*;q=0.1"]),
        ] as [(String?, [String])])
    func theAcceptFieldSaysWhichTypesAreTaken(field: String?, types: [String]) throws {
        var request = try URLRequest(url: "http://a.example/x", method: .get)
        request.setValue(field, forHTTPHeaderField: "Accept")
        #expect(ResponseRule.acceptable(request) == types)
        #expect(ResponseRule.acceptable(nil) == ["*/*"])
    }

    @Test func statusesMayBeAnySequence() throws {
        #expect(ResponseRule.status(try head(nil, status: 404), [200, 404]).error == nil)
        #expect(ResponseRule.status(try head(nil, status: 404), Set([404])).error == nil)
        #expect(ResponseRule.status(try head(nil, status: 404), 400...499).error == nil)
        #expect(ResponseRule.status(try head(nil, status: 404), stride(from: 404, to: 500, by: 10)).error == nil)
        let error = ResponseRule.status(try head(nil, status: 500), 400...499).error?.asAFError
        #expect(error?.responseCode == 500)
    }

    private func head(_ type: String?, status: Int = 200) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://a.example/x"))
        return try #require(
            HTTPURLResponse(
                url: url, statusCode: status, httpVersion: nil, headerFields: type.map { ["Content-Type": $0] }))
    }

    // MARK: Requests for data

    @Test func withoutARuleEveryAnswerIsASuccess() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.status(500, headers: ["Content-Type": "image/png"], body: .text("oops"))])
            let response = await session.request(server.url("/x"), headers: [.accept("text/plain")])
                .serializingString().response
            #expect(response.value == "oops")
        }
    }

    @Test func aRefusedStatusStillHasItsBody() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.status(409, body: .text("because"))])
            let response = await session.request(server.url("/x")).validate(statusCode: 200..<300)
                .serializingString().response
            #expect(response.error?.responseCode == 409)
            #expect(response.data == Data("because".utf8))
            #expect(response.response?.statusCode == 409)
        }
    }

    @Test(arguments: ["application/json", "application/*", "*/json, text/html", "text/html;q=0.9, application/json"])
    func theTypeMustBeOneThatTheRequestAccepts(accept: String) async throws {
        try await withTestServer { server async throws in
            server.serve("/json", Self.typed("application/json; charset=utf-8"))
            server.serve("/text", Self.typed("text/plain"))
            let headers: HTTPHeaders = [.accept(accept)]
            let taken = await session.request(server.url("/json"), headers: headers).validate().response()
            #expect(taken.error == nil)
            let refused = await session.request(server.url("/text"), headers: headers).validate().response()
            #expect(refused.error?.responseContentType == "text/plain")
        }
    }

    @Test func everyTypeIsTakenWhereTheRequestNamesNone() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", Self.typed("application/x-unheard-of"))
            server.serve("/none", Self.typed(nil))
            #expect(await session.request(server.url("/x")).validate().response().error == nil)
            #expect(await session.request(server.url("/none")).validate().response().error == nil)
        }
    }

    @Test func aMissingTypeIsRefusedWhereOneIsAskedFor() async throws {
        try await withTestServer { server async throws in
            server.serve("/none", Self.typed(nil))
            let error = await session.request(server.url("/none")).validate(contentType: ["text/plain"]).response()
                .error
            guard case .responseValidationFailed(.missingContentType(["text/plain"]))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func anAnswerWithoutABodyPassesWhateverItsType() async throws {
        try await withTestServer { server async throws in
            server.handle(nil, "/x") { _ in Response(status: 200, headers: ["Content-Type": "text/html"]) }
            let error = await session.request(server.url("/x"), headers: [.accept("image/png")]).validate()
                .validate(contentType: ["image/png"]).response().error
            #expect(error == nil)
        }
    }

    @Test func acceptableTypesAreLookedAtWhenTheAnswerIsThere() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", Self.typed("image/png"))
            let types = Mutex<[String]>([])
            let typesNow = { @Sendable in types.withLock { $0 } }
            let request = session.request(server.url("/x")).validate(contentType: typesNow())
            types.withLock { $0 = ["image/png"] }
            #expect(await request.response().error == nil)
        }
    }

    @Test func rulesAreAskedInTheirOrderUntilOneRefuses() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.status(404, headers: ["Content-Type": "text/plain"], body: .text("x"))])
            let asked = Calls<Int>()
            let response = await session.request(server.url("/x"))
                .validate { _, _, _ in
                    asked.add(1)
                    return .success(())
                }
                .validate(statusCode: 200..<300)
                .validate { _, _, _ in
                    asked.add(2)
                    return .failure(TestFailure())
                }
                .response()
            #expect(asked.all == [1])
            #expect(response.error?.responseCode == 404)
        }
    }

    @Test func aRuleSeesRequestAnswerAndBody() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", Self.typed("text/plain", "body"))
            let seen = Calls<(String?, Int, Data?)>()
            _ = await session.request(server.url("/x"), headers: ["X-Mine": "1"])
                .validate { request, response, data in
                    seen.add((request?.headers["X-Mine"], response.statusCode, data))
                    return .success(())
                }.response()
            #expect(seen.all.count == 1)
            let first = try #require(seen.all.first)
            #expect(first == ("1", 200, Data("body".utf8)))
        }
    }

    @Test func anErrorOfARuleArrivesWrappedAndAnAFErrorAsItIs() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let own = await session.request(server.url("/x")).validate { _, _, _ in .failure(TestFailure()) }
                .response().error
            guard case .responseValidationFailed(.customValidationFailed(let cause))? = own else {
                Issue.record("\(String(describing: own))")
                return
            }
            #expect(cause is TestFailure)
            let plain = await session.request(server.url("/x"))
                .validate { _, _, _ in .failure(AFError.explicitlyCancelled) }.response().error
            #expect(plain?.isExplicitlyCancelledError == true)
        }
    }

    @Test func uploadsAreValidatedAsDataRequests() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/up", answer: Response(status: 403, body: .text("no")))
            let error = await session.upload(Data("x".utf8), to: server.url("/up")).validate().response().error
            #expect(error?.responseCode == 403)
        }
    }

    // MARK: Downloads

    @Test func statusAndTypeOfADownloadAreChecked() async throws {
        let folder = try TemporaryFolder("validation")
        let session = makeSession(folder)
        try await withTestServer { server async throws in
            server.serve("/x", Self.typed("text/plain"))
            server.script("/gone", [], afterwards: .status(410, body: .text("gone")))
            let accept: HTTPHeaders = [.accept("text/*")]
            let taken = session.download(server.url("/x"), headers: accept).validate()
            #expect(await taken.serializingDownloadedFileURL().response.error == nil)
            let gone = session.download(server.url("/gone")).validate()
            #expect(await gone.serializingDownloadedFileURL().response.error?.responseCode == 410)
            let chosen = session.download(server.url("/gone")).validate(statusCode: [410])
            #expect(await chosen.serializingDownloadedFileURL().response.error == nil)
            let wrong = session.download(server.url("/x")).validate(contentType: ["image/*"])
            #expect(await wrong.serializingDownloadedFileURL().response.error?.responseContentType == "text/plain")
            let notAccepted = session.download(server.url("/x"), headers: [.accept("image/png")]).validate()
            #expect(await notAccepted.serializingDownloadedFileURL().response.error?.isResponseValidationError == true)
        }
    }

    @Test func anEmptyDownloadPassesWhateverItsType() async throws {
        let folder = try TemporaryFolder("validation")
        try await withTestServer { server async throws in
            server.serve("/empty", ServedFile(.empty, contentType: "text/html"))
            let request = makeSession(folder).download(server.url("/empty")).validate(contentType: ["image/png"])
            #expect(await request.serializingDownloadedFileURL().response.error == nil)
        }
    }

    @Test func aRuleForADownloadSeesTheFile() async throws {
        let folder = try TemporaryFolder("validation")
        try await withTestServer { server async throws in
            server.serve("/x", .text("content"))
            let error = await makeSession(folder).download(server.url("/x"))
                .validate { _, response, url in
                    guard response.statusCode == 200, let url, let text = try? String(contentsOf: url, encoding: .utf8)
                    else { return .success(()) }
                    return text == "content" ? .failure(TestFailure()) : .success(())
                }
                .serializingDownloadedFileURL().response.error
            #expect(error?.underlyingError is TestFailure)
        }
    }

    @Test func aFileThatIsGoneCannotBeValidated() async throws {
        let folder = try TemporaryFolder("validation")
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let error = await makeSession(folder).download(server.url("/x"))
                .validate { _, _, url in
                    if let url { try? FileManager.default.removeItem(at: url) }
                    return .success(())
                }
                .validate(contentType: ["*/*"])
                .serializingDownloadedFileURL().response.error
            guard case .responseValidationFailed(.dataFileReadFailed)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        guard case .failure(let error) = DownloadRequest.isEmpty(nil),
            case .responseValidationFailed(.dataFileNil)? = error.asAFError
        else {
            Issue.record("a missing file was taken")
            return
        }
    }

    // MARK: Streams

    @Test func anEmptyStreamIsHeldToItsType() async throws {
        // The length of a stream is unknown before its end, so the rule is called as for a body.
        let response = try head("text/html")
        #expect(ResponseRule.contentType(nil, response, isEmpty: false).error == nil)
        var request = try URLRequest(url: "http://a.example/x", method: .get)
        request.headers = [.accept("image/png")]
        #expect(ResponseRule.contentType(request, response, isEmpty: false).error != nil)
    }
}

extension Result {
    fileprivate var error: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
