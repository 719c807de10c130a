import TransferCore

/// The bytes that one exchange has of a file, what it asked about them, and where.
struct Resumption {
    /// The bytes that are there; `nil` while there are none, and once they were given up.
    private(set) var point: ResumePoint?
    private(set) var question = ResumeQuestion.whole
    /// Why the bytes are given up, should the next answer be the whole file.
    private(set) var restart: String?
    /// The claim of the answer that failed the attempt.
    private(set) var claim: String?
    private var detours = DetourCount()
    /// The request's own URL.
    private let ownURL: String
    /// Whether the hops since the request's own URL was asked are of now: a URL that was learnt earlier, or has given some
    /// of the file before, may have lost its validity since.
    private var isFresh = true
    private let mayAskElsewhere: Bool
    /// Whether a file is wanted; a message has the fields that were given.
    private let isOfFile: Bool
    private let isVerifiedByDigest: Bool
    private let isVouchedFor: Bool
    private let outlastsOddAnswers: Bool

    init(_ request: ExchangeRequest) {
        ownURL = request.url
        if case .representation(let point) = request.intent {
            // Offsets in a file that is decoded are none that a server knows.
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

    /// The first request: to the place that the bytes are from, where that is known.
    mutating func start(_ first: Hop) -> Hop {
        guard let point else { return asking(first) }
        (question, restart) = ResumeRule(point: point).firstQuestion
        guard question != .whole, mayAskElsewhere, let place = point.placeURL, place != ownURL else {
            return asking(first)
        }
        isFresh = false
        return asking(RedirectRule.crossing(first, to: place, takesCredentials: point.place?.takesCredentials ?? false))
    }

    /// The hop with the fields that ask the question.
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

    /// The rule for an answer to the hop.
    func rule(_ hop: Hop) -> ResumeRule? {
        point.map { ResumeRule(point: $0, isSamePlace: isSamePlace($0, hop)) }
    }

    private func isSamePlace(_ point: ResumePoint, _ hop: Hop) -> Bool {
        guard let place = point.place else { return true }
        if hop.url == ownURL, place.url == Redaction.url(ownURL) { return true }
        return hop.url == point.placeURL || place.isResource(of: hop.url)
    }

    /// Whether the place that the bytes are from has led on to another.
    func hasLeftPlace(_ hop: Hop) -> Bool { hop.url != point?.placeURL }

    // MARK: Answers

    /// Another question follows.
    ///
    /// - Returns: `false` when that was too often.
    mutating func ask(_ next: ResumeQuestion, restart reason: String?) -> Bool {
        question = next
        restart = restart ?? reason
        return detours.take(at: point?.offset ?? 0)
    }

    mutating func refuse(_ claim: String) { self.claim = claim }

    /// The bytes are given up.
    mutating func giveUp() {
        point = nil
        detours.beginAnew()
    }

    /// The server's bytes are others than those that are there.
    ///
    /// - Returns: Whether that is believed at once, and the whole file may be asked for.
    mutating func refute() -> Bool {
        guard !outlastsOddAnswers, point != nil, point?.doubt?.claim != ResumeClaim.otherBytes else { return false }
        point?.doubt = ResumeDoubt(claim: ResumeClaim.otherBytes, count: ResumeDoubt.confirmations)
        return ask(.whole, restart: ResumeClaim.otherBytesReason)
    }

    /// Some of the file came, and there is more of it.
    ///
    /// - Returns: `false` when it was too little too often.
    mutating func goOn(from position: Int64, after start: BodyStart, of hop: Hop) -> Bool {
        let wasPlain = question == .rest(isConditional: false)
        let earlier = point
        // The owner of the parts has others to fetch. It decides when a part that brought so little is asked for again.
        if let earlier, earlier.isPart, !ProgressRule.isProgress(position - earlier.offset) { return false }
        let place = AnsweredPlace(url: hop.url, takesCredentials: hop.sendsCredentials)
        var next = ResumePoint(
            offset: position, validator: Validator(start.head) ?? earlier?.validator, total: start.total,
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
        // A server that took no condition won't take it now.
        if wasPlain, next.validator?.hasStrongETag == true, let plain = question.unconditional { question = plain }
        return detours.take(at: position)
    }

    // MARK: The way back

    /// Whether a refusal by this place says nothing of the request's own URL.
    func mayGoBack(from hop: Hop) -> Bool { !isFresh && hop.url != ownURL && detours.count < DetourCount.limit }

    /// The request's own URL is asked again, for what isn't there yet.
    mutating func goBack(_ first: Hop) -> Hop {
        isFresh = true
        _ = detours.take(at: point?.offset ?? 0)
        return asking(first)
    }
}
