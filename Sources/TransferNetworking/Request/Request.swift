public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// The common part of requests of all kinds, which only a ``Session`` creates.
///
/// `@unchecked Sendable`, as the class has subclasses: mutable state is protected by a lock, in this class and in its
/// subclasses.
public class Request: @unchecked Sendable, Identifiable {
    /// The state of a request.
    public enum State: Sendable {
        /// The request was created and not started.
        case initialized
        /// The request was started or resumed, and runs.
        case resumed
        /// The request was suspended.
        case suspended
        /// The request was cancelled for good; its handlers receive `AFError.explicitlyCancelled`.
        case cancelled
        /// Every handler has its response; a handler that is added now is called too.
        case finished
    }

    /// The identifier of the request, the same for all of its attempts.
    public var id: UUID { update { $0.id } }
    private let hold: SessionHold
    var session: Session { hold.session }
    /// Whether the first response handler starts the request; `nil` means the session's setting.
    public let shouldAutomaticallyResume: Bool?
    private let mutable = Mutex(RequestState())
    private let hasOwnMonitors = Atomic(false)

    init(session: Session, _ options: RequestOptions) {
        hold = SessionHold(session)
        shouldAutomaticallyResume = options.shouldAutomaticallyResume
        if let interceptor = options.interceptor { update { $0.own.interceptors.append(interceptor) } }
    }

    /// Ends the streams of a request that was never started.
    deinit { for observer in mutable.withLock({ $0.endObservers.take() }) { observer() } }

    // MARK: State

    /// The state of the request.
    public var state: State { read { $0.publicState } }
    /// Whether the request was created and not started.
    public var isInitialized: Bool { state == .initialized }
    /// Whether the request was started or resumed.
    public var isResumed: Bool { state == .resumed }
    /// Whether the request was suspended.
    public var isSuspended: Bool { state == .suspended }
    /// Whether the request was cancelled.
    public var isCancelled: Bool { state == .cancelled }
    /// Whether every handler has its response.
    public var isFinished: Bool { state == .finished }

    /// The URL requests of all attempts, each as it was created and as it was adapted; the latest 32.
    public var requests: [URLRequest] { read { $0.requests.elements } }
    /// The first URL request; `nil` before it was created.
    public var firstRequest: URLRequest? { read { $0.requests.first } }
    /// The latest URL request; `nil` before the first was created.
    public var lastRequest: URLRequest? { read { $0.requests.last } }
    /// The latest URL request; `nil` before the first was created.
    public var request: URLRequest? { lastRequest }
    /// The tasks of the attempts, one for each; the latest 32.
    public var tasks: [URLSessionTask] { read { $0.attempts.elements }.map { $0.task(of: self) } }
    /// The task of the first attempt; `nil` before it begins.
    public var firstTask: URLSessionTask? { read { $0.attempts.first }?.task(of: self) }
    /// The task of the latest attempt; `nil` before the first begins.
    public var lastTask: URLSessionTask? { task }
    /// The task of the latest attempt; `nil` before the first begins.
    public var task: URLSessionTask? { read { $0.attempts.last }?.task(of: self) }
    /// The response of the current attempt, as soon as its head has arrived; `nil` while another attempt is prepared.
    public var response: HTTPURLResponse? { read { $0.lastAttempt }?.response }
    /// The metrics of the attempts that have ended; the latest 32.
    public var allMetrics: [TransferTaskMetrics] { read { $0.attempts.elements }.compactMap(\.metrics) }
    /// The metrics of the first attempt; `nil` before its end.
    public var firstMetrics: TransferTaskMetrics? { read { $0.attempts.first }?.metrics }
    /// The metrics of the latest attempt that has ended.
    public var lastMetrics: TransferTaskMetrics? { metrics }
    /// The metrics of the latest attempt that has ended.
    public var metrics: TransferTaskMetrics? { read { $0.attempts.elements }.last { $0.end != nil }?.metrics }
    /// The failure of the request, or of an attempt that is about to be retried.
    public var error: AFError? { read { $0.error } }
    /// The number of attempts after the first.
    public var retryCount: Int { read { $0.retryCount } }

    // MARK: Commands

    /// Starts or resumes the request.
    @discardableResult
    public func resume() -> Self {
        send(.resume)
        return self
    }

