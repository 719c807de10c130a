import TransferCore

// The request that begins the upload ("Upload Creation").
extension ResumableDialogue {
    /// The bytes after which a missing offer of resumption is final: a server makes the offer when it gets the
    /// request's head.
    static let offerIsDue: Int64 = 1 << 20
    /// The least bytes of one request: a server that refuses them will not accept more in another.
    static let smallestCap: Int64 = 4096

    mutating func create() -> [UploadAction] {
        state.length = source.size
        creationBegan = clock
        let isWhole = sendsWhole
        var headers = [
            HeaderField("Upload-Complete", isWhole ? "?1" : "?0"),
            HeaderField("Upload-Length", String(source.size)),
        ]
        headers += options.headers
        // A plain request is not changed otherwise, and a PUT has the name in its URL.
        if !isWhole, options.method != "PUT", options.headers.value("Content-Disposition") == nil {
            headers.append(HeaderField("Content-Disposition", Self.disposition(source.name)))
        }
        if let field = source.digest.flatMap({ ReprDigest.field($0) }) { headers.append(field) }
        if options.wantsDigest { headers.append(HeaderField("Want-Repr-Digest", "sha-256=10")) }
        let request = request(
            options.method, options.url, headers, body: isWhole ? .source(0..<source.size) : .bytes([]),
            ownersFields: .all)
        return send(request, .creating(request: request.id, isWhole: isWhole, location: nil))
    }

    /// Handles a 104 ("Status Code 104"): the location of the upload, its offset, or both.
    mutating func supported(_ head: ResponseHead, from base: String, now: Int64) -> [UploadAction] {
        let fields = ResumableFields(head, version: version)
        guard fields.version == version.number else { return [] }
        var confirmed: [UploadAction] = []
        if let offset = fields.offset, offset <= source.size { confirmed = [.confirmed(offset)] }
        guard case .creating(let request, let isWhole, let known) = phase else {
            guard case .appending(_, let range, _) = phase, let offset = fields.offset,
                (range.lowerBound...range.upperBound).contains(offset)
            else { return [] }
            return confirmed
        }
        guard let reference = fields.location else { return known == nil ? [] : confirmed }
        guard let url = UploadLocation.url(reference, from: base) else { return [] }
        if let known, known != url { return [.stop(request: request)] + ambiguous() }

        state.url = url
        hear(version)
        if isWhole { noteEnding(true) }
        learn(fields, now: now)
        phase = .creating(request: request, isWhole: isWhole, location: url)
        if let refusal { return [.stop(request: request)] + save() + discard(then: .fail(refusal)) }
        // Known limits bind the client, also in the middle of a request.
        if isWhole, let most = limits.maxAppendSize, most < source.size {
            mayBeComplete = true
            // The whole is not sent in one request again either, if the server loses its bytes.
            sendsWhole = false
            state.cap = max(1, most)
            return [.stop(request: request)] + ask(.offset)
        }
        return save() + confirmed
    }

    mutating func created(
        _ answer: UploadAnswer, _ fields: ResumableFields, isWhole: Bool, location: String?, now: Int64
    ) -> [UploadAction] {
        if answer.isSuccess {
            return isWhole && fields.isComplete != false
                ? finish(answer)
                : begun(answer, fields, isWhole: isWhole, location: location, now: now)
        }
        if fields.isComplete == true, version.marksFinalAnswers { return refused(answer, now: now) }
        if turn(to: fields.version) { return create() }
        learn(fields, now: now)
        if let refusal { return fail(refusal) }
        if answer.head.status == 413, isWhole, let next = split(fields, location: location) { return next }
        guard location == nil else {
            if isWhole { noteError(answer, length: source.size) }
            return fail(statusError(answer, now: now))
        }
        if !isWhole, let least = limits.minSize, least > source.size {
            // The source is too small to be resumable, but not too small to be accepted.
            sendsWhole = true
            return create()
        }
        if !isWhole, fields.version != version.number, Self.mayBeOfVersion(answer.head.status) {
            return misunderstood(answer, fields, now: now)
        }
        guard isWhole else { return fail(statusError(answer, now: now)) }
        let error = plainError(answer, now: now)
        return unanswered(error, sent: answer.sent) ?? fail(error)
    }

    /// Ends an attempt whose request with the whole content may have been applied, and that has no upload to ask about.
    ///
    /// - Returns: `nil` where the content cannot have arrived whole.
    private mutating func unanswered(_ error: TransferError, sent: Int64) -> [UploadAction]? {
        guard DeliveryRule.isWorthAsking(error, sent: sent, of: source.size) else { return nil }
        guard options.isIdempotent else {
            guard DeliveryRule.mayHaveArrived(error, sent: sent, of: source.size) else { return nil }
            return fail(
                TransferError(
                    .mayHaveBeenSent,
                    "\(error.message); \(options.method) is not repeated, because it may have arrived; "
                        + "\(CommandPhrases.retry) sends it again",
                    cause: error.status == nil ? error.cause : nil))
        }
        guard options.mode == .upgrade, options.method == "PUT" else { return nil }
        // The server made no offer, so this was an ordinary PUT, and all bytes may have arrived.
        phase = .ended
        let words = DeliveryRule.worded(error, sent: sent, of: source.size)
        return [.save(ConfirmingPut.state(began: creationBegan)), .fail(words)]
    }

