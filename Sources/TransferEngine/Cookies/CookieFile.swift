import TransferCore

/// A file of cookies in Netscape's format, as browser add-ons, curl and wget write it.
///
/// Each line is a cookie of seven fields with tabs between them: domain, whether subdomains get it, path, whether it
/// needs TLS, seconds since 1970, name, value. Lines that begin with `#` are comments. The exception is `#HttpOnly_`,
/// which precedes the domain of cookies that scripts do not see.
enum CookieFile {
    /// Parses the cookies of a file.
    ///
    /// - Parameter text: The content of the file; lines that are not cookies are skipped.
    static func cookies(_ text: String, now: Double) -> [StoredCookie] {
        text.split(whereSeparator: \.isNewline).compactMap { line in cookie(line, now: now) }
    }

    private static func cookie(_ line: Substring, now: Double) -> StoredCookie? {
        let mark = "#HttpOnly_"
        let isHidden = line.hasPrefix(mark)
        let line = isHidden ? line.dropFirst(mark.count) : line
        guard !line.hasPrefix("#") else { return nil }
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        // An editor may have removed the tab before an empty value; some add-ons write fractions of seconds.
        guard fields.count == 7 || fields.count == 6, !fields[5].isEmpty, let time = Double(fields[4]),
            let expires = Int64(exactly: time.rounded(.down))
        else { return nil }
        let value = fields.count == 7 ? fields[6] : ""
        var domain = fields[0].lowercased()
        if domain.hasPrefix(".") { domain.removeFirst() }
        guard !domain.isEmpty, !hasControls(fields[5]), !hasControls(value) else { return nil }
        return StoredCookie(
            name: String(fields[5]), value: String(value), domain: domain,
            path: fields[2].hasPrefix("/") ? String(fields[2]) : "/", isHostOnly: fields[1].uppercased() != "TRUE",
            isSecure: fields[3].uppercased() == "TRUE", isHTTPOnly: isHidden,
            // An expiry of 0 marks a session cookie.
            expires: expires == 0 ? nil : expires, created: now)
    }

    /// Returns the file of cookies, the newest first as curl writes them.
    static func text(_ cookies: [StoredCookie]) -> String {
        let lines = cookies.reversed().map { cookie in
            let mark = cookie.isHTTPOnly ? "#HttpOnly_" : ""
            let domain = cookie.isHostOnly ? cookie.domain : "." + cookie.domain
            let fields = [
                mark + domain, cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
                "\(cookie.expires ?? 0)", cookie.name, cookie.value,
            ]
            return fields.joined(separator: "\t") + "\n"
        }
        return "# Netscape HTTP Cookie File\n\n" + lines.joined()
    }

    private static func hasControls(_ text: Substring) -> Bool {
        text.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: ";") }
    }
}
