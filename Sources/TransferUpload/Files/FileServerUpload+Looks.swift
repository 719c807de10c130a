import TransferCore

// The queries for what the server has: after a break, and when the part is missing.
extension FileServerUpload {
    /// Handles the answer to the query for the part after a break.
    mutating func looked(_ reported: ReportedOffset, _ head: ResponseHead, _ error: TransferError) -> [UploadAction] {
        switch reported {
        case .known(let size): return found(size, head)
        case .gone: return missing()
        case .unknown: return end(.fail(error))
        case .refused:
            // The server took all bytes: the renaming shows whether they exist.
            if state?.naming != nil { return move() }
            if state?.hasSentAll == true {
                return mayHaveArrived(
                    "all of the file had been sent, and the server does not report what it has (\(words(head)))")
            }
            return replacePart(
                "the server does not report how much it has of the file (\(words(head))); \(Self.inPlaceDoes) it without asking"
            )
        }
    }

    /// Handles a missing part: the server has lost it, or has given it its name.
    mutating func missing() -> [UploadAction] {
        guard let state else { return start(generation: 0, mark: mark) }
        if let naming = state.naming { return ask(.lookingForName(naming, refusal: nil), "HEAD", url) }
        if state.hasSentAll == true {
            return mayHaveArrived("all of the file had been sent, and the server has nothing of it")
        }
        guard state.hasSent == true else { return start(generation: state.generation + 1, mark: state.mark) }
        return startAgain("the server no longer has anything of the file")
    }

    /// Handles the answer to the query for a part that was not renamed.
    mutating func lookedForPart(_ reported: ReportedOffset, _ status: Int, _ words: String) -> [UploadAction] {
        if status == 200 {
            return end(.fail(TransferError(.badResponse, Self.unnamed(words), isTransient: false)))
        }
        // libcurl may have sent the renaming twice, if a connection was lost in between.
        let naming = state?.naming ?? .init(etag: nil)
        return ask(.lookingForName(naming, refusal: reported == .gone ? nil : words), "HEAD", url)
    }

    /// Fails the upload: neither of the two names is the file's, by the server's answers.
    mutating func unnamed(_ refusal: String?) -> [UploadAction] {
        mayHaveArrived(
            refusal.map { "the server had taken all of the file; \(Self.unnamed($0))" }
                ?? "the server had taken all of the file, and has it neither under its name nor under the hidden one")
    }

    func isOurs(_ head: ResponseHead, _ naming: FileServerState.Naming) -> Bool {
        guard head.contentLength == source.size, naming.isUnreported != true else { return false }
        guard let etag = naming.etag, let found = head.value("ETag") else { return true }
        return etag == found
    }
}

// The server's part of the file after a break, and the decision whether the upload can continue from its end.
extension FileServerUpload {
    /// The last bytes that the server has after a break.
    struct Tail: Sendable, Hashable {
        let size: Int64
        let etag: String?

        /// The compared length in bytes: twice the bytes that libcurl has under way (CURLOPT_UPLOAD_BUFFERSIZE, 512
        /// KiB).
        static let length: Int64 = 1 << 20

        var start: Int64 { max(0, size - Self.length) }
    }

    mutating func found(_ size: Int64, _ head: ResponseHead) -> [UploadAction] {
        if size > source.size { return discard(tooMuch(size)) }
        if size < source.size, size > 0, state?.cannotAppend == true {
            return discard("the server cannot continue a file")
        }
        let tail = Tail(size: size, etag: head.value("ETag"))
        guard size > 0, state?.part.hasPrefix("sftp:") == true else { return goOn(tail) }
        phase = .digesting(tail)
        return [.digest(id: lastID, .sha256, tail.start..<size)]
    }

    mutating func compare(_ tail: Tail, _ ours: Checksum) -> [UploadAction] {
        let range = tail.start > 0 ? [HeaderField("Range", "bytes=\(tail.start)-")] : []
        return ask(.comparing(tail, ours), "GET", state?.part ?? url, range, digests: ours.algorithm)
    }

    /// Decides by the last bytes whether the part of an earlier attempt belongs to the source.
    mutating func compared(
        _ tail: Tail, _ ours: Checksum, _ answer: UploadAnswer, _ error: TransferError
    ) -> [UploadAction] {
        switch answer.head.status {
        case tail.start > 0 ? 206 : 200:
            guard answer.digest == ours else { return discard("what the server has of the file ends with other bytes") }
            return goOn(tail)
        // The file has another length meanwhile, or is not served in parts.
        case 200, 206, 416: return contradiction("the server does not stay with what it has of the file")
        case 404: return missing()
        default:
            guard !error.isTransient else { return end(.fail(error)) }
            return discard("the server does not show what it has of the file (\(words(answer.head)))")
        }
    }

    private mutating func goOn(_ tail: Tail) -> [UploadAction] {
        tail.size == source.size ? [.confirmed(tail.size)] + name(tail.etag) : rest(from: tail.size)
    }
}

// The handling of small files: each query costs more time than the file. Queries with a known answer are omitted.
extension FileServerUpload {
    /// The length in bytes up to which a file is read back where only its bytes prove that it exists.
    static let smallSize = Tail.length

    /// The fields by which an FTP server reports the length of what it stored in the same exchange.
    ///
    /// The end of a data connection does not reveal lost bytes (RFC 959 §3.4.1). A large file is queried afterwards,
    /// with its time.
    var storeFields: [HeaderField] {
        source.size <= Self.smallSize ? [HeaderField("Prefer", "return=representation")] : []
    }

    /// Handles the acceptance of a request's body.
    ///
    /// A small file is not queried if the answer reports the stored length. Its entity tag is then unknown: if the
    /// answer to the renaming is lost, its bytes are compared.
    mutating func taken(from offset: Int64, _ head: ResponseHead) -> [UploadAction] {
        hasSentBody = true
        guard offset == 0, source.size <= Self.smallSize,
            let length = head.value("Server-Length").flatMap({ Int64($0) }), length >= 0
        else { return ask(.verifying, "HEAD", state?.part ?? url) }
        guard length == source.size else { return verify(.known(length), head) }
        return [.confirmed(length)] + settle(.init(etag: nil, isByBytes: true))
    }

    mutating func digested(_ checksum: Checksum) -> [UploadAction] {
        switch phase {
        case .digesting(let tail): return compare(tail, checksum)
        case .digestingName: return ask(.comparingName(checksum), "GET", url, digests: checksum.algorithm)
        default: return []
        }
    }

    mutating func digestName() -> [UploadAction] {
        phase = .digestingName
        return [.digest(id: lastID, .sha256, 0..<source.size)]
    }

    mutating func comparedName(_ ours: Checksum, _ answer: UploadAnswer, _ error: TransferError) -> [UploadAction] {
        switch answer.head.status {
        case 200 where answer.digest == ours: return finish(nil)
        case 200: return unnamed(nil)
        case _ where error.isTransient: return end(.fail(error))
        default: return unnamed("the server does not show what has the name (\(words(answer.head)))")
        }
    }
}
