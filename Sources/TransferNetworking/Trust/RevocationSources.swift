public import TransferCrypto

/// A program's own knowledge of revoked certificates, and the bounds of what is fetched.
public struct RevocationSources: Sendable {
    /// Looked at before anything is fetched.
    public var lists: [RevocationList] = []
    /// The longest that one evaluation may take for all it asks for and fetches.
    public var timeout: Duration = .seconds(5)
    /// The largest OCSP answer; bytes.
    public var maxAnswerSize = 64 << 10
    /// The largest list; bytes.
    public var maxListSize = 16 << 20
    /// Whether an OCSP answer made for an earlier request is refused, where the responder supports that (RFC 8954).
    public var usesNonce = false
    /// The URL of the proxy to fetch through; `nil` goes straight.
    public var proxy: String?

    public init() {}
}
