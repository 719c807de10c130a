import TransferCore

/// The rules for links in a job file.
package enum LinkRule {
    /// Explains why a word is neither a kind of link nor an interface. A misspelt kind must not pass for an interface
    /// that never appears, so a name must differ visibly from the kinds.
    package static func refusal(of word: String) -> String? {
        if word.hasPrefix(LinkPattern.mark) || !LinkPattern.isWord(word) || word.isEmpty {
            return refusal(ofName: word)
        }
        let words = LinkClass.words.map(\.rawValue) + ["vpn"]
        if words.contains(word) { return nil }
        let nearest = NearestKey.suggestion(for: word, among: words).map { "did you mean \"\($0)\"?" }
        return "unknown kind \(Wording.quoted(word)); \(nearest ?? "\(Wording.alternatives(words)) are possible;") "
            + "an interface of that name is written \"\(LinkPattern.mark)\(word)\""
    }

    /// Explains why a text is no interface name: up to 15 bytes (IFNAMSIZ, netdevice(7)) without a slash or white
    /// space.
    package static func refusal(ofName text: String) -> String? {
        let name = text.hasPrefix(LinkPattern.mark) ? String(text.dropFirst(LinkPattern.mark.count)) : text
        if name.isEmpty { return "the name of an interface is empty" }
        let isPattern = name.contains { "*?[".contains($0) }
        guard isPattern || name.utf8.count <= 15 else { return "the name of an interface has at most 15 characters" }
        let isClean = name.unicodeScalars.allSatisfy {
            $0 != "/" && $0 != ":" && $0.value > 0x20 && DisplayWidth.isPrintable($0)
        }
        return isClean ? nil : "not the name of an interface: \(Wording.quoted(name))"
    }
}
