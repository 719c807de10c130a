public import Foundation
public import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// The common part of requests of all kinds; made by a ``Session`` only.
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

    public var id: UUID { update { $0.id } }
    let session: Session
    /// Whether the first response handler starts it; `nil` leaves that to the session.
    public let shouldAutomaticallyResume: Bool?
    private let mutable = Mutex(RequestState())
    private let hasOwnMonitors = Atomic(false)

    init(session: Session, _ options: RequestOptions) {
        self.session = session
        shouldAutomaticallyResume = options.shouldAutomaticallyResume
        if let interceptor = options.interceptor { update { $0.own.interceptors.append(interceptor) } }
    }

    // MARK: State

    public var state: State { read { $0.publicState } }
    public var isInitialized: Bool { state == .initialized }
    public var isResumed: Bool { state == .resumed }
    public var isSuspended: Bool { state == .suspended }
    public var isCancelled: Bool { state == .cancelled }
    public var isFinished: Bool { state == .finished }

    /// The URL requests made for it: as it was first, and as it was adapted, for each attempt. Of a request that is
    /// retried for long, the latest 32.
    public var requests: [URLRequest] { read { $0.requests.elements } }
    public var firstRequest: URLRequest? { read { $0.requests.first } }
    public var lastRequest: URLRequest? { read { $0.requests.last } }
    /// The URL request that was sent last.
    public var request: URLRequest? { lastRequest }
    /// The tasks of its attempts, one for each; the latest 32.
    public var tasks: [URLSessionTask] { read { $0.attempts.elements }.map { $0.task(of: self) } }
    public var firstTask: URLSessionTask? { read { $0.attempts.first }?.task(of: self) }
    public var lastTask: URLSessionTask? { task }
    public var task: URLSessionTask? { read { $0.attempts.last }?.task(of: self) }
    /// The answer to the last attempt; there as soon as its head has arrived. `nil` while another is prepared.
    public var response: HTTPURLResponse? { read { $0.lastAttempt }?.response }
    /// Measurements of the attempts that have ended; the latest 32.
    public var allMetrics: [TransferTaskMetrics] { read { $0.attempts.elements }.compactMap(\.metrics) }
    public var firstMetrics: TransferTaskMetrics? { read { $0.attempts.first }?.metrics }
    public var lastMetrics: TransferTaskMetrics? { metrics }
    public var metrics: TransferTaskMetrics? { read { $0.attempts.elements }.last { $0.end != nil }?.metrics }
    /// Why it failed, where it did; of an attempt that is about to be retried too.
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

    /// Stops reading and sending. The connection stays, except that of a download that is suspended for long and can
    /// be continued: it's closed, and the rest is asked for when the request is resumed.
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

    /// Cancels it for a reason that its handlers are told instead of the cancellation.
    func cancel(dueTo cause: AFError) {
        send(.cancel) { state in
            state.cancellationCause = cause
            if state.isCancelled, !state.isOver { state.error = cause }
        }
    }

    // MARK: What each kind contributes

    /// The request before it's adapted.
    func makeURLRequest() throws -> URLRequest { throw AFError.invalidURL(url: "") }
    /// Whether making the URL request takes time, or calls somebody else's code.
    var makesURLRequestQuickly: Bool { false }
    /// Whether an attempt is made and ended on a worker, as that touches files.
    var touchesFiles: Bool { false }
    var kind: AttemptRecord.Kind { .data }
    /// - Throws: Why there can be no attempt.
    func makeTransfer(_ request: URLRequest) throws -> Transfer { throw AFError.invalidURL(url: "") }
    /// The head of an answer whose body is wanted is there. Called on a loop.
    func responded(_ record: AttemptRecord) {}
    /// The whole body of the answer, where it's kept in memory.
    var receivedBody: Data? { nil }
    /// Does it when the program's handlers have had every piece of the body.
    func whenHandled(_ action: @escaping @Sendable () -> Void) { action() }
    /// Takes the body of an answer that was stored.
    func received(_ body: Data, _ record: AttemptRecord) {}
    /// Whether a `file` URL is read.
    var readsFiles: Bool { false }
    /// Takes what a file of this machine has.
    func receive(_ file: LocalFile, _ record: AttemptRecord) throws {}
    /// Takes what an attempt brought.
    ///
    /// - Returns: The attempt's failure, or one of this step.
    func take(_ end: TransferEnd) -> AFError? { end.failure }
    /// Whether what came is given its place after the rules have been looked at, in a step of its own.
    var placesFiles: Bool { false }
    /// Gives what came its place.
    ///
    /// - Returns: Why that failed.
    func place(_ end: TransferEnd) -> AFError? { nil }
    /// A rule says that the answer isn't taken.
    func refused() {}
    /// Tells monitors what the rules said, where that was kept until they were told of the end.
    func tellVerdicts() {}
    /// Whether there is anything for `validate(_:)` to do.
    var hasValidators: Bool { false }
    /// - Throws: Why the answer isn't taken.
    func validate(_ response: HTTPURLResponse) throws {}
    /// Whether the bytes of the attempt under way can be continued by another.
    var isResumable: Bool { false }
    /// Lets go of what an attempt left behind. May be called again.
    func release() {}
    /// Every handler has its response, and there will be no other attempt.
    func ended() {}
    var body: EndedRequest.Body { .data(nil) }
    /// What monitors are told when an attempt has ended, before the request is validated.
    func emitEnd(of record: AttemptRecord, _ error: AFError?) {}

    // MARK: Machinery

    func read<Value: Sendable>(_ look: (RequestState) -> Value) -> Value { mutable.withLock { look($0) } }

    func update<Value: Sendable>(_ change: (inout RequestState) -> Value) -> Value {
        mutable.withLock { change(&$0) }
    }

    /// Takes a handler in; it's called even when the request is over already.
    func add(_ handler: ResponseHandler) {
        send(.handlerAdded(starts: startsAutomatically)) { $0.handlers.append(handler) }
    }

    /// Starts it as a response handler would.
    func startIfAutomatic() { if startsAutomatically, isInitialized { send(.resume) } }

    var startsAutomatically: Bool { shouldAutomaticallyResume ?? session.startRequestsImmediately }

    /// Whether anybody is told of what happens; nothing is made for monitors where there are none.
    var isMonitored: Bool { hasOwnMonitors.load(ordering: .acquiring) || session.monitors != nil }

    func add(_ monitor: any EventMonitor) {
        update { $0.own.monitors = CompositeEventMonitor(monitors: ($0.own.monitors?.monitors ?? []) + [monitor]) }
        hasOwnMonitors.store(true, ordering: .releasing)
    }

    /// To the session's monitors, then to the request's own.
    func tell(_ event: MonitorEvent) {
        session.monitors?.emit(event)
        if hasOwnMonitors.load(ordering: .acquiring) { read { $0.own.monitors }?.emit(event) }
    }

    /// Tells the life cycle what happened, and does what follows.
    ///
    /// What follows is done outside the lock, one thing after the other, by the thread that came first: what others
    /// bring meanwhile is left to it. So no thread is woken for a step, and steps of one request never overlap. Nobody
    /// else's code runs in a step: that is handed to the queues that are documented for it.
    ///
    /// - Parameters:
    ///   - attempt: The attempt that this is about; nothing happens when there is another one by now.
    ///   - change: What to note together with the event.
    func send(
        _ event: RequestLifecycle.Event, attempt: Int? = nil, _ change: (inout RequestState) -> Void = { _ in }
    ) {
        let isFirst = mutable.withLock { state in
            if let attempt, attempt != state.attempt { return false }
            change(&state)
            let (before, wasAtRest) = (state.publicState, state.lifecycle.isNotStarted)
            let action = state.lifecycle.handle(event)
            let after = state.publicState
            // Suspended before the start, it's nobody's but the program's: the session would keep it for ever.
            if wasAtRest, !state.lifecycle.isNotStarted { session.active.insert(self) }
            if before != after {
                if after == .cancelled { state.cancelled() }
                if after == .suspended { state.suspensions += 1 }
                // The end is told when handlers have their responses; one that is added later changes nothing.
                if isMonitored, before != .finished, after != .finished {
                    state.steps.append(.changed(after))
                }
            }
            if action != .none { state.steps.append(.perform(action)) }
            guard !state.isPerforming, !state.steps.isEmpty else { return false }
            state.isPerforming = true
            return true
        }
        if isFirst { performSteps() }
    }

    /// Has `step` done in its turn.
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
    /// Method, URL (without secrets) and status, as far as they are known.
    public var description: String {
        guard let request else { return "No request created yet." }
        let url = Redaction.url(request.url?.absoluteString ?? "")
        let status = response.map { " (\($0.statusCode))" } ?? ""
        return "\(request.httpMethod ?? "GET") \(url)\(status)"
    }
}
