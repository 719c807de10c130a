import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// A request whose response is delivered piece by piece as it arrives, and not stored.
///
/// Data that handlers and streams have not taken yet is bounded. Beyond half a MiB nothing more is read from the
/// network until they have caught up.
public final class DataStreamRequest: Request, @unchecked Sendable {  // Its own state is behind a lock.
    /// A handler that is called with each piece, and at the end. An error that it throws about a piece cancels the
    /// request, and becomes the error of the stream. An error about the end has no effect.
    @preconcurrency
    public typealias Handler<Success, Failure: Error> = @Sendable (Stream<Success, Failure>) throws -> Void

    /// A closure that validates the head of a response.
    ///
    /// - Returns: Whether the response is accepted.
    @preconcurrency
    public typealias Validation = @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse) -> ValidationResult

    /// A piece of the response, or its end.
    @preconcurrency
    public struct Stream<Success: Sendable, Failure: Error>: Sendable {
        /// The piece or the end.
        public let event: Event<Success, Failure>
        /// The token that cancels the request.
        public let token: CancellationToken

        /// Cancels the request.
        public func cancel() { token.cancel() }
    }

    /// The content of a stream's element.
    @preconcurrency
    public enum Event<Success: Sendable, Failure: Error>: Sendable {
        /// The result of serializing a piece.
        case stream(Result<Success, Failure>)
        /// The end of the stream.
        case complete(Completion)
    }

    /// The end of a stream.
    public struct Completion: Sendable {
        /// The URL request that was sent last; `nil` if none could be created.
        public let request: URLRequest?
        /// The head of the response; `nil` if there was none.
        public let response: HTTPURLResponse?
        /// The metrics of the last attempt; `nil` if the network was never reached.
        public let metrics: TransferTaskMetrics?
        /// The failure of the request; `nil` if it succeeded.
        public let error: AFError?
    }

    /// A token that cancels a stream without holding its request.
    public struct CancellationToken: Sendable {
        private(set) weak var request: DataStreamRequest?

        init(_ request: DataStreamRequest) { self.request = request }

        /// Cancels the request, if it still exists.
        public func cancel() { request?.cancel() }
    }

    private struct Answer {
        var consumers: [@Sendable (StreamPiece) -> Void] = []
        var validators: [Validation] = []
        var hook = ResponseHook()
    }

    /// The source of the URL request.
    public let convertible: any URLRequestConvertible
    /// Whether a piece that cannot be serialized cancels the request.
    public let automaticallyCancelOnStreamError: Bool
    private let answer = Mutex(Answer())
    private let turns = HandlerQueue()

    init(
        convertible: any URLRequestConvertible, automaticallyCancelOnStreamError: Bool, session: Session,
        _ options: RequestOptions
    ) {
        self.convertible = convertible
        self.automaticallyCancelOnStreamError = automaticallyCancelOnStreamError
        super.init(session: session, options)
    }

    /// Adds a validation that a response has to pass; it runs when the stream has ended.
    @preconcurrency
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        answer.withLock { $0.validators.append(validation) }
        return self
    }

    // MARK: Attempts

    override func makeURLRequest() throws -> URLRequest { try convertible.asURLRequest() }

    override var makesURLRequestQuickly: Bool { convertible.isQuick }

    override func makeTransfer(_ request: URLRequest) throws -> Transfer {
        let exchange = try ExchangeRequest(request, of: session)
        let window = FlowWindow()
        return Transfer(urlRequest: request, exchange: exchange) { [self] record in
            StreamSink(record, window: window) { [self] piece in arrived(piece, record) }
        }
    }

    /// Delivers a piece to the consumers. Called on a loop.
    private func arrived(_ piece: StreamPiece, _ record: AttemptRecord) {
        if isMonitored {
            let data = piece.data
            emit(record) { $0.dataTask($1, $2, didReceive: data) }
        }
        // Nothing more is delivered after a cancellation, although the loop may learn of it later.
        guard !isCancelled else { return }
        var piece = piece
        piece.turn = turns.begin()
        for consumer in answer.withLock({ $0.consumers }) { consumer(piece) }
    }

    override func whenHandled(_ action: @escaping @Sendable () -> Void) {
        // The action must not run on the thread of a handler, which belongs to the program.
        if turns.isIdle(orElse: { [session] in session.rootQueue.async(execute: action) }) { action() }
    }

    override func responded(_ record: AttemptRecord) { answer.withLock { $0.hook }.responded(record, self) }

    func onResponse(_ change: (inout ResponseHook) -> Void) { answer.withLock { change(&$0.hook) } }

    override var hasValidators: Bool { answer.withLock { !$0.validators.isEmpty } }

    override func validate(_ response: HTTPURLResponse) throws {
        let request = request
        for validator in answer.withLock({ $0.validators }) {
            let result = validator(request, response)
            emit(
                MonitorEvent { [self] in
                    $0.request(self, didValidateRequest: request, response: response, withResult: result)
                })
            try result.get()
        }
    }

    // MARK: Consumers

    /// Adds a consumer that is called with every piece, on a loop, and with the end.
    ///
    /// A consumer that takes the pieces later has to release their turns, as the end waits for those.
    ///
    /// - Parameter ended: A closure called after the last piece.
    func consume(
        _ consumer: @escaping @Sendable (StreamPiece) -> Void, ended: @escaping @Sendable (Completion) -> Void
    ) {
        answer.withLock { $0.consumers.append(consumer) }
        add(
            ResponseHandler(isQuick: true) { end in
                let completion = Completion(
                    request: end.request, response: end.response, metrics: end.metrics, error: end.error)
                return SettledResponse(failure: nil, parsed: nil) { _ in ended(completion) }
            })
    }

    /// Handles a piece that could not be serialized.
    func streamFailed() { if automaticallyCancelOnStreamError { cancel() } }

    /// Handles an error that a handler threw.
    func handlerFailed(_ error: any Error) {
        cancel(dueTo: error.asAFError { .responseSerializationFailed(reason: .customSerializationFailed(error: $0)) })
    }
}
