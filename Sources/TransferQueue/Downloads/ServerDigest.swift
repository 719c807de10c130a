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
    /// - Parameters:
    ///   - trailers: The fields behind the body. A server that computes the digest while it sends has no earlier place.
    ///   - url: The URL that answered.
    /// - Returns: `nil` if the answer has none, or if it covers other bytes than the stored ones.
    init?(_ head: ResponseHead, trailers: [HeaderField] = [], url: String, start: BodyStart?) {
        guard start?.isContinuable != false, let reported = ReprDigest.ofFile(head, trailers: trailers) else {
            return nil
        }
        digest = reported.digest
        field = reported.field
        host = Origin(anyURL: url)?.hostAndPort ?? "the server"
    }
}
