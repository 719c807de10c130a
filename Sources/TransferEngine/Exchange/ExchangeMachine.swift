import TransferCore

/// The state machine of one exchange, from the first request over redirects and new starts to its end: pure, no I/O.
///
/// The shell performs a `Hop`, passes the head of its answer and the way in which it ended, and carries out the
/// returned actions.
struct ExchangeMachine {
    /// The order is `ready` → `asking` → (`deciding` →) (`delivering` | `dropping`) → `asking` again, (`confirming` →)
    /// or `ended`.
    enum State {
        case ready
        /// A hop is under way; no final answer has come yet.
        case asking(Hop)
        /// The answer is a redirect, and the program decides whether it is followed.
        case deciding(Hop, proposed: Hop, ResponseHead)
        /// The body of the answer goes to the sink.
        case delivering(Hop, BodyStart)
        /// The body is not needed; the next step is decided already.
        case dropping(Hop, Next)
        /// The body came, and the server is asked for the length of the file.
        case confirming(Confirmation)
        case ended
    }

    enum Next {
        case perform(Hop)
        case fail(TransferError)
        /// The whole file exists already; the head is the answer that confirmed it.
        case complete(ResponseHead)
    }

    struct Confirmation {
        let start: BodyStart
        let position: Int64
        let closure: ConnectionClosure
        var answer = LengthRule.Answer.unknown
    }

    enum HeadAction {
        case deliver(BodyStart)
        /// The body is read to its end if it is short, so that the connection can be used again.
        case drop
        /// The answer is neither delivered nor dropped until `decided(_:)`.
        case ask(RedirectProposal)
        /// The head is not final: libcurl continues automatically, and the machine ignores this head.
        case skip
    }

    enum EndAction {
        case perform(Hop)
        case succeed(ResponseHead)
        case fail(TransferError)
    }

    // The state is set here and in the extension that resumes downloads.
    var state = State.ready
    let request: ExchangeRequest
    private var redirects: RedirectRule
    var resumption: Resumption
    private var authentication: AuthenticationFlow
    /// Whether the exchange succeeded without a proof that the body is complete.
    private(set) var isLengthUnproven = false
    /// Whether the server was asked for the length afterwards, and reported that of the received body.
    private(set) var isLengthConfirmed = false
    /// Whether TLS's closing alert ended a body whose length has no other proof.
    private(set) var hasClosureAlert = false
    /// The challenge of the last head, for observers.
    private(set) var challenge: AuthenticationReport?

    init(_ request: ExchangeRequest) {
        self.request = request
        redirects = RedirectRule(request.settings.redirects)
        authentication = AuthenticationFlow(request)
        resumption = Resumption(request)
    }

    /// Returns the first hop.
    mutating func start() -> Hop {
        let hop = authentication.authorized(conditional(resumption.start(firstHop)))
        state = .asking(hop)
        return hop
    }

    /// Handles a final (not 1xx) head. libcurl may continue to another one automatically (401 with credentials).
    ///
    /// - Parameter now: The wall-clock time in seconds since 1970, for a Retry-After that is a date.
    mutating func received(_ head: ResponseHead, redirectTarget: String?, now: Int64) -> HeadAction {
        let hop: Hop
        switch state {
        case .asking(let current), .delivering(let current, _), .dropping(let current, _): hop = current
        case .confirming(var confirmation):
            confirmation.answer = LengthRule.judge(
                head, of: confirmation.start.head, position: confirmation.position)
            state = .confirming(confirmation)
            return .drop
        case .ready, .deciding, .ended: return .drop
        }
        challenge = nil
        if let action = judgeAuthentication(hop, head) { return action }
        if RedirectRule.isRedirect(head.status) || offersChoice(hop, head) {
            return redirected(hop, head, to: redirectTarget, now: now)
        }
        if head.status == 417, hop.sendsBody, hop.mayExpect || hop.asksFirst {
            // RFC 9110 §10.1.1: the same request is repeated without the question.
            var next = hop
            next.mayExpect = false
            authentication.mayAskFirst = false
            next.headers.removeAll { $0.isNamed("Expect") }
            state = .dropping(hop, .perform(next))
            return .drop
        }
        switch request.intent {
        case .message:
            return deliver(hop, head)
        case .representation:
            return represented(hop, head, now: now)
        }
    }

