import TransferCore

// The ends of an upload: complete, refused by its target, gone, given up.
extension ResumableDialogue {
    /// Completes the upload.
    ///
    /// - Parameters:
    ///   - isFinal: Whether the answer is the target's own. That to HEAD is not, and only its digest is about the file.
    ///   - digest: The digest that the server gave in another answer.
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

    /// Cancels the uploads that the complete one replaced.
    mutating func sweep(_ uploads: [String], _ result: UploadResult) -> [UploadAction] {
        guard let url = uploads.first else {
            phase = .ended
            return [.finish(result)]
        }
        let request = request("DELETE", url)
        phase = .sweeping(request: request.id, Array(uploads.dropFirst()), result)
        return [.send(request)]
    }

    /// Asks for the target's own answer, which was lost and may have been an error.
    ///
    /// An append of nothing to the complete upload makes the server repeat it, if it can ("Upload Append", "Server
    /// Behavior").
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
        // The refusal is of the append itself, and no answer of the target's.
        guard UploadProblem(answer) == nil else { return finish(reported, isFinal: false) }
        if fields.isComplete == true {
            guard answer.isSuccess else { return refused(answer, now: now) }
            let digest = ReprDigest.value(reported.head, preferred: source.digest?.algorithm)
            return finish(answer, digest: digest)
        }
        let error = statusError(answer, now: now)
        // A server that cannot repeat the answer says so permanently, so that only its earlier statements about the
        // upload remain.
        return !answer.isSuccess && error.isTransient ? fail(error) : finish(reported, isFinal: false)
    }

    /// Fails with the target's own answer, which is no success. A question about the upload would only confirm its end.
    mutating func refused(_ answer: UploadAnswer, now: Int64) -> [UploadAction] {
        state.forgetUpload()
        return fail(plainError(answer, now: now))
    }

    /// Returns an error of the target.
    ///
    /// The effects of a method that is not idempotent are unknown after a failure, except where the status excludes
    /// them.
    func plainError(_ answer: UploadAnswer, now: Int64) -> TransferError {
        var error = statusError(answer, now: now)
        let status = answer.head.status
        if !options.isIdempotent, status >= 500, status != 503, !StatusRule.saysNothingWasDone(status) {
            error.isTransient = false
        }
        return error
    }

    /// Handles a lost upload, which cannot be continued and is no error either.
    mutating func lost(_ reason: String) -> [UploadAction] {
        guard mayBeComplete, !options.isIdempotent else { return restart(reason) }
        state.forgetUpload()
        return fail(
            TransferError(
                .mayHaveBeenSent,
                "\(reason); \(options.method) is not repeated, because all was sent and the answer was lost"))
    }

    /// Replaces an upload whose state the server does not report; it stays recorded until the new one exists.
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

    /// Carries out "Upload Cancellation" for an upload that cannot be continued.
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
        // The upload does not exist or cannot be removed: no work is left.
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