    /// Suspends the request, which stops reading and sending. The connection stays open, except for a download that can
    /// be continued and is suspended for long. Its connection is closed, and the rest is requested when the request is
    /// resumed.
    @discardableResult
    public func suspend() -> Self {
        send(.suspend)
        return self
    }

    /// Cancels the request; its handlers receive `AFError.explicitlyCancelled`.
    @discardableResult
    public func cancel() -> Self {
        send(.cancel)
        return self
    }

    /// Cancels the request; its handlers receive the cause in place of the cancellation.
    func cancel(dueTo cause: AFError) {
        send(.cancel) { state in
            state.cancellationCause = cause
            if state.isCancelled, !state.isOver { state.error = cause }
        }
    }

    /// Ends a request that was not started, as its session is released.
    func sessionReleased() {
        send(.sessionReleased) { if $0.lifecycle.isReadyToStart { $0.error = .sessionDeinitialized } }
    }

    // MARK: Hooks for the kinds of requests

    /// Returns the URL request before its adaptation.
    func makeURLRequest() throws -> URLRequest { throw AFError.invalidURL(url: "") }
    /// Whether the URL request is created quickly and without the program's code.
    var makesURLRequestQuickly: Bool { false }
    /// Whether attempts begin and end on a worker, as they use files.
    var touchesFiles: Bool { false }
    var kind: AttemptRecord.Kind { .data }
    /// Prepares the transfer of an attempt.
    ///
    /// - Throws: The reason why there can be no attempt.
    func makeTransfer(_ request: URLRequest) throws -> Transfer { throw AFError.invalidURL(url: "") }
    /// Handles the head of a response whose body is wanted. Called on a loop.
    func responded(_ record: AttemptRecord) {}
    /// The whole body of the response, if it is kept in memory.
    var receivedBody: Data? { nil }
    /// Runs the action after the program's handlers have received every piece of the body.
    func whenHandled(_ action: @escaping @Sendable () -> Void) { action() }
    /// Takes the body of a stored response.
    func received(_ body: Data, _ record: AttemptRecord) {}
    /// Whether `file` URLs are read.
    var readsFiles: Bool { false }
    /// Takes the content of a local file.
    func receive(_ file: LocalFile, _ record: AttemptRecord) throws {}
    /// Takes the result of an attempt.
    ///
    /// - Returns: The attempt's failure, or the failure of this step.
    func take(_ end: TransferEnd) -> AFError? { end.failure }
    /// Whether the result is moved to its place after the validations, in a separate step.
    var placesFiles: Bool { false }
    /// Moves the result to its place.
    ///
    /// - Returns: The failure of this step.
    func place(_ end: TransferEnd) -> AFError? { nil }
    /// Discards a response that failed a validation.
    func refused() {}
    /// Reports the verdicts of validations to monitors, if they were kept until the end was reported.
    func tellVerdicts() {}
    /// Whether `validate(_:)` has anything to do.
    var hasValidators: Bool { false }
    /// - Throws: The reason why the response is not accepted.
    func validate(_ response: HTTPURLResponse) throws {}
    /// Whether another attempt can continue the bytes of the running one.
    var isResumable: Bool { false }
    /// Releases the remains of an attempt. May be called more than once.
    func release() {}
    /// Ends the request: every handler has its response, and no attempt follows.
    func ended() {}
    var body: EndedRequest.Body { .data(nil) }
    /// Reports the end of an attempt to monitors, before the request is validated.
    func emitEnd(of record: AttemptRecord, _ error: AFError?) {}

    // MARK: Machinery

    func read<Value: Sendable>(_ look: (RequestState) -> Value) -> Value { mutable.withLock { look($0) } }

    func update<Value: Sendable>(_ change: (inout RequestState) -> Value) -> Value {
        mutable.withLock { change(&$0) }
    }

    /// Adds a handler, which is called even if the request has ended already.
    func add(_ handler: ResponseHandler) {
        send(.handlerAdded(starts: startsAutomatically)) { $0.handlers.append(handler) }
    }

    /// Starts the request as a response handler would.
    func startIfAutomatic() { if startsAutomatically, isInitialized { send(.resume) } }

