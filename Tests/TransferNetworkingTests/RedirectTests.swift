import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Redirects", .timeLimit(.minutes(1)))
struct RedirectTests {
    private func chain(_ server: TestServer) {
        server.script("/a", [], afterwards: .redirect(to: "/b"))
        server.script("/b", [], afterwards: .redirect(to: "/c"))
        server.serve("/c", .text("there"))
    }

    @Test func aFollowingRedirectorIsLikeNone() async throws {
        try await withTestServer { server async throws in
            chain(server)
            let text = try await makeSession().request(server.url("/a")).redirect(using: .follow)
                .serializingString().value
            #expect(text == "there")
            #expect(server.requests.map(\.target) == ["/a", "/b", "/c"])
        }
    }

    @Test(arguments: [0, 20, 300_000])
    func aRedirectThatIsNotFollowedIsTheAnswerWithItsBody(length: Int) async throws {
        try await withTestServer { server async throws in
            let body = Content.random(seed: 1, count: Int64(length))
            server.script("/a", [], afterwards: .status(302, headers: ["Location": "/b"], body: body))
            let response = await makeSession().request(server.url("/a")).redirect(using: .doNotFollow)
                .response()
            #expect(response.response?.statusCode == 302)
            #expect(response.response?.value(forHTTPHeaderField: "Location") == "/b")
            #expect(response.data.map { Array($0) } ?? [] == body.bytes())
            #expect(server.requests.count == 1)
        }
    }

    @Test func aRedirectedRequestCanBeChanged() async throws {
        try await withTestServer { server async throws in
            chain(server)
            server.serve("/other", .text("elsewhere"))
            let redirector = Redirector(
                behavior: .modify { _, request, response in
                    guard request.url?.path == "/b" else { return request }
                    var changed = request
                    changed.url = URL(string: "/other", relativeTo: response.url)?.absoluteURL
                    changed.headers.add(name: "X-Changed", value: "yes")
                    return changed
                })
            let text = try await makeSession().request(server.url("/a")).redirect(using: redirector)
                .serializingString().value
            #expect(text == "elsewhere")
            #expect(server.requests.map(\.target) == ["/a", "/other"])
            #expect(server.requests.last?.headers["X-Changed"] == "yes")
        }
    }

    @Test func theHandlerOfARequestWinsOverTheSessions() async throws {
        try await withTestServer { server async throws in
            chain(server)
            let session = Session(redirectHandler: Redirector(behavior: .doNotFollow))
            #expect(await session.request(server.url("/a")).response().response?.statusCode == 302)
            let text = try await session.request(server.url("/a")).redirect(using: .follow).serializingString().value
            #expect(text == "there")
        }
    }

    @Test func theHandlerSeesTheTaskTheAnswerAndWhatWouldFollow() async throws {
        try await withTestServer { server async throws in
            chain(server)
            let calls = Calls<(String?, Int, String?)>()
            let redirector = Redirector(
                behavior: .modify { task, request, response in
                    calls.add((task.originalRequest?.url?.path, response.statusCode, request.url?.path))
                    return request
                })
            _ = try await makeSession().request(server.url("/a")).redirect(using: redirector).serializingData().value
            #expect(calls.all.map(\.0) == ["/a", "/a"] && calls.all.map(\.1) == [302, 302])
            #expect(calls.all.map(\.2) == ["/b", "/c"])
        }
    }

    @Test func aPostThatIsRedirectedBecomesAGetAndA307StaysAPost() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/c", status: 302))
            server.script("/k", [], afterwards: .redirect(to: "/in", status: 307))
            server.serve("/c", .text("there"))
            let sink = server.acceptUploads("/in")
            let session = makeSession()
            _ = try await session.upload(Data("abc".utf8), to: server.url("/a")).redirect(using: .follow)
                .serializingString().value
            #expect(server.requests(to: "/c").first?.method == "GET")
            let response = await session.upload(Data("abc".utf8), to: server.url("/k")).redirect(using: .follow)
                .response()
            #expect(response.response?.statusCode == 201)
            #expect(sink.uploads.first?.bytes == Array("abc".utf8))
        }
    }

    @Test func acrossOriginsWhatAuthorisesStaysBehindAndAHandlerCanGiveItBack() async throws {
        try await withTestServer { server async throws in
            try await withTestServer { other async throws in
                server.script("/a", [], afterwards: .redirect(to: other.url("/b")))
                other.serve("/b", .text("there"))
                let headers: HTTPHeaders = [.authorization(bearerToken: "t")]
                _ = try await makeSession().request(server.url("/a"), headers: headers).redirect(using: .follow)
                    .serializingString().value
                #expect(other.requests.last?.headers["Authorization"] == nil)
                let redirector = Redirector(
                    behavior: .modify { _, request, _ in
                        var request = request
                        request.headers.add(.authorization(bearerToken: "mine"))
                        return request
                    })
                _ = try await makeSession().request(server.url("/a"), headers: headers).redirect(using: redirector)
                    .serializingString().value
                #expect(other.requests.last?.headers["Authorization"] == "Bearer mine")
            }
        }
    }

    @Test func aRequestIsCancelledWhileItsHandlerThinks() async throws {
        try await withTestServer { server async throws in
            chain(server)
            let asked = Calls<Bool>()
            struct Silent: RedirectHandler {
                let asked: Calls<Bool>
                func task(
                    _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
                    completion: @escaping @Sendable (URLRequest?) -> Void
                ) { asked.add(true) }
            }
            let request = makeSession().request(server.url("/a")).redirect(using: Silent(asked: asked))
            async let response = request.response()
            _ = await asked.first()
            request.cancel()
            let error = await response.error
            #expect(error?.isExplicitlyCancelledError == true)
            #expect(server.requests.count == 1)
        }
    }

    @Test func aDecisionOfALaterMomentIsWaitedForAndASecondOneDoesNotCount() async throws {
        try await withTestServer { server async throws in
            chain(server)
            struct Late: RedirectHandler {
                func task(
                    _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
                    completion: @escaping @Sendable (URLRequest?) -> Void
                ) {
                    testQueue.async {
                        completion(request)
                        completion(nil)
                    }
                }
            }
            let text = try await makeSession().request(server.url("/a")).redirect(using: Late())
                .serializingString().value
            #expect(text == "there")
        }
    }

    @Test func monitorsSeeRedirectsWithoutAHandlerToo() async throws {
        try await withTestServer { server async throws in
            chain(server)
            let seen = Calls<String?>()
            let monitor = ClosureEventMonitor(queue: testQueue)
            monitor.taskWillPerformHTTPRedirection = { _, _, _, request in seen.add(request.url?.path) }
            _ = try await Session(eventMonitors: [monitor]).request(server.url("/a")).serializingString().value
            testQueue.sync {}
            #expect(seen.all == ["/b", "/c"])
        }
    }

    @Test func aCircleEndsAtTheLimitWithAHandlerToo() async throws {
        try await withTestServer { server async throws in
            server.script("/a", [], afterwards: .redirect(to: "/a"))
            let error = await makeSession().request(server.url("/a")).redirect(using: .follow).response().error
            #expect(URLError.code(of: error) == .httpTooManyRedirects)
        }
    }

    @Test func aDownloadIsRedirectedAsItsHandlerSays() async throws {
        try await withTestServer { server async throws in
            chain(server)
            let folder = try TemporaryFolder("redirects")
            let url = try await makeSession(folder).download(server.url("/a")).redirect(using: .follow)
                .serializingDownloadedFileURL().value
            #expect(try String(contentsOf: url, encoding: .utf8) == "there")
        }
    }
}
