public import TransferCrypto

/// The program's own data about revoked certificates, and the limits of fetching further data.
public struct RevocationSources: Sendable {
    /// The program's revocation lists, which are searched before anything is fetched.
    public var lists: [RevocationList] = []
    /// The longest time that one evaluation may take for all its fetches.
    public var timeout: Duration = .seconds(5)
    /// The largest size of an OCSP response, in bytes.
    public var maxAnswerSize = 64 << 10
    /// The largest size of a revocation list, in bytes.
    public var maxListSize = 16 << 20
    /// Whether an OCSP response made for an earlier request is refused, where the responder supports that (RFC 8954).
    public var usesNonce = false
    /// The URL of the proxy for fetches; `nil` uses none.
    public var proxy: String?

    /// Creates sources without lists, with the default limits.
    public init() {}
}