    var startsAutomatically: Bool { shouldAutomaticallyResume ?? session.startRequestsImmediately }

    /// Whether there are monitors; events are not created without them.
    var isMonitored: Bool { hasOwnMonitors.load(ordering: .acquiring) || session.monitors != nil }

    func add(_ monitor: any EventMonitor) {
        update { $0.own.monitors = CompositeEventMonitor(monitors: ($0.own.monitors?.monitors ?? []) + [monitor]) }
        hasOwnMonitors.store(true, ordering: .releasing)
    }

    /// Passes an event to the session's monitors, then to the request's own.
    func tell(_ event: MonitorEvent) {
        session.monitors?.emit(event)
        if hasOwnMonitors.load(ordering: .acquiring) { read { $0.own.monitors }?.emit(event) }
    }

    /// Passes an event to the life cycle, and performs the resulting actions.
    ///
    /// Actions are performed outside the lock, one after the other, by the first thread. Events that other threads add
    /// meanwhile are left to it. So no thread is woken for an action, and actions of one request never overlap. The
    /// program's code never runs within an action, but on the queues documented for it.
    ///
    /// - Parameters:
    ///   - attempt: The attempt of the event, which has no effect if a later attempt has begun.
    ///   - change: The change of the state that belongs to the event.
    func send(
        _ event: RequestLifecycle.Event, attempt: Int? = nil, _ change: (inout RequestState) -> Void = { _ in }
    ) {
        let session = session
        let isFirst = mutable.withLock { state in
            if let attempt, attempt != state.attempt { return false }
            change(&state)
            let (before, wasAtRest) = (state.publicState, state.lifecycle.isNotStarted)
            let action = state.lifecycle.handle(event)
            let after = state.publicState
            // A request that was never started belongs to the program alone. The session would hold it for ever.
            if wasAtRest, !state.lifecycle.isNotStarted { session.active.insert(self) }
            if before != after {
                if after == .resumed { hold.keep() }
                if after == .cancelled { state.cancelled() }
                if after == .suspended { state.suspensions += 1 }
                // The end is reported when handlers have their responses; a handler that is added later changes
                // nothing.
                if isMonitored, before != .finished, after != .finished {
                    state.steps.append(.changed(after))
                }
            }
            if action != .none { state.steps.append(.perform(action)) }
            guard !state.isPerforming, !state.steps.isEmpty else { return false }
            state.isPerforming = true
            return true
        }
        // The session may be released meanwhile. Its end is an event too, and must not come within the lock.
        withExtendedLifetime(session) { if isFirst { performSteps() } }
    }

    /// Adds a step, which is performed after the earlier ones.
    func enqueue(_ step: RequestStep) {
        let isFirst = mutable.withLock { state in
            state.steps.append(step)
            guard !state.isPerforming else { return false }
            state.isPerforming = true
            return true
        }
        if isFirst { performSteps() }
    }

    private func performSteps() {
        while let step = nextStep() {
            switch step {
            case .perform(let action): perform(action)
            case .begun(let record): tellBeginning(of: record)
            case .endUnsent(let record, let failure):
                emit(record) { [self] in $0.request(self, didResumeTask: $2) }
                endUnsent(record, dueTo: failure, record.attempt)
            case .release: release()
            case .changed(let state): emit(state)
            }
        }
    }

    private func nextStep() -> RequestStep? {
        mutable.withLock { state in
            guard !state.steps.isEmpty else {
                state.isPerforming = false
                return nil
            }
            return state.steps.removeFirst()
        }
    }
}

extension RequestState {
    var publicState: Request.State {
        switch lifecycle.state {
        case .active(.initialized, _): .initialized
        case .active(.resumed, _): .resumed
        case .active(.suspended, _): .suspended
        case .cancelled: .cancelled
        case .finished: .finished
        }
    }
}

extension Request: Hashable {
    public static func == (left: Request, right: Request) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Request: CustomStringConvertible {
    /// The method, the URL without secrets, and the status, to the extent that they are known.
    public var description: String {
        guard let request else { return "No request created yet." }
        let url = Redaction.url(request.url?.absoluteString ?? "")
        let status = response.map { " (\($0.statusCode))" } ?? ""
        return "\(request.httpMethod ?? "GET") \(url)\(status)"
    }
}
