public import TransferCore

/// A protection space that asks for a credential: an origin, a realm and the scheme that would be used.
public struct AuthenticationSpace: Sendable, Hashable {
    public enum Method: Sendable { case basic, digest, ntlm, negotiate }

    public let origin: Origin
    /// `nil` for schemes without realms.
    public let realm: String?
    public let method: Method
}

/// A challenge that came, for those who watch.
public struct AuthenticationReport: Sendable {
    public let space: AuthenticationSpace
    /// The answer with the challenge.
    public let head: ResponseHead
    public let url: String
    /// The credential that is about to be sent; `nil` when there is none, or nothing that wasn't refused.
    public let credential: ChallengeCredential?
    /// Credentials that were refused before in this exchange.
    public let failures: Int
}
