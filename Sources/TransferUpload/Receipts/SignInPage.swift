import TransferCore

/// The pages on which people sign in: gateways redirect every unknown client there, for any request.
enum SignInPage {
    /// Returns whether a segment of the URL's path is a usual name of such pages.
    static func isLikely(_ url: String) -> Bool {
        let path = url.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3)
        return path.contains { segment in
            let name = segment.prefix { $0 != "?" && $0 != "#" && $0 != "." && $0 != ";" }.lowercased()
            return names.contains(name)
        }
    }

    static func isPage(_ head: ResponseHead) -> Bool {
        head.value("Content-Type")?.lowercased().hasPrefix("text/html") ?? false
    }

    /// Returns whether an answer is a page for people and not a short text under a page's type, which scripts send by
    /// default.
    static func isDocument(_ answer: UploadAnswer) -> Bool {
        guard isPage(answer.head), !answer.body.isEmpty else { return false }
        // The content of another coding cannot be read; a short one is no page.
        guard answer.head.contentCoding == nil else { return answer.body.count > 64 }
        let text = String(decoding: answer.body.lazy.map(\.asciiLowercased), as: UTF8.self)
        return elements.contains { text.contains($0) }
    }

    /// Returns whether a page has a field for a password.
    static func asksForPassword(_ body: [UInt8]) -> Bool {
        let text = String(
            decoding: body.lazy.map(\.asciiLowercased).filter { !"\"' \t\r\n".utf8.contains($0) }, as: UTF8.self)
        return text.contains("type=password")
    }

    /// The beginnings of the elements of which at least one is in each page.
    private static let elements = ["<!doctype html", "<html", "<head", "<title", "<body", "<meta", "<script", "<form"]

    private static let names: Set<String> = [
        "login", "log-in", "log_in", "logon", "signin", "sign-in", "sign_in", "signon", "sign-on", "wp-login", "auth",
        "authenticate", "authorize", "sso", "saml", "saml2", "oauth", "oauth2", "oidc", "openid", "adfs", "cas", "idp",
    ]
}
