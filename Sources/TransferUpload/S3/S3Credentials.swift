/// The credentials of who signs: an access key and its secret, and the token of a session where they are temporary.
///
/// The secret and the token are in no description.
public struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The ID of the key; no secret.
    public var accessKey: String
    public var secret: String
    public var sessionToken: String?

    public init(accessKey: String, secret: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secret = secret
        self.sessionToken = sessionToken
    }

    public var description: String { "S3 access key \(accessKey)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }
}
