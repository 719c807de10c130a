import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// The effect of a program's own handler on redirects.
@Suite("Redirect handlers", .timeLimit(.minutes(2)))
struct RedirectHandlerTests {
    @Test func aHandlerChangesUrlMethodFieldsAndBody() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b", status: 302))
            server.script("/k", [], afterwards: .redirect(to: "/b", status: 307))
            let sink = server.acceptUploads("/in")
            server.serve("/b", .text("there"))
            let redirector = Redirector(
                behavior: .modify { _, request, response in
                    var changed = request
                    changed.url = URL(string: "/in#part", relativeTo: response.url)?.absoluteURL
                    changed.httpMethod = "PUT"
                    changed.httpBody = Data("other".utf8)
                    changed.headers = [.contentType("text/other")]
                    return changed
                })
            var request = URLRequest(url: try #require(URL(string: server.url("/a"))))
            request.httpMethod = "POST"
            request.httpBody = Data("first".utf8)
            for path in ["/a", "/k"] {
                request.url = URL(string: server.url(path))
                let response = await Session.ofRedirects().request(request).redirect(using: redirector).response()
                #expect(response.response?.statusCode == 201)
                #expect(response.response?.url?.absoluteString == server.url("/in#part"))
                let seen = try #require(server.requests.last)
                #expect(seen.method == "PUT" && seen.headers["Content-Type"] == "text/other")
                #expect(seen.headers["Content-Length"] == "5" && seen.headers["User-Agent"]?.hasPrefix("curl") != true)
            }
            #expect(sink.uploads.map(\.bytes) == [Array("other".utf8), Array("other".utf8)])
        }
    }

    @Test func aHandlerSeesTheBodyThatGoesAlongAndCanTakeItAway() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b", status: 307))
            server.script("/g", [], afterwards: .redirect(to: "/b", status: 303))
            server.handle(nil, "/b") { request in Response(body: .text("\(request.method) \(request.body.count)")) }
            var request = URLRequest(url: try #require(URL(string: server.url("/a"))))
            request.httpMethod = "POST"
            request.httpBody = Data("first".utf8)
            let seen = Calls<Int?>()
            let look = Redirector(
                behavior: .modify { _, request, _ in
                    seen.add(request.httpBody?.count)
                    return request
                })
            let kept = await Session.ofRedirects().request(request).redirect(using: look).serializingString().response
            #expect(kept.value == "POST 5")
            let without = Redirector(
                behavior: .modify { _, request, _ in
                    var request = request
                    request.httpBody = nil
                    return request
                })
            let taken = await Session.ofRedirects().request(request).redirect(using: without).serializingString()
                .response
            #expect(taken.value == "POST 0")
            request.url = URL(string: server.url("/g"))
            let dropped = await Session.ofRedirects().request(request).redirect(using: look).serializingString()
                .response
            #expect(dropped.value == "GET 0" && seen.all == [5, nil])
        }
    }

    @Test func aReplacedBodyIsRepeatedByTheNextRedirectAndAnUploadsIsNot() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b", status: 307))
            server.script("/b", [], afterwards: .redirect(to: "/in", status: 307))
            let sink = server.acceptUploads("/in")
            let redirector = Redirector(
                behavior: .modify { _, request, response in
                    guard response.url?.path == "/a" else { return request }
                    var request = request
                    request.httpBody = Data("other".utf8)
                    return request
                })
            let content = Data(repeating: 1, count: 100_000)
            for upload in [
                Session.ofRedirects().upload(content, to: server.url("/a")),
                Session.ofRedirects().upload(streamedBy: { InputStream(data: content) }, to: server.url("/a")),
            ] {
                let response = await upload.redirect(using: redirector).serializingData(emptyResponseCodes: [201])
                    .response
                #expect(response.response?.statusCode == 201)
            }
            #expect(sink.uploads.map(\.bytes) == [Array("other".utf8), Array("other".utf8)])
        }
    }

    @Test(arguments: ["ftp://a.example/x", "unknown:x", "x"])
    func aHandlersPlaceMustBeOneToGoTo(_ url: String) async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b"))
            let redirector = Redirector(
                behavior: .modify { _, request, _ in
                    var request = request
                    request.url = URL(string: url)
                    return request
                })
            let error = await Session.ofRedirects().request(server.url("/a")).redirect(using: redirector).response()
                .error
            #expect(URLError.code(of: error) == .redirectToNonExistentLocation && server.requests.count == 1)
        }
    }

    @Test func userinfoOfAHandlersPlaceBecomesAField() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b"))
            server.serve("/b", .text("there"))
            let redirector = Redirector(
                behavior: .modify { _, request, _ in
                    var request = request
                    request.url = request.url.flatMap {
                        URL(string: $0.absoluteString.replacingOccurrences(of: "http://", with: "http://u:p@"))
                    }
                    return request
                })
            let response = await Session.ofRedirects().request(server.url("/a")).redirect(using: redirector).response()
            #expect(response.response?.url?.absoluteString == server.url("/b"))
            #expect(server.requests.last?.headers["Authorization"] == "Basic dTpw")
        }
    }

    /// Keeps the completions, which the test calls later.
    private final class Keeper: RedirectHandler {
        let calls = Calls<@Sendable (URLRequest?) -> Void>()
        let proposals = Calls<URLRequest>()

        func task(
            _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
            completion: @escaping @Sendable (URLRequest?) -> Void
        ) {
            proposals.add(request)
            calls.add(completion)
        }
    }

    @Test func aSecondAnswerDoesNotDecideAboutTheNextRedirect() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b"))
            server.script("/b", [], afterwards: .redirect(to: "/c"))
            server.serve("/c", .text("there"))
            let keeper = Keeper()
            let request = Session.ofRedirects().request(server.url("/a")).redirect(using: keeper)
            async let value = request.serializingString().value
            let first = try #require(await keeper.calls.first())
            first(keeper.proposals.all[0])
            let second = try #require(await keeper.calls.first())
            // The first redirect's completion is called again while the second one is pending.
            first(nil)
            second(keeper.proposals.all[1])
            second(nil)
            let text = try await value
            #expect(text == "there" && server.requests.map(\.target) == ["/a", "/b", "/c"])
            first(nil)
        }
    }

    @Test func afterACancellationNoHandlerIsAskedAndAnAnswerChangesNothing() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/b"))
            server.serve("/b", .text("there"))
            let keeper = Keeper()
            let root = DispatchQueue(label: "tests.root")
            let session = Session.ofRedirects {
                $0.rootQueue = root
                $0.requestQueue = DispatchQueue(label: "tests.requests")
            }
            let request = session.request(server.url("/a")).redirect(using: keeper)
            async let first = request.response()
            let completion = try #require(await keeper.calls.first())
            request.cancel()
            completion(keeper.proposals.all[0])
            let error = await first.error
            #expect(error?.isExplicitlyCancelledError == true && server.requests.count == 1)
            // The request is cancelled before the handler's turn, so the handler is not called.
            let monitorSaw = Calls<Bool>()
            let monitor = ClosureEventMonitor(queue: testQueue)
            monitor.taskWillPerformHTTPRedirection = { _, _, _, _ in monitorSaw.add(true) }
            var settings = session.settings
            settings.eventMonitors = [monitor]
            let watched = Session(settings)
            root.suspend()
            let other = watched.request(server.url("/a")).redirect(using: keeper)
            async let second = other.response(queue: testQueue)
            _ = await monitorSaw.first()
            other.cancel()
            root.resume()
            let otherError = await second.error
            #expect(otherError?.isExplicitlyCancelledError == true)
            root.sync {}
            #expect(keeper.proposals.all.count == 1 && server.requests.count == 2)
        }
    }
}

extension DataRequest {
    /// Returns the response, with its handler called on a queue of the test.
    fileprivate func response(queue: DispatchQueue) async -> AFDataResponse<Data?> {
        await withCheckedContinuation { continuation in
            response(queue: queue) { continuation.resume(returning: $0) }
        }
    }
}
