/// The languages that the environment of a program asks for, as gettext(3) reads it. Pure.
struct SystemLanguages {
    let environment: [String: String]

    /// As language tags (RFC 5646), the most wanted first. Empty where nothing is asked for.
    ///
    /// `LANGUAGE` is a list of its own, which counts unless the locale is plain C; the locale is the first of `LC_ALL`,
    /// `LC_MESSAGES` and `LANG` that says anything.
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

    /// `de_AT.UTF-8@euro` is `de-AT`; what is no name of a language, as `C.UTF-8`, is none.
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
