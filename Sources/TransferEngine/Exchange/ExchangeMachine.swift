import TransferCore

/// The life of one exchange, from the first request over redirects and new starts to its end: pure, no I/O.
///
/// The shell performs a `Hop`, tells what its answer's head was and how the hop ended, and does what it's told.
struct ExchangeMachine {
    /// `ready` → `asking` → (`deciding` →) (`delivering` | `dropping`) → `asking` again or `ended`.
    enum State {
        case ready
        /// A hop is under way; no final answer yet.
        case asking(Hop)
        /// The answer is a redirect, and somebody is asked whether it's followed.
        case deciding(Hop, proposed: Hop, ResponseHead)
        /// The body of the answer goes to the sink.
        case delivering(Hop, BodyStart)
        /// The body is of no interest; what comes after it is settled.
        case dropping(Hop, Next)
        case ended
    }

    enum Next {
        case perform(Hop, restart: String?)
        case fail(TransferError)
        /// Everything is there already; the head is the answer that confirmed it.
        case complete(ResponseHead)
    }

    enum HeadAction {
        case deliver(BodyStart)
        /// Read the body to its end if it's short, so that the connection can be used again.
        case drop
        /// Neither, until `decided(_:)`.
        case ask(RedirectProposal)
        /// Not the answer yet: libcurl goes on by itself, and nothing of it is looked at.
        case skip
    }

    enum EndAction {
        case perform(Hop, restart: String?)
        case succeed(ResponseHead)
        case fail(TransferError)
    }

    private(set) var state = State.ready
    private let request: ExchangeRequest
    private var redirects: RedirectRule
    /// What the next hop may continue; `nil` starts from the beginning.
    private(set) var resume: ResumePoint?
    /// Restarts without a range are bounded: one follows from each kind of misbehaviour, never a loop.
    private var restarts = 0
    private var authentication: AuthenticationFlow
    /// The challenge of the last head, for those who are to be told of it.
    private(set) var challenge: AuthenticationReport?

    init(_ request: ExchangeRequest) {
        self.request = request
        redirects = RedirectRule(limit: request.settings.maxRedirects)
        authentication = AuthenticationFlow(request)
        if case .representation(let point) = request.intent { resume = point }
    }

    /// The first hop, and why the bytes that are there are given up, where they are.
    mutating func start() -> (Hop, restart: String?) {
        let (first, reason) = ranged(firstHop)
        let hop = authentication.authorized(first)
        state = .asking(hop)
        return (hop, reason)
    }

    /// A final (not 1xx) head arrived. libcurl may go on to another one by itself (401 with credentials).
    ///
    /// - Parameter now: Wall-clock seconds since 1970, for a Retry-After that is a date.
    mutating func received(_ head: ResponseHead, redirectTarget: String?, now: Int64) -> HeadAction {
        let hop: Hop
        switch state {
        case .asking(let current), .delivering(let current, _), .dropping(let current, _): hop = current
        case .ready, .deciding, .ended: return .drop
        }
        challenge = nil
        if let action = judgeAuthentication(hop, head) { return action }
        if RedirectRule.isRedirect(head.status) {
            return redirected(hop, head, to: redirectTarget, now: now)
        }
        if head.status == 417, hop.sendsBody, hop.mayExpect {
            // RFC 9110 §10.1.1: the same again, without asking first.
            var next = hop
            next.mayExpect = false
            next.headers.removeAll { $0.isNamed("Expect") }
            state = .dropping(hop, .perform(next, restart: nil))
            return .drop
        }
        switch request.intent {
        case .message:
            return deliver(hop, head)
        case .representation:
            return represented(hop, head, now: now)
        }
    }

    /// What becomes of a redirect that was asked about.
    ///
    /// - Returns: `nil` when nothing was asked.
    mutating func decided(_ decision: RedirectDecision) -> HeadAction? {
        guard case .deciding(let hop, let proposed, let head) = state else { return nil }
        switch decision {
        case .stay: return deliver(hop, head)
        case .follow(let url, let method, let headers, let body):
            guard let origin = Origin(url: url) else {
                state = .dropping(hop, .fail(RedirectRule.refusal(of: url, status: head.status)))
                return .drop
            }
            var next = proposed
            // Another place than the proposed one is not given what was kept for that.
            if origin != Origin(url: proposed.url) { next.sendsCredentials = false }
            next.go(to: url)
            next.method = method
            next.headers = headers
            switch body {
            case .asProposed: break
            case .none: next.dropBody()
            case .bytes(let bytes):
                next.sendsBody = true
                next.replacedBody = bytes
            }
            state = .dropping(hop, .perform(next, restart: nil))
            return .drop
        }
    }

