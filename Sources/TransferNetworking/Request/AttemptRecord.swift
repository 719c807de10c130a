import Foundation
import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// One attempt of a request on the network, with its state and its results.
final class AttemptRecord: Sendable {
    enum Kind { case data, upload, download }

    /// The states of an attempt: `ready` → `running` → `ended`.
    private enum State {
        case ready
        case running(any ExchangeCommands)
        case ended(TransferEnd)
    }

    private struct Mutable {
        var state = State.ready
        var start: BodyStart?
        /// Whether the body may continue although the handle was not known yet.
        var mustProceed = false
        /// The decision about a redirect that was made before the handle was known.
        var decision: RedirectDecision?
        var response: HTTPURLResponse?
        /// The response of a `URLProtocol` of the program, which is used unchanged.
        var given: URLResponse?
        var metrics: TransferTaskMetrics?
        weak var task: URLSessionTask?
        /// Whether the program made no decision about the head of the response in time.
        var isUndecided = false
    }

    let kind: Kind
    /// The number of the attempt within its request. An attempt that never reached the network has no record.
    let attempt: Int
    /// The number of the attempt within its session.
    let number: Int
    let urlRequest: URLRequest
    let meter: ExchangeMeter
    /// The length of the request's body, in bytes.
    let bodyLength: Int64?
    /// The cache's part of the attempt.
    let cached: CachedExchange?
    let startDate = Date()
    /// The gate between the head of the response and its body.
    let gate = AnswerGate()
    private let mutable = Mutex(Mutable())

    init(
        kind: Kind, attempt: Int, number: Int, urlRequest: URLRequest, bodyLength: Int64?,
        cached: CachedExchange? = nil, onFirstBytes: (@Sendable () -> Void)? = nil
    ) {
        meter = ExchangeMeter(onFirstBytes: onFirstBytes)
        self.kind = kind
        self.attempt = attempt
        self.number = number
        self.urlRequest = urlRequest
        self.bodyLength = bodyLength
        self.cached = cached
    }

    // MARK: Events

    func started(_ handle: any ExchangeCommands) {
        let (mustProceed, decision) = mutable.withLock { state in
            // The attempt may have ended before its start was reported.
            if case .ended = state.state {} else { state.state = .running(handle) }
            return (state.mustProceed, state.decision)
        }
        if mustProceed { handle.proceed() }
        if let decision { handle.decide(decision) }
    }

    /// Passes the decision about a redirect to the carrier.
    func decide(_ decision: RedirectDecision) {
        let handle = mutable.withLock { state -> (any ExchangeCommands)? in
            if case .running(let handle) = state.state { return handle }
            if case .ready = state.state { state.decision = decision }
            return nil
        }
        handle?.decide(decision)
    }

    /// Admits the body of the response.
    func proceed() { if gate.decide() { readOn() } }

    /// Ends an attempt whose program has made no decision about the head of the response within the time-out of the
    /// request.
    func decisionTimedOut() {
        // The exchange may have ended before; its end waits behind the gate.
        gate.expire { mutable.withLock { $0.isUndecided = true } }
        guard isUndecided else { return }
        handle?.cancel(TransferError(.timedOut, "the program did not decide about the response in time"))
    }

    var isUndecided: Bool { mutable.withLock { $0.isUndecided } }

    /// Resumes the delivery of the body, as its receiver has room again.
    func readOn() {
        let handle = mutable.withLock { state -> (any ExchangeCommands)? in
            if case .running(let handle) = state.state { return handle }
            if case .ready = state.state { state.mustProceed = true }
            return nil
        }
        handle?.proceed()
    }

    /// Replaces the response, whatever its head contains.
    func adopt(_ response: URLResponse?) { mutable.withLock { $0.given = response } }

    func responded(_ start: BodyStart) {
        mutable.withLock { state in
            state.start = start
            state.response = nil
        }
    }

