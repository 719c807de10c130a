/// Takes secrets out of what people, logs and databases see.
public enum Redaction {
    public static let mark = "***"

    /// The URL without its userinfo, and with the values of signing parameters blanked.
    ///
    /// Works on text that is no valid URL too, as error messages quote those.
    public static func url(_ text: String) -> String {
        // Nearly every URL has neither: don't pay for rewriting it.
        guard mayHaveSecret(text) else { return text }
        var result = withoutUserinfo(text)
        guard let question = result.firstIndex(of: "?") else { return result }
        let fragment = result[question...].firstIndex(of: "#") ?? result.endIndex
        let query = result[result.index(after: question)..<fragment]
        let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { pair -> String in
            guard let equals = pair.firstIndex(of: "="), isSecretParameter(pair[..<equals]) else { return String(pair) }
            return "\(pair[...equals])\(mark)"
        }
        result.replaceSubrange(result.index(after: question)..<fragment, with: pairs.joined(separator: "&"))
        return result
    }

    /// Whether the URL carries a secret that `url(_:)` would take out.
    public static func hasSecret(_ text: String) -> Bool { mayHaveSecret(text) && url(text) != text }

    /// Whether there is something that userinfo ends with, or that a query begins with.
    private static func mayHaveSecret(_ text: String) -> Bool {
        text.hasByte(UInt8(ascii: "@")) || text.hasByte(UInt8(ascii: "?"))
    }

    /// Whether a header's value is a secret.
    public static func isSecretHeader(_ name: some StringProtocol) -> Bool {
        let lower = name.lowercased()
        if lower == "idempotency-key" { return false }
        return secretHeaders.contains(lower) || lower.hasSuffix("-token") || lower.hasSuffix("-key")
            || lower.hasSuffix("-secret") || lower.hasSuffix("-signature")
    }

    private static let secretHeaders: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-auth-token",
        "x-amz-security-token",
    ]

    private static func withoutUserinfo(_ text: String) -> String {
        guard let scheme = text.range(of: "://") else { return text }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        var result = text
        result.replaceSubrange(scheme.upperBound...at, with: "")
        return result
    }

    /// Parameters by which storage services, CDNs and common gateways sign or authorise a URL.
    private static func isSecretParameter(_ name: Substring) -> Bool {
        let lower = name.lowercased()
        return secretParameters.contains(lower) || lower.hasPrefix("x-amz-") || lower.hasPrefix("x-goog-")
    }

    private static let secretParameters: Set<String> = [
        "signature", "sig", "token", "access_token", "auth", "api_key", "apikey", "key", "password", "policy",
        "key-pair-id", "awsaccesskeyid", "googleaccessid", "se", "sp", "sv", "sr", "st", "expires", "hmac", "jwt",
        "ossaccesskeyid", "x-oss-signature", "x-oss-security-token", "x-oss-credential", "security-token",
        "q-signature", "x-cos-security-token", "hdnts", "hdnea", "__token__",
    ]
}

extension StringProtocol {
    /// `range(of:)` without Foundation, for short needles.
    func range(of needle: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(needle) { return start..<index(start, offsetBy: needle.count) }
            formIndex(after: &start)
        }
        return nil
    }
}
