import TransferCore

/// The existing bytes of a file in one exchange, with the question about them and the resource that is asked.
struct Resumption {
    /// The facts about the existing bytes; `nil` while there are none, and after they were discarded.
    private(set) var point: ResumePoint?
    private(set) var question = ResumeQuestion.whole
    /// The reason to discard the bytes, if the next answer is the whole file.
    private(set) var restart: String?
    /// The claim of the answer that failed the attempt.
    private(set) var claim: String?
    private var detours = DetourCount()
    /// The request's own URL.
    private let ownURL: String
    /// Whether the current path began at the request's own URL in this exchange.
    ///
    /// A URL that was learnt earlier, or has given some of the file before, may have become invalid since.
    private var isFresh = true
    private let mayAskElsewhere: Bool
    /// Whether a file is requested; a message keeps its given fields.
    private let isOfFile: Bool
    private let isVerifiedByDigest: Bool
    private let isVouchedFor: Bool
    private let outlastsOddAnswers: Bool

    init(_ request: ExchangeRequest) {
        ownURL = request.url
        if case .representation(let point) = request.intent {
            // A server does not know offsets in a decoded file.
            self.point = request.settings.decodesFiles ? nil : point
            isOfFile = true
        } else {
            isOfFile = false
        }
        isVerifiedByDigest = point?.isVerifiedByDigest ?? false
        isVouchedFor = point?.isVouchedFor ?? false
        outlastsOddAnswers = point?.outlastsOddAnswers ?? false
        mayAskElsewhere = request.method == "GET" && request.body.isEmpty && request.settings.followsRedirects
    }

    /// Returns the first request, which goes to the place of the bytes where that is known.
    mutating func start(_ first: Hop) -> Hop {
        guard let point else { return asking(first) }
        (question, restart) = ResumeRule(point: point).firstQuestion
        guard question != .whole, mayAskElsewhere, let place = point.placeURL, place != ownURL else {
            return asking(first)
        }
        isFresh = false
        return asking(RedirectRule.crossing(first, to: place, takesCredentials: point.place?.takesCredentials ?? false))
    }

    /// Returns the hop with the fields that ask the question.
    func asking(_ hop: Hop) -> Hop {
        guard isOfFile else { return hop }
        var hop = hop
        let fields = point.map { question.fields($0) } ?? []
        hop.headers.removeAll { field in
            field.isNamed("Range") || field.isNamed("If-Range") || fields.contains { $0.isNamed(field.name) }
        }
        hop.headers += fields
        return hop
    }

    /// Returns the rule for an answer to the hop.
    func rule(_ hop: Hop) -> ResumeRule? {
        point.map { ResumeRule(point: $0, isSamePlace: isSamePlace($0, hop), headers: hop.headers) }
    }

    private func isSamePlace(_ point: ResumePoint, _ hop: Hop) -> Bool {
        guard let place = point.place else { return true }
        if hop.url == ownURL, place.url == Redaction.url(ownURL) { return true }
        return hop.url == point.placeURL || place.isResource(of: hop.url)
    }

    /// Returns whether the place of the bytes has redirected to another.
    func hasLeftPlace(_ hop: Hop) -> Bool { hop.url != point?.placeURL }

    // MARK: Answers

    /// Prepares another question.
    ///
    /// - Returns: `false` after too many questions.
    mutating func ask(_ next: ResumeQuestion, restart reason: String?) -> Bool {
        question = next
        restart = restart ?? reason
        return detours.take(at: point?.offset ?? 0)
    }

    mutating func refuse(_ claim: String) { self.claim = claim }

    /// Discards the bytes.
    mutating func giveUp() {
        point = nil
        detours.beginAnew()
    }

    /// Notes that the server's bytes differ from the existing ones.
    ///
    /// - Returns: Whether that is believed at once, so that the whole file may be requested.
    mutating func refute() -> Bool {
        guard !outlastsOddAnswers, point != nil, point?.doubt?.claim != ResumeClaim.otherBytes else { return false }
        point?.doubt = ResumeDoubt(claim: ResumeClaim.otherBytes, count: ResumeDoubt.confirmations)
        return ask(.whole, restart: ResumeClaim.otherBytesReason)
    }

    /// Continues after a part of the file came.
    ///
    /// - Returns: `false` after too many answers with too little progress.
    mutating func goOn(from position: Int64, after start: BodyStart, of hop: Hop) -> Bool {
        let wasPlain = question == .rest(isConditional: false)
        let earlier = point
        // The owner of the parts has others to fetch. It decides when a part without much progress is requested again.
        if let earlier, earlier.isPart, !ProgressRule.isProgress(position - earlier.offset) { return false }
        let place = AnsweredPlace(url: hop.url, takesCredentials: hop.sendsCredentials)
        let reported = Validator(start.head)
        // The same date may come without a Date beside it: it stays as strong as it was.
        let kept = earlier?.validator.flatMap { old in reported.map { old.isSame(as: $0) } == true ? old : nil }
        var next = ResumePoint(
            offset: position, validator: kept ?? reported ?? earlier?.validator, total: start.total,
            isVerifiedByDigest: isVerifiedByDigest, place: place, placeURL: hop.url,
            outlastsOddAnswers: outlastsOddAnswers)
        next.isVouchedFor = isVouchedFor && start.continued > 0
        if let earlier, start.continued > 0 || earlier.isPart {
            (next.end, next.isPart, next.namesEnd) = (earlier.end, earlier.isPart, earlier.namesEnd)
        }
        if earlier?.overlap ?? 0 > 0 { next.overlap = ResumePoint.overlap(of: hop.url, before: position) }
        next.contentCoding = start.head.contentCoding?.lowercased()
        next.mediaType = start.head.mediaType ?? earlier?.mediaType
        point = next
        isFresh = false
        (question, restart) = ResumeRule(point: next).firstQuestion
        // A server that did not support a condition before will not support it now.
        if wasPlain, next.validator?.ifRange != nil, let plain = question.unconditional { question = plain }
        return detours.take(at: position)
    }

    // MARK: The way back

    /// Returns whether a refusal by this place proves nothing about the request's own URL.
    func mayGoBack(from hop: Hop) -> Bool { !isFresh && hop.url != ownURL && detours.count < DetourCount.limit }

    /// Returns the hop that asks the request's own URL for the missing bytes.
    mutating func goBack(_ first: Hop) -> Hop {
        isFresh = true
        _ = detours.take(at: point?.offset ?? 0)
        return asking(first)
    }
}