    /// - Parameters:
    ///   - error: How libcurl or the sink says that the hop failed; `nil` when it ended well.
    ///   - position: Where the sink stands now.
    mutating func hopEnded(_ error: TransferError?, position: Int64) -> EndAction {
        switch state {
        case .ready, .ended:
            return .fail(error ?? TransferError(.internalFault, "an exchange ended before it began"))
        case .asking, .deciding:
            state = .ended
            return .fail(
                error
                    ?? TransferError(
                        .badResponse, "the server closed the connection without an answer",
                        isTransient: true))
        case .dropping(_, let next):
            switch next {
            case .perform(let next, let restart):
                let hop = authentication.authorized(next)
                state = .asking(hop)
                return .perform(hop, restart: restart)
            case .fail(let failure):
                state = .ended
                return .fail(failure)
            case .complete(let head):
                state = .ended
                return .succeed(head)
            }
        case .delivering(let hop, let start):
            if let error {
                state = .ended
                return .fail(error)
            }
            return delivered(hop, start, position: position)
        }
    }

    /// What follows the answer that is being dropped.
    var nextHop: Hop? {
        if case .dropping(_, .perform(let hop, restart: nil)) = state { return hop }
        return nil
    }

    /// How many redirects were followed.
    var redirectCount: Int { redirects.followed }

    /// The shell stopped it.
    mutating func abandon() { state = .ended }

    // MARK: Answers

    /// - Returns: `nil` when the head is to be judged like any other.
    private mutating func judgeAuthentication(_ hop: Hop, _ head: ResponseHead) -> HeadAction? {
        if head.status == 407, let proxy = request.settings.way(to: hop.url) {
            // libcurl may answer it by itself: then another head takes this one's place.
            state = .dropping(hop, .fail(.proxyAsks(ProxyAddress(proxy))))
            return .skip
        }
        guard head.status == 401 else {
            authentication.accepted(hop)
            return nil
        }
        if hop.isConnectionAuthenticated, AuthenticationChallenge.all(in: head).contains(where: { $0.token != nil }) {
            return .skip
        }
        guard let (report, again) = authentication.challenged(hop, head) else { return nil }
        challenge = report
        guard again else { return nil }
        state = .dropping(hop, .perform(hop, restart: nil))
        return .drop
    }

    private mutating func represented(_ hop: Hop, _ head: ResponseHead, now: Int64) -> HeadAction {
        if let point = resume, [200, 203, 206, 416].contains(head.status) {
            switch ResumeRule(point: point).judge(head) {
            case .append(_, let total):
                return deliver(hop, head, from: point.offset, of: total)
            case .replace(let reason):
                resume = nil
                return deliver(hop, head, restart: reason)
            case .complete:
                state = .dropping(hop, .complete(head))
                return .drop
            case .startAgain(let reason):
                return startAgain(hop, reason)
            }
        }
        switch head.status {
        case 200, 203:
            return deliver(hop, head)
        case 206:
            // A part that nobody asked for: not even its place in the file can be relied on.
            state = .dropping(
                hop, .fail(TransferError(.badResponse, "206 Partial Content for a request without a range")))
            return .drop
        default:
            state = .dropping(hop, .fail(StatusRule.error(head, now: now)))
            return .drop
        }
    }

    private mutating func startAgain(_ hop: Hop, _ reason: String) -> HeadAction {
        resume = nil
        restarts += 1
        guard restarts <= 3 else {
            state = .dropping(
                hop, .fail(TransferError(.badResponse, "the file keeps changing: \(reason)", isTransient: true)))
            return .drop
        }
        var next = hop
        next.headers.removeAll { $0.isNamed("Range") || $0.isNamed("If-Range") }
        state = .dropping(hop, .perform(next, restart: reason))
        return .drop
    }