    /// Carries out the decision about a proposed redirect.
    ///
    /// - Returns: `nil` when no decision was due.
    mutating func decided(_ decision: RedirectDecision) -> HeadAction? {
        guard case .deciding(let hop, let proposed, let head) = state else { return nil }
        switch decision {
        case .stay: return deliver(hop, head)
        case .follow(let url, let method, let headers, let body):
            let url = URLSpelling.canonicalIfPossible(url)
            guard let origin = Origin(url: url) else {
                state = .dropping(hop, .fail(RedirectRule.refusal(of: url, status: head.status)))
                return .drop
            }
            var next = proposed
            // A place other than the proposed one does not get the credentials that were meant for that.
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
            state = .dropping(hop, .perform(next))
            return .drop
        }
    }

    /// Handles the end of a hop.
    ///
    /// - Parameters:
    ///   - error: The failure that libcurl or the sink reported; `nil` when the hop ended well.
    ///   - position: The current position of the sink.
    ///   - isFramed: Whether the protocol itself marks the end of bodies (HTTP/2, file servers). If it does not and the
    ///     head has no length, only the end of the connection shows it.
    ///   - closure: The way in which the connection ended that ended the body.
    mutating func hopEnded(
        _ error: TransferError?, position: Int64, isFramed: Bool = false, closure: ConnectionClosure = .unknown
    ) -> EndAction {
        switch state {
        case .ready, .ended:
            return .fail(error ?? TransferError(.internalFault, "an exchange ended before it began"))
        case .asking(let hop) where error != nil && mayGoBack(from: hop):
            return perform(goBack())
        case .asking, .deciding:
            state = .ended
            return .fail(
                error
                    ?? TransferError(
                        .badResponse, "the server closed the connection without an answer",
                        isTransient: true))
        case .dropping(_, let next):
            switch next {
            case .perform(let next): return perform(next)
            case .fail(let failure):
                state = .ended
                return .fail(failure)
            case .complete(let head):
                state = .ended
                return .succeed(head)
            }
        case .delivering(let hop, let start):
            if let error {
                if error == .otherBytes, resumption.refute() { return perform(resumption.asking(hop)) }
                state = .ended
                return .fail(error)
            }
            return delivered(hop, start, position: position, isFramed: isFramed, closure: closure)
        case .confirming(let confirmation):
            return confirmed(error == nil ? confirmation.answer : .unknown, confirmation)
        }
    }

    /// Checks the length of a body that the end of the connection ended.
    ///
    /// - Returns: `nil` where the settings require no check.
    mutating func confirm(
        _ hop: Hop, _ start: BodyStart, position: Int64, _ closure: ConnectionClosure
    ) -> EndAction? {
        guard request.settings.openEnd == .asked || request.settings.openEnd == .refused else { return nil }
        let confirmation = Confirmation(start: start, position: position, closure: closure)
        // The server would report the length of coded bytes.
        guard hop.method == "GET", !hop.sendsBody, !takesCodingOff(start.head) else {
            return confirmed(.unknown, confirmation)
        }
        var question = hop
        question.method = "HEAD"
        question.headers.removeAll { field in
            let name = field.name.lowercased()
            return name == "range" || name.hasPrefix("if-")
        }
        question = authentication.authorized(question)
        state = .confirming(confirmation)
        return .perform(question)
    }

    private mutating func confirmed(_ answer: LengthRule.Answer, _ confirmation: Confirmation) -> EndAction {
        state = .ended
        switch answer {
        case .same:
            isLengthConfirmed = true
            return .succeed(confirmation.start.head)
        case .cut(let length): return .fail(.cut(at: confirmation.position, of: length))
        case .unknown:
            if confirmation.closure == .cut { return .fail(.endedWithoutAlert) }
            if request.settings.openEnd == .refused { return .fail(.unprovenLength) }
            isLengthUnproven = true
            hasClosureAlert = confirmation.closure == .alerted
            return .succeed(confirmation.start.head)
        }
    }

    /// Whether the machine waits for an answer to the question for the length.
    var isConfirming: Bool {
        if case .confirming = state { return true }
        return false
    }

    /// The hop that follows the answer that is being dropped.
    var nextHop: Hop? {
        if case .dropping(_, .perform(let hop)) = state { return hop }
        return nil
    }

    /// The number of followed redirects.
    var redirectCount: Int { redirects.followed }

    /// Ends the machine, because the shell has stopped the exchange.
    mutating func abandon() { state = .ended }

    // MARK: Answers

