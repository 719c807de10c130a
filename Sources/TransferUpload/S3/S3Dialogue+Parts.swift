import TransferCore

extension S3Dialogue {
    mutating func created(_ answer: UploadAnswer, _ now: Int64) throws(TransferError) -> [UploadAction] {
        guard answer.isSuccess else { throw S3Fault.error(answer, now: now) }
        guard let uploadID = S3Answers.uploadID(answer.body) else {
            throw TransferError(.badResponse, "the server made an upload and did not say its ID", isTransient: true)
        }
        guard
            let partSize = S3Parts.partSize(
                source.size, options, isNear: (answer.roundTrip ?? .infinity) < S3Parts.near),
            var parts = S3Parts(size: source.size, partSize: partSize)
        else { throw Self.tooLarge(source.size) }
        parts.queueMissing()
        let multipart = S3Multipart(
            uploadID: uploadID, integrity: source.isStreamed ? .none : options.integrity, parts: parts)
        self.multipart = multipart
        return [save(multipart.stage)] + (try advance(now))
    }

    mutating func listed(
        _ answer: UploadAnswer, after marker: Int, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        if S3Fault.isNoSuchUpload(answer) {
            guard multipart?.completion == nil else { return [try send(.head(.completed), now)] }
            return try restart("the server no longer has the upload", now)
        }
        let error = S3Fault.error(answer, now: now)
        let page = answer.isSuccess ? S3Answers.PartsPage(answer.body, after: marker) : nil
        // The answer is about the bucket, and not about the question.
        if S3Fault.code(answer) == "NoSuchBucket" { throw error }
        switch ReportedOffset(status: answer.head.status, offset: page.map { _ in 0 }, isPassing: error.isTransient) {
        case .unknown: throw error
        case .refused, .gone:
            let why = answer.isSuccess ? "its list cannot be read" : error.message
            return try unlisted("the server does not report which parts it has (\(why))", after: marker, now)
        case .known: break
        }
        for part in page?.parts ?? [] {
            multipart?.parts.found(part.number, size: part.size, etag: part.etag, checksum: part.checksum)
        }
        if let next = page?.next, next < multipart?.parts.count ?? 0 {
            // A page without parts makes no progress: few of them are requested, regardless of the upload's parts.
            let leadsOn = page?.parts.isEmpty == false || detours.take()
            guard leadsOn, multipart?.pages.take() == true else {
                return try unlisted("the server's list of parts does not end", after: next, now)
            }
            return [try send(.list(after: next), now)]
        }
        return try sendMissing(now)
    }

    /// Continues without a list of the parts: a part that is sent again replaces the former one ("Multipart upload
    /// overview").
    private mutating func unlisted(
        _ reason: String, after marker: Int, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        if marker > 0, multipart?.parts.confirmed ?? 0 > 0 { return try sendMissing(now) }
        guard multipart?.completion == nil else { return [try send(.head(.unlisted(reason)), now)] }
        return try sendAll(reason, now)
    }

    mutating func sendAll(_ reason: String, _ now: Int64) throws(TransferError) -> [UploadAction] {
        multipart?.completion = nil
        return [.restart(reason)] + (try sendMissing(now))
    }

    private mutating func sendMissing(_ now: Int64) throws(TransferError) -> [UploadAction] {
        multipart?.parts.queueMissing()
        return [.confirmed(multipart?.parts.confirmed ?? 0)] + (try advance(now))
    }

    mutating func sentPart(
        _ number: Int, _ digest: Checksum?, _ answer: UploadAnswer, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        if S3Fault.isNoSuchUpload(answer) { return try restart("the server no longer has the upload", now) }
        guard answer.isSuccess else {
            let integrity = multipart?.integrity ?? options.integrity
            return try failedPart(number, digest, S3Fault.error(answer, to: integrity, now: now), now)
        }
        guard let etag = answer.head.value("ETag"), !etag.isEmpty else {
            throw TransferError(.badResponse, "the server took part \(number) and gave it no ETag", isTransient: true)
        }
        do throws(TransferError) {
            if let range = multipart?.parts.range(number) { try compare(answer, etag: etag, range) }
        } catch {
            return try failedPart(number, digest, error, now)
        }
        let checksum = multipart?.integrity == .storedSHA256 ? digest?.base64 : nil
        multipart?.parts.hold(number, S3Parts.Held(etag: etag, checksum: checksum))
        return [.confirmed(multipart?.parts.confirmed ?? 0)] + (try advance(now))
    }

    /// Handles a failed part. It is sent again at once if only this part is affected.
    ///
    /// The repetition costs one part, while a new attempt would cost the concurrent parts too.
    mutating func failedPart(
        _ number: Int, _ digest: Checksum?, _ error: TransferError, _ now: Int64
    ) throws(TransferError) -> [UploadAction] {
        guard error.isTransient, error.scope == .transfer, error.code != .sourceChanged,
            multipart?.parts.mayRepeat(number) == true, detours.take()
        else { throw error }
        if error.code == .checksumMismatch {
            // The digest may be wrong instead.
            multipart?.parts.requeue(number)
        } else {
            multipart?.ready.insert(S3Multipart.Ready(number: number, digest: digest), at: 0)
        }
        return try advance(now)
    }

    /// Sends as many parts as permitted, reads the digest of one ahead, and completes an upload whose parts are all
    /// stored.
    mutating func advance(_ now: Int64) throws(TransferError) -> [UploadAction] {
        guard var upload = multipart else { throw Self.unreachable }
        if upload.parts.isWhole {
            // From here on the server's silence may mean that the upload is complete: the next attempt must know that.
            upload.completion = upload.parts.completion
            multipart = upload
            return [save(upload.stage), try send(.complete, now)]
        }
        // The parts of a stream come one after another: the server of a later part would wait for its first byte.
        let most = source.isStreamed ? 1 : max(1, parallel)
        var actions: [UploadAction] = []
        var sending = pending.values.count { $0.exchange.isPart }
        var reading = digesting.count
        while true {
            if sending < most, !upload.ready.isEmpty {
                let part = upload.ready.removeFirst()
                actions.append(try send(.part(part.number, part.digest), now))
                sending += 1
            } else if sending + reading + upload.ready.count < most + 1, let number = upload.parts.next() {
                if let algorithm = upload.integrity.digest {
                    actions.append(digest(.part(number), algorithm, upload.parts.range(number)))
                    reading += 1
                } else {
                    upload.ready.append(S3Multipart.Ready(number: number, digest: nil))
                }
            } else {
                break
            }
        }
        multipart = upload
        return actions
    }

    static func tooLarge(_ size: Int64) -> TransferError {
        let (count, part) = (S3Options.maxParts, S3Options.maxRequestSize)
        return TransferError(
            .invalidRequest,
            "a file of \(CountText.bytes(size)) is too large for S3: \(CountText.words(count, "part")) of "
                + "\(CountText.bytes(part)), \(count * part) in all, are "
                + "the most; split it")
    }
}

extension S3Exchange {
    var isPart: Bool {
        if case .part = self { return true }
        return false
    }
}
