import TransferCore

extension S3Dialogue {
    mutating func answered(
        _ exchange: S3Exchange, _ answer: UploadAnswer, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        if let actions = try repeatInNamedRegion(exchange, answer, now) { return actions }
        switch exchange {
        case .put:
            guard answer.isSuccess else { throw S3Fault.error(answer, to: options.integrity, now: now) }
            guard StatusRule.isStored(answer.head.status, method: "PUT") else {
                let words = "\(answer.head.status) \(StatusRule.reason(answer.head.status))"
                throw TransferError(.badResponse, "the answer \(words) is none to PUT", isTransient: true)
            }
            // S3 answers by fields alone, one of them the ETag; a gateway's page is no receipt.
            if answer.head.mediaType == "text/html", answer.head.value("ETag") == nil {
                throw TransferError(
                    .badResponse, "a page of HTML came instead of the S3 server's answer", isTransient: true)
            }
            try compare(answer, etag: answer.head.value("ETag") ?? "", 0..<source.size)
            return end(.finish(result(answer)))
        case .create: return try created(answer, now)
        case .list(let marker): return try listed(answer, after: marker, now)
        case .part(let number, let digest): return try sentPart(number, digest, answer, now)
        case .complete: return try completed(answer, now)
        case .head(let question): return try foundObject(question, answer, now)
        case .fetch(let question): return try fetched(question, answer, now)
        case .stray(let stray): return try answered(stray, answer, now)
        case .abort(thenRestart: let reason?): return try restart(reason, now)
        case .abort(thenRestart: nil):
            guard answer.isSuccess || answer.head.status == 404 else { throw S3Fault.error(answer, now: now) }
            return end(.finish(UploadResult(url: location.url, status: answer.head.status)))
        }
    }

    mutating func failed(
        _ exchange: S3Exchange, _ error: TransferError, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        if case .part(let number, let digest) = exchange { return try failedPart(number, digest, error, now) }
        throw error
    }

    mutating func digested(
        _ purpose: S3DigestPurpose, _ checksum: Checksum, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        switch purpose {
        case .put: return [try send(.put(checksum), now)]
        case .part(let number):
            multipart?.ready.append(S3Multipart.Ready(number: number, digest: checksum))
            return try advance(now)
        case .bytes(let there, let question, let result):
            return try judged(question, isOurs: checksum == there, result, now)
        case .object(let expected, let question, let result):
            return try judgedByTag(question, isOurs: checksum == expected, result, now)
        }
    }

    private mutating func completed(_ answer: UploadAnswer, _ now: Int64) throws(TransferError) -> [UploadAction] {
        if S3Fault.isNoSuchUpload(answer) { return [try send(.head(.completed), now)] }
        if answer.isSuccess {
            switch S3Answers.completed(answer.body) {
            case .done(let etag, let digest):
                var result = result(answer)
                result.validator = etag ?? result.validator
                result.digest = digest
                return end(.finish(result))
            case .unclear:
                let error = TransferError(
                    .badResponse, "the server did not say whether it completed the upload", isTransient: true)
                return [try send(.head(.unclear(error)), now)]
            case .fault: break
            }
        }
        let code = S3Fault.code(answer)
        guard code == "InvalidPart" || code == "InvalidPartOrder", var upload = multipart,
            let parts = S3Parts(size: upload.parts.size, partSize: upload.parts.partSize)
        else { throw S3Fault.error(answer, now: now) }
        guard !upload.isListedAgain else {
            return [try send(.abort(thenRestart: "the server does not take the parts that it says it has"), now)]
        }
        // The server has lost some parts: its list is requested again, and only the missing parts are sent.
        upload.parts = parts
        upload.isListedAgain = true
        multipart = upload
        // All parts may be missing: an attempt sends them once more, and not twice.
        hasRestarted = true
        return [try send(.list(after: 0), now)]
    }

    /// Decides whether an existing object is the one of this upload.
    private mutating func foundObject(
        _ question: S3Question, _ answer: UploadAnswer, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        let result = result(answer)
        guard answer.isSuccess else {
            let error = S3Fault.error(answer, now: now)
            // The object is missing, or the question is forbidden (403 without the right to list): the file is then
            // sent.
            guard (400...499).contains(answer.head.status) || answer.head.status == 501, !error.isTransient else {
                throw error
            }
            return try judged(question, isOurs: false, result, now)
        }
        guard answer.head.contentLength == source.size, question != .put || hasOwnersFields(answer.head) else {
            return try judged(question, isOurs: false, result, now)
        }
        let tag = S3Answers.unquoted(result.validator ?? "")
        let checksum = answer.head.value("x-amz-checksum-sha256")
        if question != .put, let completion = multipart?.completion {
            let isOurs = completion.etag == tag || (checksum != nil && checksum == completion.checksum)
            if isOurs { return try judged(question, isOurs: true, result, now) }
        }
        // Servers that join the parts to an ordinary object give it an ordinary tag: the MD5 of the whole.
        guard let expected = S3Answers.digest(checksum) ?? Checksum(.md5, hex: tag) else {
            return try judgedByTag(question, isOurs: false, result, now)
        }
        if let known = try knownDigest(expected.algorithm) {
            return try judgedByTag(question, isOurs: known == expected, result, now)
        }
        return [digest(.object(expected, question, result), expected.algorithm, 0..<source.size)]
    }