    /// Continues an upload that exists and is incomplete.
    private mutating func begun(
        _ answer: UploadAnswer, _ fields: ResumableFields, isWhole: Bool, location: String?, now: Int64
    ) -> [UploadAction] {
        let reported = fields.location.flatMap { UploadLocation.url($0, from: answer.url) }
        guard let url = reported ?? location else {
            guard isWhole else { return misunderstood(answer, fields, now: now) }
            return fail(
                TransferError(.badResponse, "the server says that the upload is not complete, but not where it is"))
        }
        // After a redirect the final answer determines the base of its Location.
        if let location, location != url, answer.url == options.url { return ambiguous() }
        if !isWhole, fields.isComplete == true {
            // The target itself has answered a request without content: only an empty source is complete then.
            return source.size == 0 ? finish(answer) : fail(Self.endedEarly(at: 0, of: source.size))
        }
        state.url = url
        learn(fields, now: now)
        if let refusal { return discard(then: .fail(refusal)) }
        // Every 201 may have a Location: without a mark of the protocol it may be that of an empty file.
        let isMarked =
            state.isVersionHeard == true || location != nil || fields.isComplete == false
            || fields.version == version.number
            || fields.offset != nil || fields.limits != nil
        guard isMarked else { return ask(.isUpload(answer)) }
        hear(version)
        if isWhole || (fields.offset ?? 0) != 0 { return ask(.offset) }
        return append(from: 0)
    }

    /// Handles a creation without a complete answer.
    mutating func notCreated(
        _ error: TransferError, sent: Int64, isWhole: Bool, location: String?
    ) -> [UploadAction] {
        guard isWhole else { return fail(error) }
        if location != nil {
            noteEnding(sent >= source.size)
            return fail(error)
        }
        if options.isIdempotent, let end = unanswered(error, sent: sent) { return end }
        if options.isIdempotent {
            // The server may have made an offer in another version.
            if state.isVersionHeard != true, sent >= Self.offerIsDue { tryOtherVersionNext() }
            return fail(error)
        }
        // Without content the head is the whole request; only a failure before the request excludes its arrival.
        let mayHaveArrived = sent > 0 || (source.size == 0 && !DeliveryRule.isBeforeRequest(error))
        guard mayHaveArrived, error.isTransient else { return fail(error) }
        return fail(
            TransferError(
                .mayHaveBeenSent,
                "\(error.message); \(options.method) is not repeated, because it may have arrived; "
                    + "\(CommandPhrases.retry) sends it again",
                cause: error.cause))
    }

    /// Handles an answer without a trace of the protocol: the next version is tried, or the upload fails.
    mutating func misunderstood(_ answer: UploadAnswer, _ fields: ResumableFields, now: Int64) -> [UploadAction] {
        state.forgetUpload()
        if turn(to: fields.version) { return create() }
        refusedVersions.insert(version.number)
        if let next = ResumableVersion.table.first(where: { !refusedVersions.contains($0.number) }) {
            state.version = next.number
            return create()
        }
        state.version = nil
        state.isVersionHeard = nil
        guard answer.isSuccess else { return fail(statusError(answer, now: now)) }
        return fail(
            TransferError(.badResponse, "the server knows none of the versions 8 and 6 of resumable uploads"))
    }

    /// Handles 413: sends less in one request, if the server supports continuing with the rest.
    private mutating func split(_ fields: ResumableFields, location: String?) -> [UploadAction]? {
        let knows = location != nil || fields.limits != nil || fields.isComplete == false
        guard knows || fields.version == version.number, shrink(from: source.size) else { return nil }
        if location != nil { return ask(.offset) }
        sendsWhole = false
        return create()
    }

    /// Halves the bytes of one request, or takes the server's limit; returns `false` when that would be too little.
    mutating func shrink(from length: Int64) -> Bool {
        let most = limits.maxAppendSize ?? length
        let cap = most < length ? most : length / 2
        guard cap >= max(limits.minAppendSize ?? 0, min(Self.smallestCap, most)), cap > 0 else { return false }
        state.cap = cap
        return true
    }

    /// Fails for two different Locations of one upload, by the draft's SHOULD.
    private mutating func ambiguous() -> [UploadAction] {
        let error = TransferError(.badResponse, "the server names two different URLs for one upload")
        return state.url == nil ? fail(error) : discard(then: .fail(error))
    }

    private mutating func tryOtherVersionNext() {
        let index = ResumableVersion.table.firstIndex(of: version) ?? 0
        state.version = ResumableVersion.table[(index + 1) % ResumableVersion.table.count].number
    }

    /// Returns whether a refusal may be about the version, and not about credentials, existence, size or load.
    private static func mayBeOfVersion(_ status: Int) -> Bool {
        if status == 501 { return true }
        let others: Set = [401, 402, 403, 404, 407, 408, 410, 413, 414, 421, 423, 425, 429, 431, 451]
        return (400..<500).contains(status) && !others.contains(status)
    }

    /// Returns a Content-Disposition (RFC 6266), with the disposition that the draft recommends.
    static func disposition(_ name: String) -> String {
        let plain = String(
            decoding: name.utf8.map { byte in
                (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                    ? byte : UInt8(ascii: "_")
            }, as: UTF8.self)
        let quoted = "inline; filename=\"\(plain)\""
        return plain == name ? quoted : quoted + "; filename*=UTF-8''\(PercentEncoding.encode(name))"
    }
}
