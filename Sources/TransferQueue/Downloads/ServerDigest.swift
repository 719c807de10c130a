import TransferCore
import TransferEngine
import TransferUpload

/// The digest that a server gave with a file (RFC 9530).
struct ServerDigest: Sendable {
    let digest: Checksum
    /// The field's name: `Repr-Digest` or `Content-Digest`.
    let field: String
    let host: String

    /// Reads the digest from an answer.
    ///
    /// A server that computes the digest while it sends gives it in the trailers.
    ///
    /// - Returns: `nil` if the answer has none, or if it covers other bytes than the stored ones.
    init?(_ head: ResponseHead, _ outcome: ExchangeOutcome) {
        guard outcome.start?.isContinuable != false,
            let reported = ReprDigest.ofFile(head, trailers: outcome.trailers)
        else { return nil }
        digest = reported.digest
        field = reported.field
        host = Origin(anyURL: outcome.finalURL)?.hostAndPort ?? "the server"
    }
}
