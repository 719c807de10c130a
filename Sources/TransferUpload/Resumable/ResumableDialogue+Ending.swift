import TransferCore

// How an upload ends: complete, refused by its target, gone, given up.
extension ResumableDialogue {
    /// - Parameters:
    ///   - isFinal: Whether the answer is the target's own; that to HEAD isn't, and of what it says only the digest is
    ///     about the file.
    ///   - digest: What the server has said of it elsewhere.
    mutating func finish(_ answer: UploadAnswer, isFinal: Bool = true, digest: Checksum? = nil) -> [UploadAction] {
        phase = .ended
        var result = UploadResult(
            url: reportedTarget, status: answer.head.status,
            digest: ReprDigest.value(answer.head, preferred: source.digest?.algorithm) ?? digest)
        if isFinal {
            result.validator = answer.head.value("ETag")
            if !answer.body.isEmpty { result.response = String(decoding: answer.body, as: UTF8.self) }
            // RFC 9110 §10.2.2: what was created. Some servers put the upload's own URL there.
            if answer.head.status == 201, let location = answer.head.singleValue("Location"),
                let url = UploadLocation.url(location, from: answer.url), url != state.url
            {
                result.url = url
            }
        }
        return [.confirmed(source.size)] + sweep(state.replaced ?? [], result)
    }

    /// Cancels what the upload that is complete took the place of.
    mutating func sweep(_ uploads: [String], _ result: UploadResult) -> [UploadAction] {
        guard let url = uploads.first else {
            phase = .ended
            return [.finish(result)]
        }
        let request = request("DELETE", url)
        phase = .sweeping(request: request.id, Array(uploads.dropFirst()), result)
        return [.send(request)]
    }

    /// The target's own answer was lost, and may have been an error: an append of nothing to the complete upload has the
    /// server say it again, if it can ("Upload Append", "Server Behavior").
    mutating func hearAgain(_ reported: UploadAnswer) -> [UploadAction] {
        let asked = state.replaysAsked ?? 0
        guard let url = state.url, asked < Self.replayLimit else { return finish(reported, isFinal: false) }
        state.replaysAsked = asked + 1
        let request = request(
            "PATCH", url,
            [
                HeaderField("Upload-Offset", String(source.size)), HeaderField("Upload-Complete", "?1"),
                HeaderField("Content-Type", "application/partial-upload"),
            ], body: .bytes([]))
        return send(request, .hearingAgain(request: request.id, reported))
    }

    mutating func heardAgain(
        _ answer: UploadAnswer, _ fields: ResumableFields, _ reported: UploadAnswer, now: Int64
    ) -> [UploadAction] {
        // A refusal of the append itself, which is no answer of the target's.
        guard UploadProblem(answer) == nil else { return finish(reported, isFinal: false) }
        if fields.isComplete == true {
            guard answer.isSuccess else { return refused(answer, now: now) }
            let digest = ReprDigest.value(reported.head, preferred: source.digest?.algorithm)
            return finish(answer, digest: digest)
        }
        let error = statusError(answer, now: now)
        // A server that can't say it again says so for good, and its earlier words about the upload are all that there
        // is.
        return !answer.isSuccess && error.isTransient ? fail(error) : finish(reported, isFinal: false)
    }

    /// The target's own answer, which is no success. Asking about the upload would only say that it's over.
    mutating func refused(_ answer: UploadAnswer, now: Int64) -> [UploadAction] {
        state.forgetUpload()
        return fail(plainError(answer, now: now))
    }

    /// An error of the target. What a method that isn't idempotent had done before it failed isn't known, except where
    /// the status says that it had not begun.
    func plainError(_ answer: UploadAnswer, now: Int64) -> TransferError {
        var error = statusError(answer, now: now)
        let status = answer.head.status
        if !options.isIdempotent, status >= 500, status != 503, !StatusRule.saysNothingWasDone(status) {
            error.isTransient = false
        }
        return error
    }

    /// There is nothing to go on with, and no error either.
    mutating func lost(_ reason: String) -> [UploadAction] {
        guard mayBeComplete, !options.isIdempotent else { return restart(reason) }
        state.forgetUpload()
        return fail(
            TransferError(
                .mayHaveBeenSent,
                "\(reason); \(options.method) isn't repeated, because all was sent and the answer was lost"))
    }

    /// The server doesn't tell what it has of the upload: that stays written down until there is another one.
    mutating func replace(_ reason: String) -> [UploadAction] {
        if let url = state.url { state.replaced = Array(((state.replaced ?? []) + [url]).suffix(Self.replacedLimit)) }
        return lost(reason)
    }

    mutating func restart(_ reason: String) -> [UploadAction] {
        state.forgetUpload()
        mayBeComplete = false
        limits = UploadLimits()
        restarts += 1
        guard restarts <= Self.restartLimit else {
            return fail(TransferError(.badResponse, "\(reason), again and again", isTransient: true))
        }
        return [.restart(reason)] + create()
    }

    /// "Upload Cancellation", of an upload that can't be gone on with.
    mutating func discard(then afterwards: Afterwards) -> [UploadAction] {
        guard let url = state.url else { return discarded(afterwards) }
        let request = request("DELETE", url)
        return send(request, .discarding(request: request.id, afterwards))
    }

    mutating func discarded(_ afterwards: Afterwards) -> [UploadAction] {
        state.forgetUpload()
        switch afterwards {
        case .restart(let reason): return restart(reason)
        case .fail(let error): return fail(error)
        }
    }

    mutating func abandoned(_ answer: UploadAnswer, _ rest: [String], now: Int64) -> [UploadAction] {
        // Nothing there, or nothing that can be removed: there is nothing left to do.
        guard answer.isSuccess || [404, 405, 410, 501].contains(answer.head.status) else {
            phase = .ended
            return [.fail(statusError(answer, now: now))]
        }
        return abandonNext(rest, status: answer.head.status)
    }

    mutating func abandonNext(_ uploads: [String], status: Int) -> [UploadAction] {
        guard let url = uploads.last else {
            phase = .ended
            return [.finish(UploadResult(url: reportedTarget, status: status))]
        }
        let request = request("DELETE", url)
        phase = .abandoning(request: request.id, uploads.dropLast())
        return [.send(request)]
    }
}
