import TransferCore

/// An upload that is complete only once its answer is a receipt (``ReceiptRule``).
///
/// After a 202 the server is asked for the file: at the URL of a PUT, otherwise at the URL in the answer. Until the
/// file of a PUT exists each attempt asks again, ``questions`` times; then the file is sent again. Without a URL to
/// ask, the job ends: a PUT fails, and the fate of a POST is unknown. A redirect that the job calls a success counts
/// only after a check of the page to which it leads.
///
/// After a success that says nothing about the file, such as a captive portal's page, the server of a PUT is asked once.
/// Without a proof the job ends as one that may have arrived.
public struct ReceiptDialogue: UploadDialogue {
    private enum Phase: Sendable {
        case uploading
        /// The file is queried; `asked` is the number of queries in earlier attempts.
        case asking(RemoteCopy, UploadResult, asked: Int)
        /// The file is queried after a success that says nothing about it.
        case proving(RemoteCopy, UploadResult, because: String)
        /// The page to which a redirect leads is requested.
        case looking(UploadResult, redirects: Int)
        case abandoning
        case ended
    }

    /// The number of queries. The delay between them grows: with the default rule to half a minute.
    static let questions = 6
    /// The most redirects on the way to a page.
    private static let redirectLimit = 5
    private static let pageNumber = 900_000_003
    static let kind = "accepted"

    private let rule: ReceiptRule
    private let url: String
    private let source: UploadSource
    private var inner: (any UploadDialogue)?
    private var phase = Phase.uploading
    /// The requests that carry the whole source.
    private var wholes: Set<Int> = []
    /// The last answer to one of those requests.
    private var answer: UploadAnswer?
    /// The time when the file was about to be sent, by the local clock.
    private var began: Int64
    private let asked: Int?

    /// Creates a dialogue.
    ///
    /// - Parameters:
    ///   - inner: The dialogue that sends the file; `nil` where it was sent.
    ///   - state: The state that an earlier attempt saved; states of other dialogues are ignored.
    public init(
        _ inner: (any UploadDialogue)?, rule: ReceiptRule, url: String, source: UploadSource, state: UploadState? = nil
    ) {
        let saved = state.flatMap(Self.read)
        self.init(inner, rule, url, source, began: saved?.began ?? 0, asked: saved?.asked)
    }

    /// Creates a dialogue after an upload of one request.
    ///
    /// - Parameters:
    ///   - answer: The answer to the request, whose status alone is no receipt by the rule.
    ///   - began: The time when the request was about to be sent, in seconds since 1970.
    public init(after answer: UploadAnswer, rule: ReceiptRule, url: String, source: UploadSource, began: Int64) {
        self.init(nil, rule, url, source, began: began, asked: nil)
        self.answer = answer
    }

    private init(
        _ inner: (any UploadDialogue)?, _ rule: ReceiptRule, _ url: String, _ source: UploadSource, began: Int64,
        asked: Int?
    ) {
        self.inner = inner
        self.rule = rule
        self.url = url
        self.source = source
        self.began = began
        self.asked = asked
    }

    /// Returns whether the state is that of an accepted file for which the server is to be asked.
    public static func isState(_ state: UploadState) -> Bool { state.kind == kind }

    /// Returns the first actions.
    public mutating func begin(now: Int64) -> [UploadAction] {
        if let asked {
            return ask(at: url, UploadResult(url: url, status: 202), asked: asked, now)
        }
        if inner == nil, let answer { return judge(answer, now) }
        began = now
        return pass(inner?.begin(now: now) ?? [], now)
    }

    /// Returns the actions that free the server of the upload.
    public mutating func abandon(now: Int64) -> [UploadAction] {
        phase = .abandoning
        return inner?.abandon(now: now) ?? [.finish(UploadResult(url: url, status: 0))]
    }

