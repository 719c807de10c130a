import TransferCore

/// A file as its server describes it, with the corresponding fields of HTTP.
struct RemoteFile: Sendable, Hashable {
    /// The length in bytes.
    var size: Int64?
    /// The time of the last modification in seconds since 1970.
    var modified: Int64?

    /// A strong tag, as reliable as possible: a file that is rewritten within the second, with the same length, keeps
    /// it.
    var etag: String? {
        guard let size, let modified else { return nil }
        return "\"\(size)-\(modified)\""
    }

    /// Returns the head of an answer with the whole file, or about it.
    func head(_ status: Int, length: Int64?, _ more: [HeaderField] = []) -> ResponseHead {
        var fields = [HeaderField("Accept-Ranges", "bytes")]
        if let length { fields.append(HeaderField("Content-Length", "\(length)")) }
        if let etag { fields.append(HeaderField("ETag", etag)) }
        if let modified { fields.append(HeaderField("Last-Modified", HTTPDate.format(modified))) }
        return ResponseHead(status: status, fields: fields + more)
    }

    /// Returns the head of an answer with the bytes from `offset` on (RFC 9110 §15.3.7).
    func part(from offset: Int64) -> ResponseHead? {
        guard let size, offset < size else { return nil }
        return head(
            206, length: size - offset, [HeaderField("Content-Range", "bytes \(offset)-\(size - 1)/\(size)")])
    }

    /// The head of an answer to a range beyond the file (RFC 9110 §15.5.17).
    var unsatisfiable: ResponseHead {
        head(416, length: 0, [HeaderField("Content-Range", "bytes */\(size.map { "\($0)" } ?? "*")")])
    }
}

extension TransferError {
    /// Returns the error of a data connection without bytes, for a file whose reported length is greater.
    static func emptyAnswer(of count: Int64) -> TransferError {
        TransferError(
            .connectionLost, "the server sent none of \(CountText.bytes(count)), and called that all", isTransient: true
        )
    }
}
