import TransferCore

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
