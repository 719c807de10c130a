import Foundation
import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

/// One attempt of a request on the network, and what is known of it.
final class AttemptRecord: Sendable {
    enum Kind { case data, upload, download }

    /// `ready` → `running` → `ended`.
    private enum State {
        case ready
        case running(any ExchangeCommands)
        case ended(TransferEnd)
    }

    private struct Mutable {
        var state = State.ready
        var start: BodyStart?
        /// There was room again before the handle was known.
        var mustProceed = false
        /// A redirect was decided about before the handle was known.
        var decision: RedirectDecision?
        var response: HTTPURLResponse?
        /// What a class of the program's answered; used as it is.
        var given: URLResponse?
        var metrics: TransferTaskMetrics?
        weak var task: URLSessionTask?
    }

    let kind: Kind
    /// Of its request; one that never reached the network has no record.
    let attempt: Int
    /// Of its session.
    let number: Int
    let urlRequest: URLRequest
    let meter = ExchangeMeter()
    /// Length of the request's body.
    let bodyLength: Int64?
    /// What the cache has to do with it.
    let cached: CachedExchange?
    let startDate = Date()
    /// Between the head of the answer and its body.
    let gate = AnswerGate()
    private let mutable = Mutex(Mutable())

    init(
        kind: Kind, attempt: Int, number: Int, urlRequest: URLRequest, bodyLength: Int64?, cached: CachedExchange? = nil
    ) {
        self.kind = kind
        self.attempt = attempt
        self.number = number
        self.urlRequest = urlRequest
        self.bodyLength = bodyLength
        self.cached = cached
    }

    // MARK: What happens to it

    func started(_ handle: any ExchangeCommands) {
        let (mustProceed, decision) = mutable.withLock { state in
            // It may have ended before anybody was told that it began.
            if case .ended = state.state {} else { state.state = .running(handle) }
            return (state.mustProceed, state.decision)
        }
        if mustProceed { handle.proceed() }
        if let decision { handle.decide(decision) }
    }

    /// What becomes of a redirect.
    func decide(_ decision: RedirectDecision) {
        let handle = mutable.withLock { state -> (any ExchangeCommands)? in
            if case .running(let handle) = state.state { return handle }
            if case .ready = state.state { state.decision = decision }
            return nil
        }
        handle?.decide(decision)
    }

    /// The body of the answer may come.
    func proceed() { if gate.decide() { readOn() } }

    /// Whoever takes the body has room again.
    func readOn() {
        let handle = mutable.withLock { state -> (any ExchangeCommands)? in
            if case .running(let handle) = state.state { return handle }
            if case .ready = state.state { state.mustProceed = true }
            return nil
        }
        handle?.proceed()
    }

    /// The answer is this, whatever its head says.
    func adopt(_ response: URLResponse?) { mutable.withLock { $0.given = response } }

    func responded(_ start: BodyStart) {
        mutable.withLock { state in
            state.start = start
            state.response = nil
        }
    }

    /// - Returns: The end, with the last answer whose body began.
    func ended(_ outcome: ExchangeOutcome) -> TransferEnd {
        mutable.withLock { state in
            let end = TransferEnd(outcome: outcome, start: outcome.start ?? state.start)
            state.state = .ended(end)
            state.response = nil
            return end
        }
    }

    /// It ends before the network was used.
    func ended(unsent failure: AFError) -> TransferEnd {
        mutable.withLock { state in
            let end = TransferEnd(unsent: failure, url: urlRequest.url?.absoluteString ?? "")
            state.state = .ended(end)
            return end
        }
    }

    /// A file of this machine was read.
    func endedLocally() -> TransferEnd {
        mutable.withLock { state in
            let end = TransferEnd(localURL: urlRequest.url?.absoluteString ?? "")
            state.state = .ended(end)
            return end
        }
    }

    // MARK: What is known

    /// Whether nothing of it has been given to the network.
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

    /// The bytes that have arrived, and not those that the kernel has taken. The end tells a length that was not known.
    var uploaded: ProgressCount {
        let sent = meter.acknowledged
        guard bodyLength == nil, sent > 0, let end, case .success = end.outcome.result else {
            return ProgressCount(completed: sent, total: bodyLength)
        }
        return ProgressCount(completed: sent, total: sent)
    }

    /// Where the length isn't known, the end tells; a coded answer is counted as it comes over the network.
    var downloaded: ProgressCount {
        let count = ProgressCount(completed: meter.position, total: meter.total)
        guard let end, case .success = end.outcome.result, end.start != nil else { return count }
        let whole = end.start?.isCoded == false ? end.outcome.position : count.completed
        return ProgressCount(completed: whole, total: whole)
    }

    /// The answer as programs expect it, made when somebody asks: that costs as much as a small request.
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

    /// Made when somebody asks.
    var metrics: TransferTaskMetrics? {
        guard let end else { return nil }
        if let known = mutable.withLock({ $0.metrics }) { return known }
        var made = TransferTaskMetrics(end.outcome, request: urlRequest, response: response, startDate: startDate)
        if cached?.isAnswered == true { made.addStored(request: urlRequest, response: response) }
        mutable.withLock { $0.metrics = made }
        return made
    }

    /// The task of this attempt; the same one for as long as somebody holds it.
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
