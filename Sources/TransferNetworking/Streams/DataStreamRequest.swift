import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// A request whose answer is handed on piece by piece as it arrives, and kept nowhere.
///
/// Data that handlers and streams haven't taken yet is bounded: beyond half a MiB nothing more is read from the network
/// until they have caught up.
public final class DataStreamRequest: Request, @unchecked Sendable {  // Its own state is behind a lock.
    /// Is called with each piece, and at the end. An error that it throws about a piece cancels the request, and is what
    /// the stream ends with; one that it throws about the end has no effect.
    @preconcurrency
    public typealias Handler<Success, Failure: Error> = @Sendable (Stream<Success, Failure>) throws -> Void

    /// - Returns: Whether the answer is taken.
    @preconcurrency
    public typealias Validation = @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse) -> ValidationResult

    /// A piece of the answer, or its end.
    @preconcurrency
    public struct Stream<Success: Sendable, Failure: Error>: Sendable {
        public let event: Event<Success, Failure>
        public let token: CancellationToken

        /// Cancels the request.
        public func cancel() { token.cancel() }
    }

    @preconcurrency
    public enum Event<Success: Sendable, Failure: Error>: Sendable {
        /// The result that a serializer made of a piece.
        case stream(Result<Success, Failure>)
        /// There is nothing more to come.
        case complete(Completion)
    }

    /// The end of a stream.
    public struct Completion: Sendable {
        public let request: URLRequest?
        public let response: HTTPURLResponse?
        public let metrics: TransferTaskMetrics?
        public let error: AFError?
    }

    /// Cancels a stream, without holding it.
    public struct CancellationToken: Sendable {
        private(set) weak var request: DataStreamRequest?

        init(_ request: DataStreamRequest) { self.request = request }

        public func cancel() { request?.cancel() }
    }

    private struct Answer {
        var consumers: [@Sendable (StreamPiece) -> Void] = []
        var validators: [Validation] = []
        var hook = ResponseHook()
    }

    /// The value that the request is made of.
    public let convertible: any URLRequestConvertible
    /// Whether a piece that can't be serialized ends the request.
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

    /// Adds a rule that an answer has to pass; it's looked at when the stream has ended.
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

    /// Called on a loop.
    private func arrived(_ piece: StreamPiece, _ record: AttemptRecord) {
        if isMonitored {
            let data = piece.data
            emit(record) { $0.dataTask($1, $2, didReceive: data) }
        }
        // Once it's cancelled nothing more is told, though the loop may not have heard of that yet.
        guard !isCancelled else { return }
        var piece = piece
        piece.turn = turns.begin()
        for consumer in answer.withLock({ $0.consumers }) { consumer(piece) }
    }

    override func whenHandled(_ action: @escaping @Sendable () -> Void) {
        // Not on the thread of a handler: that is the program's.
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

    /// Takes in somebody who is called with every piece, on a loop, and with the end.
    ///
    /// Who takes the pieces in its own time has to let go of their turns, as the end waits for those.
    ///
    /// - Parameter ended: Called after the last piece.
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

    /// A piece couldn't be serialized.
    func streamFailed() { if automaticallyCancelOnStreamError { cancel() } }

    /// A handler threw.
    func handlerFailed(_ error: any Error) {
        cancel(dueTo: error.asAFError { .responseSerializationFailed(reason: .customSerializationFailed(error: $0)) })
    }
}
