import TransferCore

// The answers that are to be the file, or the rest of it.
extension ExchangeMachine {
    mutating func represented(_ hop: Hop, _ head: ResponseHead, now: Int64) -> HeadAction {
        // The request's own URL may still lead to a file that the place of the bytes refuses permanently.
        if head.status >= 400, head.status != 416, !StatusRule.mayPass(head.status), mayGoBack(from: hop) {
            return turnBack(hop)
        }
        if let rule = resumption.rule(hop), let point = resumption.point,
            let verdict = rule.judge(head, to: resumption.question)
        {
            return follow(verdict, point, hop, head, now: now)
        }
        switch head.status {
        case let status where StatusRule.isWhole(status): return deliverWhole(hop, head)
        // The request was carried out: its answer is what was asked for, and sending it again would repeat it.
        case let status where StatusRule.isDone(status, method: hop.method): return deliverWhole(hop, head)
        // A caching proxy may answer the whole file with 206 without a requested range.
        case 206 where isAll(head): return deliverWhole(hop, head)
        case 206:
            // A part was not requested: not even its place in the file is reliable.
            return fail(hop, TransferError(.badResponse, "206 Partial Content for a request without a range"))
        default: return refused(hop, StatusRule.error(head, now: now))
        }
    }

    /// Returns whether a part is the whole file by its Content-Range: `bytes 0-(n-1)/n`.
    private func isAll(_ head: ResponseHead) -> Bool {
        let fields = head.fields.filter { $0.isNamed("Content-Range") }
        guard fields.count == 1, let range = ContentRange(fields[0].value), let bytes = range.range,
            bytes.lowerBound == 0, bytes.upperBound == range.total
        else { return false }
        return head.contentLength.map { $0 == bytes.upperBound } ?? true
    }

    /// Delivers an answer that is the whole file, unless a complete file that it would replace forbids that.
    private mutating func deliverWhole(_ hop: Hop, _ head: ResponseHead) -> HeadAction {
        if let refusal = replacementRefusal(hop, head) { return fail(hop, refusal) }
        return deliver(hop, head)
    }

    private func replacementRefusal(_ hop: Hop, _ head: ResponseHead) -> TransferError? {
        guard let file = request.replaced else { return nil }
        let isSamePlace = file.version?.isOf(hop.url, own: request.url) ?? false
        return ReplacementRule.refusal(
            of: head, for: file, isSamePlace: isSamePlace, decodes: request.settings.decodesFiles, headers: hop.headers
        ).map { ReplacementRule.error($0) }
    }

    /// Ends a hop that failed. A permanent refusal may come from a URL that no longer leads to its file.
    ///
    /// An example is an expired signature (400 with Google's and Amazon's storage). The request's own URL may lead to
    /// the file.
    mutating func refused(_ hop: Hop, _ error: TransferError) -> HeadAction {
        guard !error.isTransient, mayGoBack(from: hop) else { return fail(hop, error) }
        return turnBack(hop)
    }

    private mutating func turnBack(_ hop: Hop) -> HeadAction {
        state = .dropping(hop, .perform(goBack()))
        return .drop
    }

    private mutating func follow(
        _ verdict: ResumeRule.Verdict, _ point: ResumePoint, _ hop: Hop, _ head: ResponseHead, now: Int64
    ) -> HeadAction {
        // A new beginning is of the file that the request's own URL names. That need not be the file at the current
        // place.
        if verdict.beginsAnew, mayGoBack(from: hop) { return turnBack(hop) }
        if point.isPart {
            switch verdict {
            case .append(let overlap, _) where overlap == point.overlap && head.status == 206: break
            case .ask(.rest, _): break
            default: return fail(hop, Self.noPart(verdict, head))
            }
        }
        switch verdict {
        case .append(let overlap, let total):
            return deliver(
                hop,
                BodyStart(
                    head: head, offset: point.offset - overlap, total: total, url: hop.reference, overlap: overlap,
                    isContinuable: true, takesCredentials: hop.sendsCredentials))
        case .anew(let reason):
            if let refusal = replacementRefusal(hop, head) { return fail(hop, refusal) }
            let restart = resumption.restart ?? reason
            resumption.giveUp()
            return deliver(
                hop,
                BodyStart(
                    head: head, offset: 0, total: total(head), url: hop.reference,
                    isContinuable: !takesCodingOff(head), restart: restart,
                    setsAside: point.outlastsOddAnswers
                        && (point.validator?.ifRange != nil || point.needsNoValidator),
                    takesCredentials: hop.sendsCredentials))
        case .complete:
            state = .dropping(hop, .complete(head))
            return .drop
        case .refuse(let claim, let reason):
            // The place may redirect to a login page, for example.
            if resumption.hasLeftPlace(hop), mayGoBack(from: hop) { return turnBack(hop) }
            resumption.refuse(claim)
            return fail(hop, TransferError(.badResponse, reason, isTransient: true))
        case .fail(let claim):
            resumption.refuse(claim)
            return refused(hop, StatusRule.error(head, now: now))
        case .ask(let question, let restart):
            guard resumption.ask(question, restart: restart) else {
                return fail(hop, Self.noFurther(restart))
            }
            state = .dropping(hop, .perform(resumption.asking(hop)))
            return .drop
        }
    }