    /// Handles an object of the right size whose tag differs from that of the source.
    ///
    /// Tags of objects encrypted by keys, and of joined parts, are no digests of the bytes. The bytes are compared
    /// where reading them costs less than sending the file again.
    private mutating func judgedByTag(
        _ question: S3Question, isOurs: Bool, _ result: UploadResult, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        guard !isOurs, source.size > 0, source.size <= RemoteCopy.comparedAtMost else {
            return try judged(question, isOurs: isOurs, result, now)
        }
        return [try send(.fetch(question), now)]
    }

    /// Decides by the object's bytes whether it is that of the source.
    private mutating func fetched(
        _ question: S3Question, _ answer: UploadAnswer, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        let result = result(answer)
        guard answer.isSuccess, let there = answer.digest else {
            let error = S3Fault.error(answer, now: now)
            if !answer.isSuccess, error.isTransient { throw error }
            return try judged(question, isOurs: false, result, now)
        }
        if let known = try knownDigest(there.algorithm) {
            return try judged(question, isOurs: known == there, result, now)
        }
        return [digest(.bytes(there, question, result), there.algorithm, 0..<source.size)]
    }

    private mutating func judged(
        _ question: S3Question, isOurs: Bool, _ result: UploadResult, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        if isOurs { return end(.finish(result)) }
        switch question {
        case .put:
            let isThere = (200..<300).contains(result.status)
            let found = isThere ? "what is there is not the file" : "the server does not have it (\(result.status))"
            return [.restart("an earlier attempt may have sent it, and \(found)")] + (try start(now, isSaved: true))
        case .unlisted(let reason): return try sendAll(reason, now)
        case .completed:
            return try restart("the server no longer has the upload, and \(Self.found(result.status))", now)
        case .unclear(let error): throw error
        }
    }

    /// Returns what the question about the object showed that a completed upload would have made.
    private static func found(_ status: Int) -> String {
        switch status {
        case 200..<300: "what is there is not known to be the file"
        case 404, 410: "it does not have the object that would have been made"
        // Without the right to list, S3 refuses the question for existing objects and missing ones alike.
        default: "it does not say whether it made the object (\(status)), which may therefore be there"
        }
    }

    /// Returns whether an object with the right bytes has the job's fields too: an older object of another origin may
    /// have the same bytes.
    private func hasOwnersFields(_ head: ResponseHead) -> Bool {
        let there = head.fields
        return S3OwnersFields(options.headers, for: .put(nil)).signed.allSatisfy { field in
            let name = field.name.lowercased()
            guard name.hasPrefix("x-amz-meta-") || name == "content-type" else { return true }
            // Some servers keep runs of spaces, which the signature does not have.
            return there.value(name).map(SignatureVersion4.canonicalValue)
                == SignatureVersion4.canonicalValue(field.value)
        }
    }

    /// Compares the tag of a body with the sent bytes.
    mutating func compare(_ answer: UploadAnswer, etag: String, _ range: Range<Int64>) throws(TransferError) {
        switch S3Answers.verdict(answer, etag: etag) {
        case nil: break
        case .success: tagged += range.upperBound - range.lowerBound
        case .failure(let error): throw error
        }
    }

    private func result(_ answer: UploadAnswer) -> UploadResult {
        var result = UploadResult(
            url: location.url, status: answer.head.status,
            validator: answer.head.value("ETag").map(S3Answers.quoted),
            digest: S3Answers.digest(answer.head.value("x-amz-checksum-sha256")),
            response: answer.body.isEmpty ? nil : String(decoding: answer.body, as: UTF8.self), region: namedRegion)
        result.isTagged = source.isStreamed && tagged == source.size
        return result
    }
}

/// The handling of an earlier attempt's upload that must end.
extension S3Dialogue {
    mutating func answered(
        _ stray: S3Stray, _ answer: UploadAnswer, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        guard answer.isSuccess else {
            let error = S3Fault.error(answer, now: now)
            guard error.isTransient else { return try goOn(without: stray, now) }
            if stray.isGivenUp { throw error }
            guard stray.tries + 1 < S3Stray.mostTries else { return try goOn(without: stray, now) }
            return [save(.creating(since: stray.since, tries: stray.tries + 1))] + end(.fail(error))
        }
        switch stray.step {
        case .list:
            let serverTime = answer.head.value("Date").flatMap { HTTPDate.parse($0, now: now) }
            guard let page = S3Answers.UploadsPage(answer.body),
                let id = stray.found(in: page, key: location.key, serverTime: serverTime, now: now)
            else { return try goOn(without: stray, now) }
            return [try send(.stray(stray.next(.parts(uploadID: id))), now)]
        case .parts(let id):
            guard let page = S3Answers.PartsPage(answer.body, after: 0), page.parts.isEmpty else {
                return try goOn(without: stray, now)
            }
            return [try send(.stray(stray.next(.abort(uploadID: id))), now)]
        case .abort: return try goOn(without: stray, now)
        }
    }

    private mutating func goOn(without stray: S3Stray, _ now: Int64) throws(TransferError) -> [UploadAction] {
        guard stray.isGivenUp else { return try start(now) }
        return end(.finish(UploadResult(url: location.url, status: 204)))
    }
}