    /// - Returns: The end, with the last response whose body began.
    func ended(_ outcome: ExchangeOutcome) -> TransferEnd {
        mutable.withLock { state in
            let end = TransferEnd(outcome: outcome, start: outcome.start ?? state.start)
            state.state = .ended(end)
            state.response = nil
            return end
        }
    }

    /// Ends the attempt before it used the network.
    func ended(unsent failure: AFError) -> TransferEnd {
        mutable.withLock { state in
            let end = TransferEnd(unsent: failure, url: urlRequest.url?.absoluteString ?? "")
            state.state = .ended(end)
            return end
        }
    }

    /// Ends the attempt after a file of this machine was read.
    func endedLocally() -> TransferEnd {
        mutable.withLock { state in
            let end = TransferEnd(localURL: urlRequest.url?.absoluteString ?? "")
            state.state = .ended(end)
            return end
        }
    }

    // MARK: Results

    /// Whether nothing of the attempt was passed to the network.
    var isUnsent: Bool {
        mutable.withLock { state in
            if case .ready = state.state { true } else { false }
        }
    }

    var isRunning: Bool {
        mutable.withLock { state in
            if case .ended = state.state { false } else { true }
        }
    }

    var handle: (any ExchangeCommands)? {
        mutable.withLock { state in
            if case .running(let handle) = state.state { handle } else { nil }
        }
    }

    var start: BodyStart? { mutable.withLock { $0.start } }

    var end: TransferEnd? {
        mutable.withLock { state in
            if case .ended(let end) = state.state { end } else { nil }
        }
    }

    /// The progress of the body, in bytes that have arrived rather than bytes that the kernel has accepted. The end
    /// determines an unknown length.
    var uploaded: ProgressCount {
        let sent = meter.acknowledged
        guard bodyLength == nil, sent > 0, let end, case .success = end.outcome.result else {
            return ProgressCount(completed: sent, total: bodyLength)
        }
        return ProgressCount(completed: sent, total: sent)
    }

    /// The progress of the response. The end determines an unknown length; an encoded response is counted before
    /// decoding.
    var downloaded: ProgressCount {
        let count = ProgressCount(completed: meter.position, total: meter.total)
        guard let end, case .success = end.outcome.result, end.start != nil else { return count }
        let whole = end.start?.isCoded == false ? end.outcome.position : count.completed
        return ProgressCount(completed: whole, total: whole)
    }

    /// The response in Foundation's form. It is made on demand, as it costs as much as a small request.
    var response: HTTPURLResponse? {
        let (known, end, start) = mutable.withLock { state -> (HTTPURLResponse?, TransferEnd?, BodyStart?) in
            if let given = state.given { return (given as? HTTPURLResponse, nil, nil) }
            if case .ended(let end) = state.state { return (state.response, end, state.start) }
            return (state.response, nil, state.start)
        }
        if let known { return known }
        guard let made = end?.response ?? start.flatMap({ .make($0, url: $0.url) }) else {
            return nil
        }
        return mutable.withLock { state in
            if state.response == nil { state.response = made }
            return state.response
        }
    }

    /// The metrics of the attempt, made on demand.
    var metrics: TransferTaskMetrics? {
        guard let end else { return nil }
        if let known = mutable.withLock({ $0.metrics }) { return known }
        var made = TransferTaskMetrics(end.outcome, request: urlRequest, response: response, startDate: startDate)
        if cached?.isAnswered == true { made.addStored(request: urlRequest, response: response) }
        mutable.withLock { $0.metrics = made }
        return made
    }

    /// Returns the task of this attempt, which stays the same as long as a caller holds it.
    func task(of request: Request) -> URLSessionTask {
        if let known = mutable.withLock({ $0.task }) { return known }
        let made: URLSessionTask
        switch kind {
        case .data: made = TransferDataTask(self, request)
        case .upload: made = TransferUploadTask(self, request)
        case .download: made = TransferDownloadTask(self, request)
        }
        return mutable.withLock { state in
            if let known = state.task { return known }
            state.task = made
            return made
        }
    }
}
