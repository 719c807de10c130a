import TransferCore

/// A file as its server describes it, and the fields that HTTP would make of that.
struct RemoteFile: Sendable, Hashable {
    /// Bytes.
    var size: Int64?
    /// Seconds since 1970.
    var modified: Int64?

    /// Strong, as good as it gets: a file that is written anew within the second, in the same length, keeps it.
    var etag: String? {
        guard let size, let modified else { return nil }
        return "\"\(size)-\(modified)\""
    }

    /// The head of an answer with the whole file, or about it.
    func head(_ status: Int, length: Int64?, _ more: [HeaderField] = []) -> ResponseHead {
        var fields = [HeaderField("Accept-Ranges", "bytes")]
        if let length { fields.append(HeaderField("Content-Length", "\(length)")) }
        if let etag { fields.append(HeaderField("ETag", etag)) }
        if let modified { fields.append(HeaderField("Last-Modified", HTTPDate.format(modified))) }
        return ResponseHead(status: status, fields: fields + more)
    }

    /// The bytes from `offset` on (RFC 9110 §15.3.7).
    func part(from offset: Int64) -> ResponseHead? {
        guard let size, offset < size else { return nil }
        return head(
            206, length: size - offset, [HeaderField("Content-Range", "bytes \(offset)-\(size - 1)/\(size)")])
    }

    /// There are none (RFC 9110 §15.5.17).
    var unsatisfiable: ResponseHead {
        head(416, length: 0, [HeaderField("Content-Range", "bytes */\(size.map { "\($0)" } ?? "*")")])
    }
}

extension TransferError {
    /// A data connection without a byte, for a file that the server has just called longer.
    static func emptyAnswer(of count: Int64) -> TransferError {
        TransferError(
            .connectionLost, "the server sent none of \(CountText.bytes(count)), and called that all", isTransient: true
        )
    }
}
