/// The tokens that services put into the path of a URL.
enum PathToken {
    /// The minimum length in bytes of a segment that is checked.
    static let shortest = 16

    /// Returns the URL, up to its query, without these tokens.
    static func redacted(_ text: String) -> String {
        var segments = text.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.contains(where: { $0.utf8.count >= shortest }) else { return text }
        var isChanged = false
        for index in segments.indices.dropFirst(3) {
            guard let kept = kept(segments, index) else { continue }
            segments[index] = Substring(kept + Redaction.mark)
            isChanged = true
        }
        return isChanged ? segments.joined(separator: "/") : text
    }

    /// Returns the part of a segment outside its token; `nil` for a segment without one.
    private static func kept(_ segments: [Substring], _ index: Int) -> String? {
        let segment = segments[index]
        guard segment.utf8.count >= shortest else { return nil }
        // Telegram uses /bot123456:AA…/getFile and /file/bot123456:AA…/photo.jpg.
        if segment.hasPrefix("bot"), let colon = segment.firstIndex(of: ":"),
            segment.dropFirst(3).prefix(upTo: colon).allSatisfy(\.isNumber)
        {
            return "bot"
        }
        // A JSON Web Token has three parts in base64, the first of them JSON (RFC 7519).
        if segment.hasPrefix("eyJ"), segment.count(where: { $0 == "." }) >= 2 { return "" }
        // Cloudinary uses /s--AbCdEfGh--/.
        if segment.hasPrefix("s--"), segment.hasSuffix("--") { return "s--" }
        let before = index > 0 ? segments[index - 1] : ""
        switch true {
        // Slack uses /services/T…/B…/….
        case index >= 3 && segments[index - 3] == "services" && segments[2] == "hooks.slack.com": return ""
        // Discord uses /api/webhooks/NUMBER/….
        case index >= 2 && segments[index - 2] == "webhooks" && before.allSatisfy(\.isNumber): return ""
        // Oracle's pre-authenticated requests use /p/…/n/NAMESPACE/b/….
        case before == "p" && index + 1 < segments.count && segments[index + 1] == "n": return ""
        // Akamai uses /exp=…~acl=…~hmac=…/.
        default: return segment.range(of: "~hmac=") != nil || segment.range(of: "~hmac%3D") != nil ? "" : nil
        }
    }
}
