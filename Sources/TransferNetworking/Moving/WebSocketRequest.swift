public import Dispatch
public import Foundation
public import FoundationNetworking

// libcurl has WebSockets as an experiment since 7.86, and by default since 8.11. Debian 12's (7.88) is built without
// them. The declarations below let programs compile; nothing is sent, and every call ends with one error.

/// The error of every ``WebSocketRequest``: no WebSockets are available to this library.
public struct WebSocketsUnavailableError: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The version of libcurl from which on its usual builds have WebSockets.
    public static let libcurlVersion = "8.11.0"

    public var description: String {
        "WebSockets need libcurl \(Self.libcurlVersion) or newer, or one from 7.86 on that was built with "
            + "--enable-websockets. TransferKit uses neither yet; use another library for WebSockets."
    }

    public var errorDescription: String? { description }
}

/// A WebSocket of Alamofire's API, which always fails with ``WebSocketsUnavailableError``.
///
/// The request is created and adapted like others, and sends nothing. Its events are one ``Event/Kind/completed(_:)``,
/// with `AFError.sessionTaskFailed` of that error.
public final class WebSocketRequest: Request, @unchecked Sendable {  // Its one property is constant.
    /// An event of a WebSocket.
    @preconcurrency
    public struct Event<Success: Sendable, Failure: Error>: Sendable {
        /// The content of an event.
        public enum Kind: Sendable {
            /// The server has accepted the WebSocket, with the subprotocol that it chose.
            case connected(protocol: String?)
            /// A message has arrived.
            case receivedMessage(Success)
            /// A message could not be serialized.
            case serializerFailed(Failure)
            /// One side has closed the WebSocket.
            case disconnected(closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
            /// The request has ended; no event follows.
            case completed(Completion)
        }

        /// The content of the event.
        public let kind: Kind
        /// The message of the event, if it has one.
        public var message: Success? {
            if case .receivedMessage(let message) = kind { return message }
            return nil
        }
    }

    /// The end of a request.
    public struct Completion: Sendable {
        /// The URL request; `nil` if none could be created.
        public let request: URLRequest?
        /// The head of the response; always `nil`.
        public let response: HTTPURLResponse?
        /// The metrics of the attempt; `nil` without one.
        public let metrics: TransferTaskMetrics?
        /// The failure of the request.
        public let error: AFError?
    }

    /// A handler of events.
    @preconcurrency
    public typealias Handler<Success, Failure: Error> = @Sendable (Event<Success, Failure>) -> Void

    /// The source of the URL request.
    public let convertible: any URLRequestConvertible

    init(convertible: any URLRequestConvertible, session: Session, _ options: RequestOptions) {
        self.convertible = convertible
        super.init(session: session, options)
    }

    override func makeURLRequest() throws -> URLRequest { try convertible.asURLRequest() }

    override var makesURLRequestQuickly: Bool { convertible.isQuick }

    override func makeTransfer(_ request: URLRequest) throws -> Transfer {
        throw AFError.sessionTaskFailed(error: WebSocketsUnavailableError())
    }

    /// Calls `handler` on `queue` with the messages as they arrive, and with the end.
    @preconcurrency
    @discardableResult
    public func streamMessageEvents(
        on queue: DispatchQueue = .main, handler: @escaping Handler<URLSessionWebSocketTask.Message, Never>
    ) -> Self { end(on: queue, handler) }

    /// Calls `handler` on `queue` with the value decoded from each message, and with the end.
    @preconcurrency
    @discardableResult
    public func streamDecodableEvents<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = JSONDecoder(),
        handler: @escaping Handler<Value, any Error>
    ) -> Self { end(on: queue, handler) }

    /// Sends a message.
    ///
    /// - Parameter completionHandler: The closure that receives ``WebSocketsUnavailableError``.
    @preconcurrency
    public func send(
        _ message: URLSessionWebSocketTask.Message, queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) { queue.async { completionHandler(.failure(WebSocketsUnavailableError())) } }

    /// Closes the WebSocket; a request that has not ended is cancelled.
    public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) { cancel() }

    private func end<Success: Sendable, Failure: Error>(
        on queue: DispatchQueue, _ handler: @escaping Handler<Success, Failure>
    ) -> Self {
        add(
            ResponseHandler(isQuick: true) { end in
                let completion = Completion(
                    request: end.request, response: end.response, metrics: end.metrics, error: end.error)
                return SettledResponse(failure: nil, parsed: nil) { _ in
                    queue.async { handler(Event(kind: .completed(completion))) }
                }
            })
        return self
    }
}

extension Session {
    /// Creates a WebSocket request to a URL, which always fails with ``WebSocketsUnavailableError``.
    @preconcurrency
    @available(*, deprecated, message: "WebSockets are not carried: the request fails with WebSocketsUnavailableError")
    public func webSocketRequest(
        to url: any URLConvertible, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil, requestModifier: RequestModifier? = nil
    ) -> WebSocketRequest {
        webSocket(
            RequestParts(url: url, method: .get, headers: headers, modify: requestModifier),
            RequestOptions(interceptor, shouldAutomaticallyResume))
    }

    /// Creates a WebSocket request, which always fails with ``WebSocketsUnavailableError``.
    @available(*, deprecated, message: "WebSockets are not carried: the request fails with WebSocketsUnavailableError")
    public func webSocketRequest(
        performing convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> WebSocketRequest { webSocket(convertible, RequestOptions(interceptor, shouldAutomaticallyResume)) }

    func webSocket(_ convertible: any URLRequestConvertible, _ options: RequestOptions) -> WebSocketRequest {
        made(WebSocketRequest(convertible: convertible, session: self, options))
    }
}
