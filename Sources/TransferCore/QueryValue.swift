/// The rule for values in a URL's query: a value is removed unless its name is known to be harmless, or the value is
/// short and plain.
///
/// 1. The value of a name that denotes a secret (``isSecret(name:)``) is always removed.
/// 2. The value of a name known to be harmless is kept. Names of identifiers keep values that look like identifiers.
/// 3. For any other name, a short and plain value is kept: a number, a date, a version, a few words.
///
/// A removed value of the third kind leaves a few bits of a digest, so that two jobs or two places remain
/// distinguishable: `id=***~1f2e3d4c`. A secret of the first kind leaves none, since URLs that differ only in a
/// signature denote one place.
enum QueryValue {
    /// The separator between the mark and the digest.
    static let signMark = "~"

    /// Returns the value, or its replacement.
    ///
    /// - Parameters:
    ///   - name: The name as written; empty for a value without one.
    ///   - place: The URL before the query, which changes the digest of the value.
    static func redacted(_ value: Substring, of name: Substring, at place: String) -> String {
        guard !value.isEmpty, !isRedacted(value) else { return String(value) }
        let key = canonical(name)
        if !key.isEmpty, isSecret(name: key) { return Redaction.mark }
        let plain = decoded(value)
        if plain.contains("://"), Redaction.hasSecret(plain) { return signed(value, name, place) }
        if harmless.contains(key) || isPlain(plain) { return String(value) }
        if isIdentifier(key), looksLikeIdentifier(plain) { return String(value) }
        return signed(value, name, place)
    }

    /// Returns whether a text in the place of a name is a token that ends in `=`.
    static func isToken(_ name: Substring) -> Bool {
        name.utf8.count >= 24 && !isSecret(name: canonical(name)) && !isPlain(decoded(name))
    }

    /// Returns whether the value was written by this rule.
    private static func isRedacted(_ value: Substring) -> Bool {
        guard value.hasPrefix(Redaction.mark) else { return false }
        let rest = value.dropFirst(Redaction.mark.count)
        return rest.isEmpty
            || rest.hasPrefix(signMark) && rest.count <= 9 && rest.dropFirst().allSatisfy(\.isHexDigit)
    }

