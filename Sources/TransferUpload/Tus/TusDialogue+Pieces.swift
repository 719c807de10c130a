import TransferCore

/// The steps of one piece: its creation, its query, and its chunks.
extension TusDialogue {
    mutating func create(_ index: Int) -> [UploadAction] {
        let piece = pieces[index]
        var fields = [HeaderField("Upload-Length", "\(piece.length)")]
        if pieces.count > 1 { fields.append(HeaderField("Upload-Concat", "partial")) }
        fields.append(HeaderField("Upload-Metadata", TusFields.metadata(options.metadata, of: source)))
        var body: Range<Int64>?
        // Upload-Checksum is for PATCH only.
        if options.createsWithBody, checksum == nil, piece.length > 0,
            features?.extensions.contains("creation-with-upload") == true
        {
            body = piece.chunk(of: chunkLimit)
            fields.append(HeaderField("Content-Type", TusFields.bodyType))
        }
        let request = request("POST", url, fields, body: body.map { .source(piece.inSource($0)) } ?? .none)
        pieces[index].phase = .creating(request: request.id, body: body)
        guard pieces.count == 1, (body?.upperBound ?? 0) == source.size else { return [.send(request)] }
        mayBeFinished = true
        return [save(), .send(request)]
    }

    mutating func ask(_ index: Int) -> [UploadAction] {
        let request = request("HEAD", pieces[index].url ?? url)
        pieces[index].phase = .asking(request: request.id)
        return [.send(request)]
    }

    mutating func pieceAnswered(
        _ index: Int, _ answer: UploadAnswer, now: Int64
    ) throws(TransferError) -> [UploadAction] {
        let phase = pieces[index].phase
        pieces[index].phase = .waiting
        if let date = answer.head.value("Upload-Expires").flatMap({ HTTPDate.parse($0, now: now) }) {
            pieces[index].expires = date
        }
        switch phase {
        case .creating(_, let body): return try created(index, answer, body: body, now: now)
        case .asking: return try reported(index, answer, now: now)
        case .sending(_, let chunk): return try sent(index, answer, chunk, now: now)
        case .waiting, .digesting, .complete: return []
        }
    }

    mutating func digested(_ id: Int, _ digest: Checksum) throws(TransferError) -> [UploadAction] {
        guard let index = pieces.firstIndex(where: { $0.phase.digest == id }),
            case .digesting(_, let chunk) = pieces[index].phase
        else { return [] }
        guard digest.algorithm == checksum else {
            throw TransferError(.internalFault, "a digest by \(digest.algorithm.rawValue) that was not requested")
        }
        return send(index, chunk, digest)
    }

    private mutating func created(
        _ index: Int, _ answer: UploadAnswer, body: Range<Int64>?, now: Int64
    ) throws(TransferError) -> [UploadAction] {
        let status = answer.head.status
        guard (200..<300).contains(status) else {
            if status == 413 {
                guard let body, shrink(from: body.count64, answer.head) else { return try refusedSize(answer) }
                return create(index)
            }
            throw refusal(answer.head, now: now)
        }
        pieces[index].wasCreated(at: try location(answer))
        mayBeFinished = false
        // The chunk that follows at once is recorded together with the URL.
        isEnding = body == nil && endsWith(pieces[index].chunk(of: chunkLimit), of: index)
        // The URL is saved before the first byte, so that no later attempt must begin again.
        let saved = save()
        let sweeps = sweepReplaced()
        guard let body else { return [saved] + sweeps + proceed(index, status, answer.head) }
        // An offset that is missing or impossible is asked for.
        guard let offset = answer.head.singleValue("Upload-Offset").flatMap(TusFields.count), offset <= body.upperBound
        else {
            return [saved] + sweeps + ask(index)
        }
        return try [saved] + sweeps + advance(index, to: offset) + proceed(index, status, answer.head)
    }

