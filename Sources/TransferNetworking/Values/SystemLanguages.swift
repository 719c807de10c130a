/// The languages of a program's environment, as gettext(3) reads it. Pure.
struct SystemLanguages {
    let environment: [String: String]

    /// The languages as tags (RFC 5646), the most preferred first. Empty without any preference.
    ///
    /// `LANGUAGE` is a list, which counts unless the locale is plain C. The locale is the first non-empty value of
    /// `LC_ALL`, `LC_MESSAGES` and `LANG`.
    var tags: [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        let isPlain = locale == "C" || locale == "POSIX"
        let list = isPlain ? [] : (environment["LANGUAGE"] ?? "").split(separator: ":").map(String.init)
        var tags: [String] = []
        for name in list + [locale ?? ""] {
            guard let tag = Self.tag(of: name), !tags.contains(tag) else { continue }
            tags.append(tag)
        }
        return tags
    }

    /// Returns the tag of a locale, `de-AT` for `de_AT.UTF-8@euro`; `nil` for a name without a language, such as
    /// `C.UTF-8`.
    static func tag(of locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard let language = parts.first, (2...3).contains(language.utf8.count), parts.count <= 3,
            parts.allSatisfy({ part in
                !part.isEmpty && part.utf8.count <= 8 && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            }), language.allSatisfy(\.isLetter)
        else { return nil }
        return parts.joined(separator: "-")
    }
}