    /// Returns the replacement with a digest: 32 bits for long values, and 16 for short ones, which might be guessed
    /// from more.
    private static func signed(_ value: Substring, _ name: Substring, _ place: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "\(place)?\(name)=\(value)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash ^= hash >> 32
        let count = value.utf8.count >= 20 ? 4 : 2
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: hash >> UInt64(8 * $0)) }
        return Redaction.mark + signMark + Hexadecimal.encode(bytes)
    }

    private static func canonical(_ name: Substring) -> String { decoded(name).lowercased() }

    private static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        return String(decoding: PercentEncoding.decode(text), as: UTF8.self)
    }

    // MARK: Names

    /// Returns whether a name denotes a secret.
    ///
    /// - Parameter name: The decoded name in lower case.
    static func isSecret(name: String) -> Bool {
        if secrets.contains(name) { return true }
        if plainWords.contains(name) { return false }
        if ["x-amz-", "x-goog-", "x-oss-", "x-cos-", "x-obs-"].contains(where: name.hasPrefix) { return true }
        let letters = name.filter { $0.isLetter || $0.isNumber }
        return parts.contains { letters.range(of: $0) != nil } || ends.contains(where: letters.hasSuffix)
    }

    private static let parts = [
        "token", "secret", "passw", "passphrase", "signature", "credential", "authori", "session", "apikey",
        "accesskey", "authkey", "ticket",
    ]
    private static let ends = ["key", "auth", "sig", "sign", "pwd", "pass", "hmac", "jwt", "sid", "otp", "keyid"]
    /// The harmless words that end in one of those.
    private static let plainWords: Set<String> = [
        "design", "assign", "bypass", "compass", "monkey", "turkey", "hotkey",
    ]
    /// The names that do not reveal their meaning: those of Azure, Akamai, Discord, Alibaba, Dropbox, Zoom, Google and
    /// Apple.
    private static let secrets: Set<String> = [
        "policy", "key-pair-id", "googleaccessid", "se", "sp", "sv", "sr", "st", "expires", "hdnts", "hdnea",
        "hdntl", "__gda__", "hm", "rlkey", "zak", "code", "nonce", "otp", "pin", "sas", "at", "ckz", "upt",
        "_upt", "auth_key", "wssecret", "txsecret", "assertion", "samlresponse", "crumb",
    ]

    private static let harmless: Set<String> = [
        "file", "filename", "file_name", "name", "title", "path", "dir", "directory", "folder", "prefix",
        "delimiter", "page", "per_page", "pagesize", "limit", "offset", "start", "end", "from", "to", "count",
        "size", "length", "v", "ver", "version", "rev", "revision", "release", "tag", "branch", "ref",
        "commit", "sha", "build", "channel", "generation", "versionid", "partnumber", "uploadid", "list-type",
        "max-keys", "marker", "checksum", "md5", "sha1", "sha256", "sha512", "crc32c", "digest", "format",
        "fmt", "type", "ext", "extension", "mime", "content-type", "contenttype", "response-content-type",
        "response-content-disposition", "response-content-encoding", "response-cache-control",
        "response-expires", "encoding", "charset", "lang", "language", "locale", "hl", "gl", "region",
        "country", "os", "arch", "platform", "distro", "package", "pkg", "product", "project", "repo",
        "repository", "group", "artifact", "classifier", "q", "query", "search", "sort", "order", "filter",
        "fields", "include", "view", "mode", "action", "do", "op", "cmd", "method", "download", "dl", "raw",
        "inline", "attachment", "export", "alt", "disposition", "date", "time", "year", "month", "day",
        "since", "until", "w", "h", "width", "height", "quality", "url", "uri", "redirect", "redirect_uri",
        "callback", "source", "mirror", "protocol", "utm_source", "utm_medium", "utm_campaign", "utm_content",
        "utm_term", "timestamp",
    ]

    private static func isIdentifier(_ name: String) -> Bool {
        ["id", "uuid", "guid", "oid"].contains(name)
            || ["_id", "-id", "fileid", "docid", "itemid", "assetid", "fid", "aid", "gid", "resid"].contains(
                where: name.hasSuffix)
    }

    // MARK: Values

    /// Returns whether a value is a number, a UUID, hexadecimal digits, or too short to be a secret.
    private static func looksLikeIdentifier(_ value: String) -> Bool {
        let isHexadecimal = value.utf8.allSatisfy { digit($0) || (0x61...0x66).contains($0 | 0x20) || $0 == 0x2D }
        let isName = value.utf8.allSatisfy { digit($0) || (0x61...0x7A).contains($0 | 0x20) || "-_.".utf8.contains($0) }
        return isHexadecimal && value.utf8.count <= 40 || isName && value.utf8.count <= 16
    }

    /// Returns whether a value is short and consists of words or numbers as people write them.
    static func isPlain(_ value: String) -> Bool {
        guard value.utf8.count <= 48 else { return false }
        let words = value.utf8.split(omittingEmptySubsequences: true) { separators.contains($0) }
        return words.count <= 8 && words.allSatisfy(isPlainWord)
    }

    private static let separators = Set(".-_/+,: @{}()*".utf8)

    /// Returns whether a word has letters in one case (the first may be a capital), with digits before or after them.
    private static func isPlainWord(_ word: Substring.UTF8View) -> Bool {
        var (turns, capitals, letters, digits, others) = (0, 0, 0, 0, 0)
        var last: Bool?
        for byte in word {
            let isDigit = digit(byte)
            if let last, last != isDigit { turns += 1 }
            last = isDigit
            if isDigit {
                digits += 1
            } else if (0x61...0x7A).contains(byte | 0x20) {
                letters += 1
                if byte & 0x20 == 0 { capitals += 1 }
            } else if byte >= 0x80 {
                letters += 1
            } else {
                others += 1
            }
        }
        guard others == 0, turns <= 1 else { return false }
        if letters == 0 { return digits <= 14 }
        return letters <= 14 && digits <= 6 && (capitals <= 2 || capitals == letters && letters <= 6)
    }

    private static func digit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
