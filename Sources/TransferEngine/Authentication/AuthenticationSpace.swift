public import TransferCore

/// A protection space that asks for a credential: an origin, a realm and the scheme that would be used.
public struct AuthenticationSpace: Sendable, Hashable {
    /// The schemes of authentication that can be answered.
    public enum Method: Sendable { case basic, digest, ntlm, negotiate }

    /// The origin that asks.
    public let origin: Origin
    /// The realm; `nil` for schemes without realms.
    public let realm: String?
    /// The scheme that would be used.
    public let method: Method
}

/// The report of a received challenge, for observers.
public struct AuthenticationReport: Sendable {
    /// The protection space that asks.
    public let space: AuthenticationSpace
    /// The head of the answer with the challenge.
    public let head: ResponseHead
    /// The URL of the request that was challenged.
    public let url: String
    /// The credential that is about to be sent. `nil` means that none is left that the server has not refused.
    public let credential: ChallengeCredential?
    /// The number of credentials that were refused earlier in this exchange.
    public let failures: Int
}
