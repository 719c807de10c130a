/// A proof that a file came whole: of a download what its server said or its owner, of a copy what its destination said.
///
/// A download without any is told as one whose length is unproven (``JobReceipt/isLengthUnproven``).
public enum JobProof: String, Sendable, Hashable, Codable, CaseIterable {
    /// All that was read has the digest that the job names, or its pieces have theirs.
    case checksum
    /// The server told the digest of what it has, and it's that of what was read.
    case digest
    /// The destination gave each request's body a tag that is the digest of what was sent (S3's ETag).
    case tag
    /// The server told how much it has.
    case length
    /// The own end of a body whose length was not announced came (the last chunk, the end of an HTTP/2 stream, the
    /// end of a content coding).
    case end
    /// Of a download that only the end of its connection ended: TLS's closing alert came. The server may have died behind
    /// a proxy that sent it, so the length stays unproven.
    case closure
}

extension [JobProof] {
    /// As the store has them.
    package var text: String? { isEmpty ? nil : map(\.rawValue).joined(separator: " ") }

    package init(text: String?) {
        self = (text ?? "").split(separator: " ").compactMap { JobProof(rawValue: String($0)) }
    }
}
