import TransferCore

/// The part of the upload that an event belongs to.
extension TusDialogue {
    mutating func answered(_ answer: UploadAnswer, now: Int64) throws(TransferError) -> [UploadAction] {
        switch phase {
        case .discovering(answer.request): return try discovered(answer, now: now)
        case .sizing(answer.request):
            throw TusFailure.tooLarge(source.size, limit: TusFeatures(answer.head).maxSize, status: 413)
        case .transferring:
            guard let index = pieces.firstIndex(where: { $0.phase.request == answer.request }) else { return [] }
            return try pieceAnswered(index, answer, now: now)
        case .joining(answer.request): return try joinAnswered(answer, now: now)
        case .confirming(answer.request): return try confirmAnswered(answer, now: now)
        case .abandoning(let requests, let failure) where requests.contains(answer.request):
            // 405 and 501: no termination is offered.
            let isDone = (200..<300).contains(answer.head.status) || [404, 405, 410, 501].contains(answer.head.status)
            return try abandoned(
                answer.request, requests, failure: failure ?? (isDone ? nil : TusFailure.refusal(answer.head, now: now))
            )
        case .ready, .discovering, .sizing, .joining, .confirming, .abandoning, .ended: return []
        }
    }

    mutating func failed(
        _ request: Int, _ error: TransferError, sent: Int64
    ) throws(TransferError) -> [UploadAction] {
        switch phase {
        case .discovering(request), .confirming(request): throw error
        case .sizing(request): throw TusFailure.tooLarge(source.size, limit: nil, status: 413)
        case .joining(request): throw unanswered(error, isSent: true)
        case .transferring:
            guard let index = pieces.firstIndex(where: { $0.phase.request == request }) else { return [] }
            let ended = pieces[index].phase
            pieces[index].phase = .waiting
            if case .sending(_, let chunk) = ended, isEnding,
                !DeliveryRule.mayHaveArrived(error, sent: sent, of: chunk.count64)
            {
                // Not all of it has left: what is gone then hasn't come to its end.
                isEnding = false
                return [save()] + fail(error)
            }
            guard case .creating(_, let body) = ended else { throw error }
            throw unanswered(error, isSent: sent >= (body?.upperBound ?? 0))
        case .abandoning(let requests, let failure) where requests.contains(request):
            return try abandoned(request, requests, failure: failure ?? error)
        case .ready, .discovering, .sizing, .joining, .confirming, .abandoning, .ended: return []
        }
    }

    /// 413: the size that would be taken stands in the answer to OPTIONS, if anywhere.
    mutating func refusedSize(_ answer: UploadAnswer) throws(TransferError) -> [UploadAction] {
        if let limit = TusFeatures(answer.head).maxSize ?? features?.maxSize {
            throw TusFailure.tooLarge(source.size, limit: limit, status: 413)
        }
        if features != nil { throw TusFailure.tooLarge(source.size, limit: nil, status: 413) }
        let stops = stopAll()
        let request = UploadRequest(id: nextID(), method: "OPTIONS", url: url)
        phase = .sizing(request: request.id)
        return stops + [.send(request)]
    }

    private mutating func discovered(_ answer: UploadAnswer, now: Int64) throws(TransferError) -> [UploadAction] {
        var reported = TusFeatures()
        if (200..<300).contains(answer.head.status) {
            reported = TusFeatures(answer.head)
        } else {
            // A server that refuses to say what it offers is asked for nothing beyond the core.
            let error = TusFailure.refusal(answer.head, now: now)
            if error.isTransient { throw error }
        }
        features = reported
        if !reported.versions.isEmpty, !reported.versions.contains(TusFields.version) {
            throw TusFailure.unsupported(reported.versions)
        }
        if let limit = reported.maxSize, limit < source.size {
            throw TusFailure.tooLarge(source.size, limit: limit, status: nil)
        }
        return createAll()
    }

    private mutating func abandoned(
        _ request: Int, _ requests: Set<Int>, failure: TransferError?
    ) throws(TransferError) -> [UploadAction] {
        let left = requests.subtracting([request])
        phase = .abandoning(requests: left, failure: failure)
        guard left.isEmpty else { return [] }
        if let failure { throw failure }
        return finish(UploadResult(url: url, status: 204))
    }

    /// The failure to report where a request that may have completed the upload was not answered.
    private func unanswered(_ error: TransferError, isSent: Bool) -> TransferError {
        mayBeFinished && isSent && !DeliveryRule.isBeforeRequest(error) ? TusFailure.mayBeFinished(url) : error
    }
}

extension Range<Int64> {
    /// Bytes.
    var count64: Int64 { upperBound - lowerBound }
}
