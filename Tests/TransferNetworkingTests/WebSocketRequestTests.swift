import Foundation
import FoundationNetworking
import Testing
import TransferTestSupport

@testable import TransferNetworking

@Suite("WebSockets, which no libcurl carries here", .timeLimit(.minutes(3)))
struct WebSocketRequestTests {
    private func request(to url: String = "ws://127.0.0.1:1/x") -> WebSocketRequest {
        makeSession().webSocket(RequestParts(url: url, method: .get, headers: nil), RequestOptions())
    }

    @Test func aRequestEndsWithTheErrorAndNoOtherEvent() async throws {
        let calls = Calls<WebSocketRequest.Event<URLSessionWebSocketTask.Message, Never>>()
        let request = request().streamMessageEvents(on: testQueue) { calls.add($0) }
        let event = try #require(await calls.first())
        guard case .completed(let completion) = event.kind else {
            Issue.record("\(event)")
            return
        }
        #expect(event.message == nil && completion.response == nil)
        #expect(completion.request?.url?.absoluteString == "ws://127.0.0.1:1/x")
        #expect(completion.error?.underlyingError is WebSocketsUnavailableError)
        await request.reaches(.finished)
        await testQueue.passed()
        #expect(calls.all.count == 1)
    }

    @Test func decodedEventsEndWithItToo() async throws {
        let calls = Calls<AFError?>()
        request().streamDecodableEvents([Int].self, on: testQueue) { event in
            if case .completed(let completion) = event.kind { calls.add(completion.error) }
        }
        #expect(try #require(await calls.first())?.underlyingError is WebSocketsUnavailableError)
    }

    @Test func aMessageIsNotSent() async throws {
        let calls = Calls<(any Error)?>()
        request().send(.string("x"), queue: testQueue) { result in
            if case .failure(let error) = result { calls.add(error) } else { calls.add(nil) }
        }
        #expect(try #require(await calls.first()) is WebSocketsUnavailableError)
    }

    @Test func closingBeforeTheStartCancels() async throws {
        let request = request()
        request.close(sending: .normalClosure)
        #expect(request.isCancelled)
    }

    @Test func theErrorNamesTheLibcurlThatIsNeeded() {
        let text = WebSocketsUnavailableError().localizedDescription
        #expect(text.contains("libcurl 8.11.0") && text.contains("--enable-websockets"))
    }

    @Test func aProgramCompilesWithAWarning() async throws {
        let program = """
            import TransferKit
            import Foundation
            import FoundationNetworking

            final class Chat {
                private var socket: WebSocketRequest?
                func start(_ session: Session) {
                    socket = session.webSocketRequest(to: "wss://a/x", headers: [.userAgent("a")])
                        .streamMessageEvents { event in
                            switch event.kind {
                            case .connected: print("connected")
                            case let .receivedMessage(.data(data)): print(data)
                            case .disconnected: print("disconnected")
                            default: print(event)
                            }
                        }
                }
                func stop() { socket?.close(sending: .normalClosure) }
                func send(_ data: Data) { socket?.send(.data(data), completionHandler: { _ in }) }
            }
            """
        let found = try await SwiftTypecheck.run([("program.swift", program), ("empty.swift", "")], version: 5)
        #expect(found.filter { $0.kind == "error" }.map(\.description) == [])
        #expect(found.contains { $0.kind == "warning" && $0.message.contains("WebSocketsUnavailableError") })
    }
}
