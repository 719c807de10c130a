import TransferCore

// Looks at what the server has: after a break, when the part is not there.
extension FileServerUpload {
    /// Takes the answer to the question what the server has of the file, after a break.
    mutating func looked(_ reported: ReportedOffset, _ head: ResponseHead, _ error: TransferError) -> [UploadAction] {
        switch reported {
        case .known(let size): return found(size, head)
        case .gone: return missing()
        case .unknown: return end(.fail(error))
        case .refused:
            // All was taken: whether it's there, its naming shows.
            if state?.naming != nil { return move() }
            if state?.hasSentAll == true {
                return mayHaveArrived(
                    "all of the file had been sent, and the server doesn't tell what it has (\(words(head)))")
            }
            return replacePart(
                "the server doesn't tell how much it has of the file (\(words(head))); \(Self.inPlaceDoes) it without asking"
            )
        }
    }

    /// There is no part: the server has lost it, or has given it its name.
    mutating func missing() -> [UploadAction] {
        guard let state else { return start(generation: 0, mark: mark) }
        if let naming = state.naming { return ask(.lookingForName(naming, refusal: nil), "HEAD", url) }
        if state.hasSentAll == true {
            return mayHaveArrived("all of the file had been sent, and the server has nothing of it")
        }
        guard state.hasSent == true else { return start(generation: state.generation + 1, mark: state.mark) }
        return startAgain("the server has nothing of the file any more")
    }

    /// The part wasn't given its name, and the server was asked for the part.
    mutating func lookedForPart(_ reported: ReportedOffset, _ status: Int, _ words: String) -> [UploadAction] {
        if status == 200 {
            return end(.fail(TransferError(.badResponse, Self.unnamed(words), isTransient: false)))
        }
        // libcurl may have asked twice, where a connection went in between.
        let naming = state?.naming ?? .init(etag: nil)
        return ask(.lookingForName(naming, refusal: reported == .gone ? nil : words), "HEAD", url)
    }

    /// The upload failed: neither of the two names is the file's, as far as the server tells.
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

// The server's part of the file after a break, and whether the upload can go on from its end.
extension FileServerUpload {
    /// The end of what the server has after a break.
    struct Tail: Sendable, Hashable {
        let size: Int64
        let etag: String?

        /// Twice as much as libcurl has under way at once (CURLOPT_UPLOAD_BUFFERSIZE, 512 KiB).
        static let length: Int64 = 1 << 20

        var start: Int64 { max(0, size - Self.length) }
    }

    mutating func found(_ size: Int64, _ head: ResponseHead) -> [UploadAction] {
        if size > source.size { return discard(tooMuch(size)) }
        if size < source.size, size > 0, state?.cannotAppend == true {
            return discard("the server can't go on with a file")
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

    /// Reads what earlier attempts have left as the source's, or not.
    mutating func compared(
        _ tail: Tail, _ ours: Checksum, _ answer: UploadAnswer, _ error: TransferError
    ) -> [UploadAction] {
        switch answer.head.status {
        case tail.start > 0 ? 206 : 200:
            guard answer.digest == ours else { return discard("what the server has of the file ends with other bytes") }
            return goOn(tail)
        // The file has another length meanwhile, or isn't served in parts.
        case 200, 206, 416: return contradiction("the server doesn't stay with what it has of the file")
        case 404: return missing()
        default:
            guard !error.isTransient else { return end(.fail(error)) }
            return discard("the server doesn't show what it has of the file (\(words(answer.head)))")
        }
    }

    private mutating func goOn(_ tail: Tail) -> [UploadAction] {
        tail.size == source.size ? [.confirmed(tail.size)] + name(tail.etag) : rest(from: tail.size)
    }
}

// Small files: each question costs more time than the file. Those whose answer is known otherwise are not asked.
extension FileServerUpload {
    /// A file up to this length is read again where its bytes alone prove that it is there.
    static let smallSize = Tail.length

    /// Asks an FTP server for the length of what it stored in the same exchange: the end of a data connection says
    /// nothing about lost bytes (RFC 959 §3.4.1). A large file is looked at afterwards, with its time.
    var storeFields: [HeaderField] {
        source.size <= Self.smallSize ? [HeaderField("Prefer", "return=representation")] : []
    }

    /// The server has taken the body of a request.
    ///
    /// Where the answer tells the length that the server has, a small file is not looked at. Its entity tag is unknown
    /// then: if the answer to the renaming is lost, its bytes are compared.
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
        default: return unnamed("the server doesn't show what has the name (\(words(answer.head)))")
        }
    }
}
