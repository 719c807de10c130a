import TransferCore

// The steps "Offset Retrieval" and "Upload Append" of the draft.
extension ResumableDialogue {
    mutating func ask(_ question: Question) -> [UploadAction] {
        guard let url = state.url else { return create() }
        let request = request("HEAD", url)
        return send(request, .asking(request: request.id, question))
    }

    /// Handles the answer to HEAD.
    mutating func reported(
        _ answer: UploadAnswer, _ fields: ResumableFields, _ question: Question, now: Int64
    ) -> [UploadAction] {
        guard answer.isSuccess else { return notReported(answer, fields, question, now: now) }
        if case .isUpload(let creation) = question, fields.offset == nil, fields.isComplete == nil {
            return misunderstood(creation, fields, now: now)
        }
        learn(fields, now: now)
        hear(version)
        if let length = fields.length, length != source.size {
            let reason = "the server has an upload of \(CountText.bytes(length)), and the source has \(source.size)"
            return fields.isComplete == true ? lost(reason) : discard(then: .restart(reason))
        }
        if fields.isComplete == true {
            if let offset = fields.offset, offset != source.size {
                return lost("the server ended the upload at byte \(offset) of \(source.size)")
            }
            guard state.isRefused != true else {
                return lost("the server has all of the upload, and had answered it by an error")
            }
            switch question {
            case .isComplete(let final): return finish(final)
            case .isUpload: return finish(answer, isFinal: false)
            case .offset: return version.marksFinalAnswers ? hearAgain(answer) : finish(answer, isFinal: false)
            }
        }
        guard let offset = fields.offset else {
            let silence = "the server does not say how much it has"
            if case .offset = question { return replace(silence) }
            return fail(TransferError(.badResponse, silence, isTransient: true))
        }
        guard offset <= source.size else {
            return discard(then: .restart("the server has \(CountText.bytes(offset)) of a source of \(source.size)"))
        }
        mayBeComplete = false
        state.isRefused = nil
        if let refusal { return [.confirmed(offset)] + discard(then: .fail(refusal)) }
        // Only this attempt's own requests are known to have sent these bytes.
        if source.mayHaveChanged, restarts == 0, offset > 0 {
            return discard(then: .restart("the source may have changed since it began"))
        }
        return [.confirmed(offset)] + append(from: offset)
    }

    private mutating func notReported(
        _ answer: UploadAnswer, _ fields: ResumableFields, _ question: Question, now: Int64
    ) -> [UploadAction] {
        if turn(to: fields.version) { return ask(question) }
        let error = statusError(answer, now: now)
        let reported = ReportedOffset(status: answer.head.status, offset: nil, isPassing: error.isTransient)
        let isGone = reported == .gone
        switch question {
        // A success was the answer to the last bytes, and the server may clean up at once.
        case .isComplete(let final) where isGone: return finish(final)
        case .isUpload(let creation) where (400..<500).contains(answer.head.status):
            return misunderstood(creation, fields, now: now)
        case .offset where isGone: return lost("the server no longer has the upload")
        case .offset where reported == .refused:
            return replace("the server does not report what it has of the upload (\(error.message))")
        case .offset, .isUpload, .isComplete: return fail(error)
        }
    }

    /// Sends the rest from an offset, or as much of it as one request may carry.
    mutating func append(from offset: Int64) -> [UploadAction] {
        guard let url = state.url else { return create() }
        let rest = source.size - offset
        var length = min(rest, max(1, min(options.chunkSize ?? rest, limits.maxAppendSize ?? rest, state.cap ?? rest)))
        // The last part may be shorter than the minimum.
        if length < rest { length = min(rest, max(length, limits.minAppendSize ?? 0)) }
        if let most = limits.maxAppendSize, length > max(1, most) {
            return discard(
                then: .fail(TransferError(.badResponse, "the server's limits leave no size for the upload's parts")))
        }
        let range = offset..<offset + length
        let isLast = range.upperBound == source.size
        noteEnding(isLast)
        let request = request(
            "PATCH", url,
            [
                HeaderField("Upload-Offset", String(offset)),
                HeaderField("Upload-Complete", isLast ? "?1" : "?0"),
                HeaderField("Content-Type", "application/partial-upload"),
            ], body: range.isEmpty ? .bytes([]) : .source(range))
        return send(request, .appending(request: request.id, range, isLast: isLast))
    }

    mutating func appended(
        _ answer: UploadAnswer, _ fields: ResumableFields, _ range: Range<Int64>, isLast: Bool, now: Int64
    ) -> [UploadAction] {
        if answer.isSuccess {
            learn(fields, now: now)
            if isLast {
                if fields.isComplete == true { return finish(answer) }
                if fields.isComplete == nil {
                    guard version.marksFinalAnswers else { return finish(answer) }
                    return stalled(answer, now: now) ?? ask(.isComplete(answer))
                }
                return stalled(answer, now: now) ?? ask(.offset)
            }
            if fields.isComplete == true { return fail(Self.endedEarly(at: range.upperBound, of: source.size)) }
            let reached = fields.offset ?? range.upperBound
            guard reached <= source.size, reached > range.lowerBound else {
                return stalled(answer, now: now) ?? ask(.offset)
            }
            // Each repetition would send nearly the same bytes.
            if Detours.isSmall(reached - range.lowerBound, of: range.upperBound - range.lowerBound), !detours.takeBody()
            {
                return [.confirmed(reached)] + fail(Self.uncounted)
            }
            return [.confirmed(reached)] + append(from: reached)
        }
        if fields.isComplete == true, version.marksFinalAnswers { return refused(answer, now: now) }
        if isLast { noteError(answer, length: range.upperBound - range.lowerBound) }
        if turn(to: fields.version) { return ask(.offset) }
        learn(fields, now: now)
        switch answer.head.status {
        case 404, 410: return restart("the server no longer has the upload")
        case 409:
            if let stop = stalled(answer, now: now) { return stop }
            if let offset = fields.offset, offset <= source.size, offset != range.lowerBound,
                fields.isComplete != true
            {
                return [.confirmed(offset)] + append(from: offset)
            }
            return ask(.offset)
        case 413 where shrink(from: range.upperBound - range.lowerBound):
            guard detours.take() else { return fail(Self.refusedAgain) }
            return ask(.offset)
        default: break
        }
        switch UploadProblem(answer) {
        case .inconsistentLength:
            return discard(then: .restart("the server has the upload with another length"))
        case .completedUpload, .mismatchingOffset:
            return stalled(answer, now: now) ?? ask(.offset)
        case nil: return fail(statusError(answer, now: now))
        }
    }

    /// Counts a step without progress. Returns the end of the attempt after one step too many.
    private mutating func stalled(_ answer: UploadAnswer, now: Int64) -> [UploadAction]? {
        stalls += 1
        guard stalls > Self.stallLimit else { return nil }
        guard answer.isSuccess else { return fail(statusError(answer, now: now)) }
        return fail(Self.uncounted)
    }

    private static let uncounted = TransferError(
        .badResponse, "the server takes the upload's bytes and does not count them", isTransient: true)
    /// The error of repeated 413 answers; the next attempt begins with the limit that is known by then.
    private static let refusedAgain = TransferError(
        .badResponse, "the server wants less in one request, again and again (413)", isTransient: true)

    static func endedEarly(at offset: Int64, of size: Int64) -> TransferError {
        TransferError(.badResponse, "the server ended the upload after \(offset) of \(CountText.bytes(size))")
    }
}