    /// Returns the actions that follow an event.
    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        switch phase {
        case .abandoning: return inner?.handle(event, now: now) ?? []
        case .ended: return []
        case .asking(var copy, let result, let asked):
            let step = copy.handle(event, now: now)
            phase = .asking(copy, result, asked: asked)
            switch step {
            case .perform(let actions): return actions
            case .found(let finding): return found(finding, result, asked: asked, now)
            }
        case .proving(var copy, let result, let doubt):
            let step = copy.handle(event, now: now)
            phase = .proving(copy, result, because: doubt)
            switch step {
            case .perform(let actions): return actions
            case .found(let finding): return proved(finding, result, doubt, now)
            }
        case .looking(let result, let redirects): return looked(event, result, redirects, now)
        case .uploading: return uploaded(event, now)
        }
    }

    // MARK: The upload

    private mutating func uploaded(_ event: UploadEvent, _ now: Int64) -> [UploadAction] {
        if case .answered(let answer) = event, wholes.contains(answer.request) {
            self.answer = answer
            if (300..<400).contains(answer.head.status) {
                switch rule.judge(answer, to: url, now: now) {
                case .refused(let error) where answer.head.singleValue("Location") != nil:
                    return fail(error)
                case .redirected: return judge(answer, now)
                case .stored, .accepted, .doubtful, .refused: break
                }
            }
        }
        return pass(inner?.handle(event, now: now) ?? [], now)
    }

    private mutating func pass(_ actions: [UploadAction], _ now: Int64) -> [UploadAction] {
        actions.flatMap { action -> [UploadAction] in
            switch action {
            case .send(let request):
                if case .source(let range, _, _) = request.body, range == 0..<source.size, request.ownersFields == .all
                {
                    wholes.insert(request.id)
                }
            case .finish(let result): return finished(result, now)
            case .fail: phase = .ended
            default: break
            }
            return [action]
        }
    }

    private mutating func finished(_ result: UploadResult, _ now: Int64) -> [UploadAction] {
        // The statuses that a job calls a success are those of its upload.
        guard !result.isFound else { return settle(.stored, result, now) }
        if let answer, answer.head.status == result.status {
            return settle(rule.judge(answer, to: url, now: now), result, now)
        }
        return settle(rule.judge(status: result.status), result, now)
    }

    /// Judges an answer to the whole upload.
    private mutating func judge(_ answer: UploadAnswer, _ now: Int64) -> [UploadAction] {
        let result = UploadResult(
            url: answer.url, status: answer.head.status, validator: Validator(answer.head)?.description,
            response: answer.body.isEmpty ? nil : String(decoding: answer.body, as: UTF8.self))
        return settle(rule.judge(answer, to: url, now: now), result, now)
    }

    private mutating func settle(
        _ verdict: ReceiptRule.Verdict, _ result: UploadResult, _ now: Int64
    ) -> [UploadAction] {
        switch verdict {
        case .stored:
            phase = .ended
            return [.finish(result)]
        case .refused(let error): return fail(error)
        case .redirected(let target): return look(at: target, result, redirects: 0)
        case .accepted:
            guard let place = place(result) else { return fail(unconfirmed("and does not say where it is")) }
            return ask(at: place, result, asked: 0, now)
        case .doubtful(let doubt):
            guard rule.method == "PUT" else { return fail(unproven(doubt, nil, result.status)) }
            var copy = RemoteCopy(url: url, source: source, began: began)
            let actions = copy.begin(now: now)
            phase = .proving(copy, result, because: doubt)
            return [.save(ConfirmingPut.state(began: began))] + actions
        }
    }

    private mutating func fail(_ error: TransferError) -> [UploadAction] {
        phase = .ended
        return [.fail(error)]
    }

    // MARK: A page

    private mutating func look(at target: String, _ result: UploadResult, redirects: Int) -> [UploadAction] {
        phase = .looking(result, redirects: redirects)
        return [
            .send(UploadRequest(id: Self.pageNumber + redirects, method: "GET", url: target, followsRedirects: false))
        ]
    }

    /// Handles the page behind a redirect. The answer to the upload is the receipt, even if the page is unavailable.
    private mutating func looked(
        _ event: UploadEvent, _ result: UploadResult, _ redirects: Int, _ now: Int64
    ) -> [UploadAction] {
        switch event {
        case .interim, .digested: return []
        case .failed: return settle(.stored, result, now)
        case .answered(let answer):
            let verdict = rule.judgePage(answer, after: result.status)
            if case .redirected(let target) = verdict, redirects < Self.redirectLimit {
                return look(at: target, result, redirects: redirects + 1)
            }
            if case .refused = verdict { return settle(verdict, result, now) }
            return settle(.stored, result, now)
        }
    }

    // MARK: The file

    /// Returns the URL at which an accepted file can be seen.
    private func place(_ result: UploadResult) -> String? {
        if rule.method == "PUT" { return url }
        if let named = answer?.head.singleValue("Location").flatMap({ UploadLocation.url($0, from: answer?.url ?? url) }
        ) {
            return named
        }
        return result.url == url ? nil : result.url
    }

    private mutating func ask(
        at place: String, _ result: UploadResult, asked: Int, _ now: Int64
    ) -> [UploadAction] {
        var copy = RemoteCopy(url: place, source: source, began: began, wasAccepted: true)
        let actions = copy.begin(now: now)
        phase = .asking(copy, result, asked: asked)
        guard rule.method == "PUT" else { return actions }
        return [.save(Self.state(began: began, asked: asked))] + actions
    }

    private mutating func found(
        _ finding: RemoteCopy.Finding, _ accepted: UploadResult, asked: Int, _ now: Int64
    ) -> [UploadAction] {
        phase = .ended
        switch finding {
        case .same(let answer, let digest):
            var result = accepted
            result.validator = Validator(answer.head)?.description
            result.digest = digest
            return [.finish(result)]
        case .other, .missing: return notYet(asked: asked)
        case .unknown(let answer):
            let error = StatusRule.error(answer.head, now: now)
            guard !error.isTransient || rule.method != "PUT" else { return [.fail(error)] }
            return [.fail(unconfirmed("and answers \(answer.head.status) to the question whether it has it"))]
        case .failed(let error):
            return [.fail(rule.method == "PUT" ? error : unconfirmed("and cannot be asked: \(error.message)"))]
        }
    }

    /// Handles the answer about a file whose upload had an answer that says nothing about it.
    private mutating func proved(
        _ finding: RemoteCopy.Finding, _ doubtful: UploadResult, _ doubt: String, _ now: Int64
    ) -> [UploadAction] {
        switch finding {
        case .same(let answer, let digest):
            phase = .ended
            var result = doubtful
            result.validator = Validator(answer.head)?.description
            result.digest = digest
            return [.finish(result)]
        // The state asks again before the file is sent again.
        case .missing:
            let words = "\(doubt), and the server does not have \(source.name)"
            return fail(TransferError(.unconfirmed, words, isTransient: true))
        case .failed(let error) where error.isTransient: return fail(error)
        case .failed(let error):
            return fail(unproven(doubt, "the server cannot be asked: \(error.message)", doubtful.status))
        case .other:
            let why = "the server has another file, or one that cannot be identified"
            return fail(unproven(doubt, why, doubtful.status))
        case .unknown(let answer):
            let error = StatusRule.error(answer.head, now: now)
            guard !error.isTransient else { return fail(error) }
            let why = "the server answers \(answer.head.status) to the question whether it has it"
            return fail(unproven(doubt, why, doubtful.status))
        }
    }

    /// Returns the error of a file that may have arrived, after a success that says nothing about it. A watched folder
    /// may offer the file of a PUT again later: that request is idempotent, and the server is asked before it.
    private func unproven(_ doubt: String, _ why: String?, _ status: Int) -> TransferError {
        let words = why.map { "\(doubt), and \($0)" } ?? doubt
        return TransferError(
            rule.method == "PUT" ? .unconfirmed : .mayHaveBeenSent,
            "\(words); \(source.name) may have arrived, and \(CommandPhrases.retry) sends it again; "
                + "\"success\": [\(status)] in the job takes that for a receipt")
    }

    private func notYet(asked: Int) -> [UploadAction] {
        guard rule.method == "PUT" else { return [.fail(unconfirmed("and does not show it"))] }
        let error = TransferError(
            .unconfirmed, "the server accepted \(source.name) (202) and does not show it yet", isTransient: true)
        let isLast = asked + 1 >= Self.questions
        return [
            .save(isLast ? ConfirmingPut.state(began: began) : Self.state(began: began, asked: asked + 1)),
            .fail(error),
        ]
    }

    private func unconfirmed(_ why: String) -> TransferError {
        let words = "the server accepted \(source.name) (202) \(why)"
        let advice = "\"success\": [202] in the job takes that for a receipt"
        guard rule.method == "PUT" else {
            return TransferError(
                .mayHaveBeenSent,
                "\(words); \(rule.method) is not repeated, because it may have arrived; \(advice)")
        }
        return TransferError(.unconfirmed, "\(words); \(advice)")
    }

    // MARK: The state

    private static func state(began: Int64, asked: Int) -> UploadState { state(payload: "\(began):\(asked)") }

    private static func state(payload: String) -> UploadState {
        UploadState(kind: kind, canAsk: true, payload: payload)
    }

    static func state(earlier text: String) -> UploadState? {
        UploadState.payload(of: text, after: "accepted:").map { state(payload: $0) }
    }

    private static func read(_ state: UploadState) -> (began: Int64, asked: Int)? {
        guard isState(state) else { return nil }
        let parts = state.payload.split(separator: ":")
        guard parts.count == 2, let began = Int64(parts[0]), let asked = Int(parts[1]) else { return nil }
        return (began, asked)
    }
}
