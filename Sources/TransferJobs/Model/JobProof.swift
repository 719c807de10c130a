/// A proof that the destination of a copy has what its source gave.
public enum JobProof: String, Sendable, Hashable, Codable, CaseIterable {
    /// All that was read has the digest that the job names.
    case checksum
    /// The destination told the digest of what it has, and it's that of what was read.
    case digest
    /// The destination gave each request's body a tag that is the digest of what was sent (S3's ETag).
    case tag
    /// The destination told how much it has.
    case length
}

extension [JobProof] {
    /// As the store has them.
    package var text: String? { isEmpty ? nil : map(\.rawValue).joined(separator: " ") }

    package init(text: String?) {
        self = (text ?? "").split(separator: " ").compactMap { JobProof(rawValue: String($0)) }
    }
}
