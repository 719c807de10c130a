import TransferCore
import TransferEngine
import TransferUpload

/// The digest that a server gave with a file (RFC 9530).
struct ServerDigest: Sendable {
    let digest: Checksum
    /// `Repr-Digest` or `Content-Digest`.
    let field: String
    let host: String

    /// - Parameter url: The URL that answered.
    /// - Returns: `nil` where it said nothing, or speaks of other bytes than those that are stored.
    init?(_ head: ResponseHead, url: String, start: BodyStart?) {
        guard start?.isContinuable != false, let reported = ReprDigest.ofFile(head) else { return nil }
        digest = reported.digest
        field = reported.field
        host = Origin(anyURL: url)?.hostAndPort ?? "the server"
    }
}
