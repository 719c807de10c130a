/// A proof that a file is complete. A download's proof comes from its server or its owner, a copy's from its
/// destination.
///
/// A download without any proof is reported as one of unproven length (``JobReceipt/isLengthUnproven``).
public enum JobProof: String, Sendable, Hashable, Codable, CaseIterable {
    /// All bytes read match the job's digest, or the pieces match their digests.
    case checksum
    /// The digest that the server reported for the file matches the bytes read.
    case digest
    /// The destination's tag for each request body is the digest of the bytes sent (S3's ETag).
    case tag
    /// The server reported the length of the file.
    case length
    /// A body of unannounced length ended explicitly: by the last chunk, the end of an HTTP/2 stream, or the end of a
    /// content coding.
    case end
    /// The end of the connection ended the download, and TLS's closing alert arrived. The server may have died behind a
    /// proxy that sent the alert, so the length stays unproven.
    case closure
}

extension [JobProof] {
    /// The proofs as text, for the store.
    package var text: String? { isEmpty ? nil : map(\.rawValue).joined(separator: " ") }

    package init(text: String?) {
        self = (text ?? "").split(separator: " ").compactMap { JobProof(rawValue: String($0)) }
    }
}
