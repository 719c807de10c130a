import TransferCore

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
