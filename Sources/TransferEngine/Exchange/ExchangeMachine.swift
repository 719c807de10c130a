import TransferCore

/// The life of one exchange, from the first request over redirects and new starts to its end: pure, no I/O.
///
/// The shell performs a `Hop`, tells what its answer's head was and how the hop ended, and does what it's told.
struct ExchangeMachine {
    /// `ready` → `asking` → (`deciding` →) (`delivering` | `dropping`) → `asking` again, (`confirming` →) or `ended`.
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
        /// The body came, and the server is asked how long the file is.
        case confirming(Confirmation)
        case ended
    }

    enum Next {
        case perform(Hop)
        case fail(TransferError)
        /// Everything is there already; the head is the answer that confirmed it.
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
        /// Read the body to its end if it's short, so that the connection can be used again.
        case drop
        /// The answer is neither delivered nor dropped until `decided(_:)`.
        case ask(RedirectProposal)
        /// Not the answer yet: libcurl goes on by itself, and nothing of it is looked at.
        case skip
    }

    enum EndAction {
        case perform(Hop)
        case succeed(ResponseHead)
        case fail(TransferError)
    }

    // Set here and by the part that resumes.
    var state = State.ready
    let request: ExchangeRequest
    private var redirects: RedirectRule
    var resumption: Resumption
    private var authentication: AuthenticationFlow
    /// Whether it succeeded, and nothing proves that the body came whole.
    private(set) var isLengthUnproven = false
    /// Whether the server was asked for the length afterwards, and told that which came.
    private(set) var isLengthConfirmed = false
    /// Whether TLS's closing alert ended a body whose length nothing else proves.
    private(set) var hasClosureAlert = false
    /// The challenge of the last head, for those who are to be told of it.
    private(set) var challenge: AuthenticationReport?

    init(_ request: ExchangeRequest) {
        self.request = request
        redirects = RedirectRule(limit: request.settings.maxRedirects)
        authentication = AuthenticationFlow(request)
        resumption = Resumption(request)
    }

    /// The first hop.
    mutating func start() -> Hop {
        let hop = authentication.authorized(conditional(resumption.start(firstHop)))
        state = .asking(hop)
        return hop
    }

    /// A final (not 1xx) head arrived. libcurl may go on to another one by itself (401 with credentials).
    ///
    /// - Parameter now: Wall-clock seconds since 1970, for a Retry-After that is a date.
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
            // RFC 9110 §10.1.1: the same again, without asking first.
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

    /// Decides what becomes of a redirect that was asked about.
    ///
    /// - Returns: `nil` when nothing was asked.
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
            state = .dropping(hop, .perform(next))
            return .drop
        }
    }

    /// - Parameters:
    ///   - error: How libcurl or the sink says that the hop failed; `nil` when it ended well.
    ///   - position: Where the sink stands now.
    ///   - isFramed: Whether the protocol itself ends bodies (HTTP/2, file servers): where it doesn't and the head tells
    ///     no length, the end of the connection is all there is.
    ///   - closure: How the connection ended that ended the body.
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

    /// A body that the end of the connection ended has come.
    ///
    /// - Returns: `nil` where nobody minds.
    mutating func confirm(
        _ hop: Hop, _ start: BodyStart, position: Int64, _ closure: ConnectionClosure
    ) -> EndAction? {
        guard request.settings.openEnd == .asked || request.settings.openEnd == .refused else { return nil }
        let confirmation = Confirmation(start: start, position: position, closure: closure)
        // The server would tell the length of coded bytes.
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

    /// Whether the answers that come are only asked for the length.
    var isConfirming: Bool {
        if case .confirming = state { return true }
        return false
    }

    /// The hop that follows the answer that is being dropped.
    var nextHop: Hop? {
        if case .dropping(_, .perform(let hop)) = state { return hop }
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

    /// A choice (RFC 9110 §15.4.1) of which the server says what it would choose.
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
                    && RedirectRule.turns(hop.method, by: head.status)
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

    /// The next hop begins.
    mutating func perform(_ next: Hop) -> EndAction {
        let hop = authentication.authorized(conditional(next))
        state = .asking(hop)
        return .perform(hop)
    }

    /// The request's own URL is asked again, and may redirect as often as at first.
    mutating func goBack() -> Hop {
        redirects = RedirectRule(limit: request.settings.maxRedirects)
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

    /// The length of the body, where it's that of the file: a coded body is the file only where nothing takes the coding off.
    func total(_ head: ResponseHead) -> Int64? {
        guard head.value("Transfer-Encoding") == nil, !takesCodingOff(head) else { return nil }
        if case .representation = request.intent { return head.contentLength }
        return head.contentCoding == nil ? head.contentLength : nil
    }

    /// Whether the file is what remains of the body when its codings are taken off.
    func takesCodingOff(_ head: ResponseHead) -> Bool {
        guard request.settings.decodesFiles, case .representation = request.intent else { return false }
        return head.contentCoding.map { !ContentCoding.layers($0).isEmpty } ?? false
    }
}
