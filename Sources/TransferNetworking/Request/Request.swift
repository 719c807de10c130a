public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// What requests of all kinds have in common; made by a ``Session`` only.
///
/// `@unchecked Sendable`, as a class with subclasses: what changes is behind a lock, in this class and in them.
public class Request: @unchecked Sendable, Identifiable {
    public enum State: Sendable {
        /// Made, and not started.
        case initialized
        case resumed
        case suspended
        /// Cancelled for good; its handlers are called with `AFError.explicitlyCancelled`.
        case cancelled
        /// Every handler has its response; one that is added now is called too.
        case finished
    }

    public let id = UUID()
    let session: Session
    let interceptor: (any RequestInterceptor)?
    private let mutable = Mutex(RequestState())

    init(session: Session, interceptor: (any RequestInterceptor)?) {
        self.session = session
        self.interceptor = interceptor
    }

    // MARK: State

    public var state: State {
        switch mutable.withLock({ $0.lifecycle.state }) {
        case .initialized: .initialized
        case .resumed: .resumed
        case .suspended: .suspended
        case .cancelled: .cancelled
        case .finished: .finished
        }
    }

    public var isInitialized: Bool { state == .initialized }
    public var isResumed: Bool { state == .resumed }
    public var isSuspended: Bool { state == .suspended }
    public var isCancelled: Bool { state == .cancelled }
    public var isFinished: Bool { state == .finished }

    /// Every URL request made for it: as it was first, and as it was adapted, for each attempt.
    public var requests: [URLRequest] { read { $0.requests } }
    public var firstRequest: URLRequest? { read { $0.requests.first } }
    public var lastRequest: URLRequest? { read { $0.requests.last } }
    /// The URL request that was sent last.
    public var request: URLRequest? { lastRequest }
    /// The answer to the last attempt.
    public var response: HTTPURLResponse? { read { $0.response } }
    public var error: AFError? { read { $0.error } }
    /// Attempts after the first.
    public var retryCount: Int { read { $0.retryCount } }

    // MARK: Commands

    /// Starts it, or lets it go on.
    @discardableResult
    public func resume() -> Self {
        send(.resume)
        return self
    }

    /// Stops reading and sending; the connection stays.
    @discardableResult
    public func suspend() -> Self {
        send(.suspend)
        return self
    }

    /// Ends it: its handlers are called with `AFError.explicitlyCancelled`.
    @discardableResult
    public func cancel() -> Self {
        send(.cancel)
        return self
    }

    // MARK: What each kind contributes

    /// The request before it's adapted.
    func makeURLRequest() throws -> URLRequest { throw AFError.invalidURL(url: "") }
    /// Whether an attempt is made and ended on a worker, as that touches files.
    var touchesFiles: Bool { false }
    /// - Throws: Why there can be no attempt.
    func makeTransfer(_ request: URLRequest) throws -> Transfer { throw AFError.invalidURL(url: "") }
    /// Takes what an attempt brought.
    ///
    /// - Returns: The attempt's failure, or one of this step.
    func take(_ end: TransferEnd) -> AFError? { end.failure }
    /// - Throws: Why the answer isn't taken.
    func validate(_ response: HTTPURLResponse) throws {}
    /// Lets go of what an attempt left behind. May be called again.
    func release() {}
    var body: EndedRequest.Body { .data(nil) }

    // MARK: Machinery

    func read<Value: Sendable>(_ look: (RequestState) -> Value) -> Value { mutable.withLock { look($0) } }

    func update<Value: Sendable>(_ change: (inout RequestState) -> Value) -> Value {
        mutable.withLock { change(&$0) }
    }

    /// Takes a handler in; it's called even when the request is over already.
    func add(_ handler: @escaping ResponseHandler) {
        send(.handlerAdded(starts: session.startRequestsImmediately)) { $0.handlers.append(handler) }
    }

    /// Tells the life cycle what happened. The action that follows runs on the session's queue, in the order of the
    /// events: it's queued while the lock is held.
    ///
    /// - Parameters:
    ///   - attempt: The attempt that this is about; nothing happens when there is another one by now.
    ///   - change: What to note together with the event.
    func send(
        _ event: RequestLifecycle.Event, attempt: Int? = nil, _ change: (inout RequestState) -> Void = { _ in }
    ) {
        mutable.withLock { state in
            if let attempt, attempt != state.attempt { return }
            change(&state)
            let wasCancelled = state.isCancelled
            let action = state.lifecycle.handle(event)
            if state.isCancelled, !wasCancelled { state.error = .explicitlyCancelled }
            guard action != .none else { return }
            session.rootQueue.async { self.perform(action) }
        }
    }
}