    private mutating func fail(_ hop: Hop, _ error: TransferError) -> HeadAction {
        state = .dropping(hop, .fail(error))
        return .drop
    }

    /// Returns the error of an answer that is no part of this version of the file: no byte of it is written.
    private static func noPart(_ verdict: ResumeRule.Verdict, _ head: ResponseHead) -> TransferError {
        let reason: String =
            switch verdict {
            case .anew(let reason), .refuse(_, let reason): reason
            case .ask(_, let restart): restart ?? "the server does not take the condition of a part"
            case .append, .complete, .fail: "\(head.status) came in the place of a part of the file"
            }
        return TransferError(.badResponse, reason, isTransient: true)
    }

    /// Handles the end of a body that libcurl takes for complete.
    mutating func delivered(
        _ hop: Hop, _ start: BodyStart, position: Int64, isFramed: Bool, closure: ConnectionClosure
    ) -> EndAction {
        if case .representation = request.intent, let end = resumption.point?.end, position == end {
            state = .ended
            return .succeed(start.head)
        }
        if let file = request.replaced, start.continued == 0,
            let reason = ReplacementRule.refusal(ofBytes: position, start.head, for: file)
        {
            state = .ended
            return .fail(ReplacementRule.error(reason))
        }
        guard case .representation = request.intent, let total = start.total, position != total else {
            if case .representation = request.intent,
                !isProven(start, position: position, isFramed: isFramed),
                let action = confirm(hop, start, position: position, closure)
            {
                return action
            }
            state = .ended
            let isCut = isRefuted(start, by: closure, of: hop, position: position, isFramed: isFramed)
            return isCut ? .fail(.answerWithoutAlert) : .succeed(start.head)
        }
        let failure: TransferError
        if position > total {
            failure = TransferError(
                .badResponse, "the server sent \(CountText.bytes(position)) of a file of \(total)", isTransient: true)
        } else if position <= start.continued {
            failure = TransferError(
                .connectionLost, "the answer ended \(CountText.bytes(total - position)) early", isTransient: true)
        } else if !resumption.goOn(from: position, after: start, of: hop) {
            failure = Self.noFurther(nil)
        } else {
            // A server may answer with less than requested (RFC 9110 §15.3.7): the rest is requested next.
            return perform(resumption.asking(hop))
        }
        state = .ended
        return .fail(failure)
    }

    /// Returns whether the body ended only with its connection, without TLS's closing alert, and this refutes the
    /// answer (``OpenEnd/takenIfAlerted``).
    private func isRefuted(
        _ start: BodyStart, by closure: ConnectionClosure, of hop: Hop, position: Int64, isFramed: Bool
    ) -> Bool {
        guard request.settings.openEnd == .takenIfAlerted, closure == .cut, start.head.contentLength == nil else {
            return false
        }
        // Answers that have no body (RFC 9112 §6.3).
        guard hop.method != "HEAD", start.head.status != 204, start.head.status != 304 else { return false }
        return !isProven(start, position: position, isFramed: isFramed)
    }

    /// Returns whether the whole body came, by its framing or its coding: a coded stream marks its own end.
    private func isProven(_ start: BodyStart, position: Int64, isFramed: Bool) -> Bool {
        guard takesCodingOff(start.head) else {
            return LengthRule.isProven(start.head, total: start.total, isFramed: isFramed)
        }
        return position > 0
            || LengthRule.isProven(start.head, total: start.head.contentLength, isFramed: isFramed)
    }

    private static func noFurther(_ reason: String?) -> TransferError {
        TransferError(
            .badResponse, "the server's answers bring the file no further\(reason.map { ": \($0)" } ?? "")",
            isTransient: true)
    }

    // MARK: The way back

    /// Returns whether the request's own URL is asked after a refusal, or silence, of the place that the hop asked.
    func mayGoBack(from hop: Hop) -> Bool {
        guard case .representation = request.intent else { return false }
        return resumption.mayGoBack(from: hop)
    }
}