    private mutating func reported(
        _ index: Int, _ answer: UploadAnswer, now: Int64
    ) throws(TransferError) -> [UploadAction] {
        let status = answer.head.status
        let error = refusal(answer.head, now: now)
        let offset: Int64
        switch ReportedOffset(
            status: status, offset: answer.head.singleValue("Upload-Offset").flatMap(TusFields.count),
            isPassing: error.isTransient)
        {
        case .unknown: throw error
        case .gone: return try lost(index, answer.head, now: now)
        // A server may answer 403 for a missing upload and for an existing one (tus 1.0.0, "HEAD").
        case .refused: return try replace(index, answer.head)
        case .known(let reported): offset = reported
        }
        isEnding = false
        let length = pieces[index].length
        if let reported = try TusFields.length(answer.head), reported != length {
            return try lost(index, "the server's upload has \(CountText.bytes(reported)) in all, not \(length)")
        }
        if offset > length { return try lost(index, "the server has \(CountText.bytes(offset)) of \(length)") }
        return try advance(index, to: offset) + proceed(index, status, answer.head)
    }

    private mutating func sent(
        _ index: Int, _ answer: UploadAnswer, _ chunk: Range<Int64>, now: Int64
    ) throws(TransferError) -> [UploadAction] {
        switch answer.head.status {
        case 200..<300: break
        case 404, 410:
            if answer.sent < chunk.count64 { isEnding = false }
            return try lost(index, answer.head, now: now)
        case 409:
            guard pieces[index].conflicted(), detours.take() else {
                throw TusFailure.passing(
                    "409 Conflict: the server's offset is not the one that it has just reported; another client may write to the "
                        + "same upload")
            }
            return ask(index)
        case 413:
            isEnding = false
            guard shrink(from: chunk.count64, answer.head) else { return try refusedSize(answer) }
            // The server may have taken some of the bytes all the same.
            return [save()] + ask(index)
        case 460:
            guard pieces[index].mismatched() else {
                throw TransferError(
                    .checksumMismatch,
                    "what arrives at the server is not what was sent (460 Checksum Mismatch), again and again",
                    cause: .http(status: 460))
            }
            guard detours.take() else {
                throw TusFailure.passing("too much of what is sent arrives damaged (460 Checksum Mismatch)")
            }
            return ask(index)
        default: throw refusal(answer.head, now: now)
        }
        let offset = try TusFields.offset(answer.head, of: "PATCH")
        guard offset <= chunk.upperBound else {
            throw TransferError(
                .badResponse, "the server says that it has \(CountText.bytes(offset)); it was sent \(chunk.upperBound)")
        }
        if offset == chunk.lowerBound, !pieces[index].stalled() {
            throw TusFailure.passing("the server accepts what it is sent, but keeps none of it")
        }
        let advanced = try advance(index, to: offset)
        // Each repetition would send nearly the same bytes.
        if Detours.isSmall(offset - chunk.lowerBound, of: chunk.upperBound - chunk.lowerBound), !detours.takeBody() {
            return advanced + fail(TusFailure.passing("the server keeps too little of what it is sent"))
        }
        return advanced + proceed(index, answer.head.status, answer.head)
    }

    private mutating func advance(_ index: Int, to offset: Int64) throws(TransferError) -> [UploadAction] {
        guard pieces[index].advance(to: offset) else {
            throw TusFailure.passing(
                "the server loses again and again what it had (it has "
                    + "\(CountText.bytes(offset)) now)")
        }
        return confirmed()
    }

    /// Reports the confirmed bytes. Before every created piece was queried, the sum would be too small.
    private func confirmed() -> [UploadAction] {
        pieces.allSatisfy { $0.isKnown || $0.url == nil } ? [.confirmed(pieces.reduce(0) { $0 + $1.offset })] : []
    }

    /// Continues a piece whose offset is known.
    private mutating func proceed(_ index: Int, _ status: Int, _ head: ResponseHead) -> [UploadAction] {
        let piece = pieces[index]
        guard piece.offset == piece.length else {
            let chunk = piece.chunk(of: chunkLimit)
            guard let checksum else { return send(index, chunk, nil) }
            let id = nextID()
            pieces[index].phase = .digesting(id: id, chunk)
            return [.digest(id: id, checksum, piece.inSource(chunk))]
        }
        pieces[index].phase = .complete
        guard pieces.allSatisfy({ $0.phase == .complete }) else { return createMore() }
        if pieces.count > 1 { return join() }
        return finish(UploadResult(url: piece.url ?? url, status: status, validator: head.value("ETag")))
    }

