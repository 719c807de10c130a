/// The resource from which a response came, after all redirects: validators and bytes belong to this resource alone
/// (RFC 9110 §8.8.3).
public struct AnsweredPlace: Sendable, Hashable, Codable {
    /// The URL without secrets.
    public var url: String
    /// Whether the owner's credentials may be sent to the resource, because no other origin was involved in reaching
    /// it.
    public var takesCredentials: Bool

    /// Creates a place.
    ///
    /// - Parameter url: The URL with its secrets, which are removed.
    public init(url: String, takesCredentials: Bool) {
        self.url = Redaction.url(url)
        self.takesCredentials = takesCredentials
    }

    /// Whether the URL is complete without its removed secrets, so that it can be requested.
    public var canBeAsked: Bool { !url.contains(Redaction.mark) }

    /// Returns whether a URL names this resource: both URLs are equal apart from their signatures.
    ///
    /// A secret that may select the resource (`key=…`) is not recorded, so URLs with one never count as equal. Other
    /// removed values leave a digest behind, by which they are compared.
    public func isResource(of url: String) -> Bool {
        let own = SignedURL.resource(self.url)
        return own == SignedURL.resource(Redaction.url(url)) && !Redaction.hidesPlace(own)
    }
}

/// The treatment of URLs that contain their own signature.
public enum SignedURL {
    /// Returns the URL without its fragment and without the signing parameters of storage services and gateways. The
    /// result contains everything that identifies the resource.
    public static func resource(_ url: String) -> String {
        let whole = url.prefix { $0 != "#" }
        guard let question = whole.firstIndex(of: "?") else { return String(whole) }
        let pairs = whole[whole.index(after: question)...].split(separator: "&")
        let names = pairs.map { $0.prefix { $0 != "=" }.lowercased() }
        // The short names of Azure may have another meaning where Azure did not sign the URL.
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
    /// The parameters of CloudFront, S3's older form, Google, Alibaba, Tencent, Azure and Akamai, and the tokens of
    /// gateways.
    private static let signatures: Set<String> = [
        "signature", "expires", "policy", "key-pair-id", "awsaccesskeyid", "googleaccessid", "ossaccesskeyid",
        "security-token", "x-oss-credential", "x-oss-date", "x-oss-expires", "x-oss-security-token",
        "x-oss-additional-headers", "q-ak", "q-key-time", "q-header-list", "q-url-param-list", "q-signature",
        "x-cos-security-token", "sig", "token", "access_token", "hmac", "jwt", "hdnts", "hdnea", "__token__",
    ]
}
