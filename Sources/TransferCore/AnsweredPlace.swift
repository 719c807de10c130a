/// The resource that an answer came from, after every redirect: validators and bytes are its own, and no other's
/// (RFC 9110 §8.8.3).
public struct AnsweredPlace: Sendable, Hashable, Codable {
    /// Redacted.
    public var url: String
    /// Whether the owner's credentials may go there: no other origin was on the way to it.
    public var takesCredentials: Bool

    /// - Parameter url: With its secrets, which are taken out.
    public init(url: String, takesCredentials: Bool) {
        self.url = Redaction.url(url)
        self.takesCredentials = takesCredentials
    }

    /// Whether the URL is complete as it stands here, so that it can be asked.
    public var canBeAsked: Bool { !url.contains(Redaction.mark) }

    /// Whether the URL names this resource: both are the same but for their signatures.
    ///
    /// A secret that may choose the resource (`key=…`) isn't recorded, so that such URLs never count as the same. Other
    /// values that are taken out leave a sign, and count as they are.
    public func isResource(of url: String) -> Bool {
        let own = SignedURL.resource(self.url)
        return own == SignedURL.resource(Redaction.url(url)) && !Redaction.hidesPlace(own)
    }
}

/// URLs that carry a signature of their own.
public enum SignedURL {
    /// The URL without its fragment and without the parameters by which storage services and gateways sign: all that
    /// says which resource it names.
    public static func resource(_ url: String) -> String {
        let whole = url.prefix { $0 != "#" }
        guard let question = whole.firstIndex(of: "?") else { return String(whole) }
        let pairs = whole[whole.index(after: question)...].split(separator: "&")
        let names = pairs.map { $0.prefix { $0 != "=" }.lowercased() }
        // Names so short that they may mean something else where Azure didn't sign.
        let isAzures = names.contains("sig")
        let others = zip(names, pairs).filter { name, _ in
            !(signatures.contains(name) || isAzures && azures.contains(name)
                || prefixes.contains { name.hasPrefix($0) })
        }
        return others.isEmpty
            ? String(whole[..<question]) : "\(whole[...question])\(others.map(\.1).joined(separator: "&"))"
    }

    private static let prefixes = ["x-amz-", "x-goog-", "x-oss-signature", "q-sign-"]
    private static let azures: Set<String> = [
        "se", "sp", "sv", "sr", "st", "spr", "sip", "si", "skoid", "sktid", "skt", "ske", "sks", "skv",
    ]
    /// CloudFront, S3's older form, Google's, Alibaba's, Tencent's, Azure's, Akamai's, and tokens of gateways.
    private static let signatures: Set<String> = [
        "signature", "expires", "policy", "key-pair-id", "awsaccesskeyid", "googleaccessid", "ossaccesskeyid",
        "security-token", "x-oss-credential", "x-oss-date", "x-oss-expires", "x-oss-security-token",
        "x-oss-additional-headers", "q-ak", "q-key-time", "q-header-list", "q-url-param-list", "q-signature",
        "x-cos-security-token", "sig", "token", "access_token", "hmac", "jwt", "hdnts", "hdnea", "__token__",
    ]
}