    /// Judges a head with a challenge.
    ///
    /// - Returns: `nil` when the head is to be judged like any other.
    private mutating func judgeAuthentication(_ hop: Hop, _ head: ResponseHead) -> HeadAction? {
        if head.status == 407, let proxy = request.settings.way(to: hop.url) {
            // libcurl may answer the challenge automatically: then another head replaces this one.
            state = .dropping(hop, .fail(.proxyAsks(ProxyAddress(proxy))))
            return .skip
        }
        guard head.status == 401 else {
            authentication.accepted(hop, head)
            return nil
        }
        if hop.isConnectionAuthenticated, AuthenticationChallenge.all(in: head).contains(where: { $0.token != nil }) {
            return .skip
        }
        guard let (report, again) = authentication.challenged(hop, head) else { return nil }
        challenge = report
        guard again else { return nil }
        state = .dropping(hop, .perform(hop))
        return .drop
    }

    /// Returns whether the answer is a choice (RFC 9110 §15.4.1) for which the server names its preference.
    private func offersChoice(_ hop: Hop, _ head: ResponseHead) -> Bool {
        guard case .representation = request.intent, head.status == 300 else { return false }
        return head.value("Location")?.isEmpty == false && !hop.sendsBody
    }

    private mutating func redirected(
        _ hop: Hop, _ head: ResponseHead, to target: String?, now: Int64
    ) -> HeadAction {
        // An empty field names no place either.
        if case .message = request.intent,
            !request.settings.followsRedirects || head.value("Location")?.isEmpty ?? true
                || !request.settings.turnsRequests && hop.method != "GET"
                    && RedirectMethods.turns(hop.method, by: head.status)
        {
            return deliver(hop, head)
        }
        guard request.settings.followsRedirects else {
            return refused(hop, StatusRule.error(head, now: now))
        }
        do throws(TransferError) {
            let isNowhere = head.value("Location")?.isEmpty ?? true
            let next = try redirects.follow(hop, status: head.status, to: isNowhere ? nil : target)
            if request.asksBeforeRedirects {
                state = .deciding(hop, proposed: next, head)
                return .ask(RedirectProposal(head: head, from: hop, next: next))
            }
            state = .dropping(hop, .perform(next))
            return .drop
        } catch {
            return refused(hop, error)
        }
    }

    /// Begins the next hop.
    mutating func perform(_ next: Hop) -> EndAction {
        let hop = authentication.authorized(conditional(next))
        state = .asking(hop)
        return .perform(hop)
    }

    /// Returns the hop that asks the request's own URL again, with the full number of redirects.
    mutating func goBack() -> Hop {
        redirects = RedirectRule(request.settings.redirects)
        return resumption.goBack(firstHop)
    }

    private func conditional(_ hop: Hop) -> Hop { request.held?.asking(hop, own: request.url) ?? hop }

    mutating func deliver(_ hop: Hop, _ head: ResponseHead) -> HeadAction {
        let isFile = if case .representation = request.intent { true } else { false }
        return deliver(
            hop,
            BodyStart(
                head: head, offset: 0, total: total(head), url: hop.reference,
                isContinuable: isFile ? !takesCodingOff(head) : nil,
                takesCredentials: hop.sendsCredentials))
    }

    mutating func deliver(_ hop: Hop, _ start: BodyStart) -> HeadAction {
        state = .delivering(hop, start)
        return .deliver(start)
    }

    var firstHop: Hop {
        // Asking first takes as long as sending a short body.
        let mayExpect =
            request.settings.expectsContinue
            && (request.body.isEmpty || request.body.isLong || request.headers.value("Expect") != nil)
        var hop = Hop(
            url: request.url, method: request.method, headers: request.headers, sendsBody: !request.body.isEmpty,
            mayExpect: mayExpect, fragment: request.fragment)
        if case .representation = request.intent, hop.headers.value("Accept-Encoding") == nil {
            // The bytes of a coded body have no place in a file that is continued by byte offsets.
            hop.headers.append(HeaderField("Accept-Encoding", "identity"))
        }
        return hop
    }

    /// Returns the length of the body, where it is that of the file.
    ///
    /// A coded body is the file only where the coding is not removed.
    func total(_ head: ResponseHead) -> Int64? {
        guard head.value("Transfer-Encoding") == nil, !takesCodingOff(head) else { return nil }
        if case .representation = request.intent { return head.contentLength }
        return head.contentCoding == nil ? head.contentLength : nil
    }

    /// Returns whether the body's codings are removed to get the file.
    func takesCodingOff(_ head: ResponseHead) -> Bool {
        guard request.settings.decodesFiles, case .representation = request.intent else { return false }
        return head.contentCoding.map { !ContentCoding.layers($0).isEmpty } ?? false
    }
}