    private mutating func redirected(
        _ hop: Hop, _ head: ResponseHead, to target: String?, now: Int64
    ) -> HeadAction {
        // An empty field names no place either.
        if case .message = request.intent,
            !request.settings.followsRedirects || head.value("Location")?.isEmpty ?? true
        {
            return deliver(hop, head)
        }
        guard request.settings.followsRedirects else {
            state = .dropping(hop, .fail(StatusRule.error(head, now: now)))
            return .drop
        }
        do throws(TransferError) {
            let next = try redirects.follow(hop, status: head.status, to: target)
            if request.asksBeforeRedirects {
                state = .deciding(hop, proposed: next, head)
                return .ask(RedirectProposal(head: head, from: hop, next: next))
            }
            state = .dropping(hop, .perform(next, restart: nil))
        } catch {
            state = .dropping(hop, .fail(error))
        }
        return .drop
    }

    /// The body came whole, as far as libcurl can tell.
    private mutating func delivered(_ hop: Hop, _ start: BodyStart, position: Int64) -> EndAction {
        if let total = start.total, start.head.contentCoding == nil, case .representation = request.intent {
            if position > total {
                state = .ended
                return .fail(
                    TransferError(
                        .badResponse, "the server sent \(position) bytes of a file of \(total)", isTransient: true))
            }
            if position < total {
                // A server may answer with less than was asked for (RFC 9110 §15.3.7): ask for what is left.
                guard position > start.offset else {
                    state = .ended
                    return .fail(
                        TransferError(
                            .connectionLost, "the answer ended \(total - position) bytes early", isTransient: true))
                }
                resume = ResumePoint(
                    offset: position, validator: Validator(start.head) ?? resume?.validator, total: total,
                    isVerifiedByDigest: resume?.isVerifiedByDigest ?? false)
                let (rest, reason) = ranged(hop)
                let next = authentication.authorized(rest)
                state = .asking(next)
                return .perform(next, restart: reason)
            }
        }
        state = .ended
        return .succeed(start.head)
    }

    private mutating func deliver(_ hop: Hop, _ head: ResponseHead, restart: String? = nil) -> HeadAction {
        deliver(hop, head, from: 0, of: Self.total(head), restart: restart)
    }

    private mutating func deliver(
        _ hop: Hop, _ head: ResponseHead, from offset: Int64, of total: Int64?, restart: String? = nil
    ) -> HeadAction {
        let start = BodyStart(head: head, offset: offset, total: total, url: hop.reference, restart: restart)
        state = .delivering(hop, start)
        return .deliver(start)
    }

    private var firstHop: Hop {
        // To ask first takes as long as a short body does.
        let mayExpect =
            request.settings.expectsContinue
            && (request.body.isEmpty || request.body.isLong || request.headers.value("Expect") != nil)
        var hop = Hop(
            url: request.url, method: request.method, headers: request.headers, sendsBody: !request.body.isEmpty,
            mayExpect: mayExpect, fragment: request.fragment)
        if case .representation = request.intent, hop.headers.value("Accept-Encoding") == nil {
            // A coded body has no place in a file that is continued by byte offsets.
            hop.headers.append(HeaderField("Accept-Encoding", "identity"))
        }
        return hop
    }

    /// The same request for what `resume` leaves to be fetched; from the start, and why, when it can't be continued.
    private mutating func ranged(_ hop: Hop) -> (Hop, restart: String?) {
        // A message has the fields that were given.
        if case .message = request.intent { return (hop, nil) }
        var hop = hop
        hop.headers.removeAll { $0.isNamed("Range") || $0.isNamed("If-Range") }
        guard let point = resume else { return (hop, nil) }
        let rule = ResumeRule(point: point)
        guard let fields = rule.requestHeaders else {
            resume = nil
            return (hop, rule.reasonNotToResume)
        }
        hop.headers += fields
        return (hop, nil)
    }

    private static func total(_ head: ResponseHead) -> Int64? {
        head.contentCoding == nil && head.value("Transfer-Encoding") == nil ? head.contentLength : nil
    }
}