    private mutating func send(_ index: Int, _ chunk: Range<Int64>, _ digest: Checksum?) -> [UploadAction] {
        var fields = [
            HeaderField("Content-Type", TusFields.bodyType), HeaderField("Upload-Offset", "\(chunk.lowerBound)"),
        ]
        if let digest { fields.append(HeaderField("Upload-Checksum", TusFields.checksum(digest))) }
        let request = request(
            "PATCH", pieces[index].url ?? url, fields, body: .source(pieces[index].inSource(chunk)))
        pieces[index].phase = .sending(request: request.id, chunk)
        let isLast = endsWith(chunk, of: index)
        guard isLast != isEnding else { return [.send(request)] }
        isEnding = isLast
        return [save(), .send(request)]
    }

    /// Returns whether a chunk ends the upload; the chunks of parts that are joined do not.
    private func endsWith(_ chunk: Range<Int64>, of index: Int) -> Bool {
        pieces.count == 1 && chunk.upperBound == pieces[index].length
    }

    // MARK: Sizes

    /// The most bytes of one request. A chunk with a checksum is lost when it is interrupted.
    private var chunkLimit: Int64? {
        [options.chunkSize ?? (checksum == nil ? nil : 64 << 20), cap].compactMap { $0 }.min()
    }

    /// Handles 413 to a request with a part of the file: a proxy limits the bytes of one request.
    ///
    /// - Returns: Whether less can be sent.
    private mutating func shrink(from length: Int64, _ head: ResponseHead) -> Bool {
        if let most = TusFeatures(head).maxSize ?? features?.maxSize, most < source.size { return false }
        guard let next = Self.caps.first(where: { $0 < length }) else { return false }
        cap = next
        return true
    }

    /// The limits to try: those that proxies have (Cloudflare's 100 MB, nginx's 1 MiB), and others.
    private static let caps: [Int64] = [
        1 << 30, 256 << 20, 64 << 20, 16 << 20, 4 << 20, 1 << 20, 256 << 10, 64 << 10,
    ]

    private mutating func lost(
        _ index: Int, _ head: ResponseHead, now: Int64
    ) throws(TransferError) -> [UploadAction] {
        var reason = "the server no longer has the upload (\(head.status) \(StatusRule.reason(head.status)))"
        if let expires = pieces[index].expires, expires <= now {
            reason += "; it expired on \(HTTPDate.format(expires))"
            isEnding = false
        }
        return try lost(index, reason, or: TusFailure.refusal(head, now: now))
    }

    /// Creates a piece anew whose state the server does not report. The former upload stays until that is recorded.
    private mutating func replace(_ index: Int, _ head: ResponseHead) throws(TransferError) -> [UploadAction] {
        if let url = pieces[index].url { sweep.add(url) }
        let success = (200..<300).contains(head.status)
        let why =
            success ? "Upload-Offset is missing, or no number" : "\(head.status) \(StatusRule.reason(head.status))"
        let reason = "the server does not report what it has of the upload (\(why))"
        return try lost(index, reason, or: TusFailure.passing(reason))
    }

    private mutating func lost(
        _ index: Int, _ reason: String, or failure: TransferError? = nil
    ) throws(TransferError) -> [UploadAction] {
        if isEnding {
            isEnding = false
            throw TusFailure.goneAtItsEnd(reason)
        }
        guard pieces[index].wasLost() else { throw failure ?? TransferError(.badResponse, reason) }
        // A server that has lost all of its uploads has lost each part once.
        guard pieces[index].losses == 1 || detours.take() else { throw TusFailure.passing(reason) }
        // The other parts of a file stay unchanged.
        return (pieces.count == 1 ? [.restart(reason)] : confirmed()) + create(index)
    }
}
