/// The credentials of a signer: an access key and its secret, with a session token where they are temporary.
///
/// No description contains the secret or the token.
public struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The ID of the key, which is no secret.
    public var accessKey: String
    /// The secret of the key.
    public var secret: String
    /// The token of the session; `nil` for permanent credentials.
    public var sessionToken: String?

    /// Creates credentials.
    public init(accessKey: String, secret: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secret = secret
        self.sessionToken = sessionToken
    }

    public var description: String { "S3 access key \(accessKey)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }
}
