import TransferCore

/// A value in force that is not itself an object, with the place that set it.
public struct ConfigurationEntry: Sendable, Hashable {
    /// The keys that lead to the value, such as `["retry", "limit"]`.
    public var path: [String]
    package var value: String
    /// The place of the configuration that set the value.
    public var place: ConfigurationPlace

    /// The path with dots between its keys. A key that contains dots is put in brackets, as in
    /// `origins["*.lan"].proxy`.
    public var key: String {
        path.reduce(into: "") { key, name in
            let isPlain = name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == 0x2D || byte == 0x5F
            }
            key += isPlain ? (key.isEmpty ? name : "." + name) : "[\(Wording.quoted(name))]"
        }
    }

    /// The value as JSON on one line, with `***` in place of everything that may be a secret.
    public var shown: String {
        var text = ""
        var bytes = Array(value.utf8)[...]
        let isProxy = path.contains("proxy")
        let isCommand = path.first == ConfigurationKey.commands.rawValue
        // An object only names the place of the secret.
        var isSecretNext =
            !isCommand && value.utf8.first != UInt8(ascii: "{") && path.contains(where: SecretNames.contain)
        while let byte = bytes.first {
            guard byte == UInt8(ascii: "\"") else {
                bytes.removeFirst()
                if ![0x20, 0x09, 0x0A, 0x0D].contains(byte) { text.unicodeScalars.append(UnicodeScalar(byte)) }
                if byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") { text += " " }
                continue
            }
            let end = Array(bytes).withUnsafeBufferPointer { LineTokens.endOfString(at: 0, in: $0) }
            // JSON allows a backslash before a slash (RFC 8259 §7).
            let word = Self.unescapedSlashes(String(decoding: bytes.prefix(end).dropFirst().dropLast(), as: UTF8.self))
            bytes = bytes.dropFirst(end)
            text += "\"\(isSecretNext ? Redaction.mark : Self.masked(word, isProxy))\""
            // In a command, an option's value is the next argument: `"--token", "…"`.
            isSecretNext = isCommand && Self.isSecretOption(word)
        }
        return text
    }

    private static func unescapedSlashes(_ word: String) -> String {
        guard word.contains("\\/") else { return word }
        var plain = ""
        var isEscaped = false
        for scalar in word.unicodeScalars {
            if isEscaped, scalar == "/" { plain.unicodeScalars.removeLast() }
            isEscaped = !isEscaped && scalar == "\\"
            plain.unicodeScalars.append(scalar)
        }
        return plain
    }

    private static func isSecretOption(_ word: String) -> Bool {
        word.hasPrefix("-") && !word.contains("=") && SecretNames.contain(String(word.drop { $0 == "-" }))
    }

    private static func masked(_ word: String, _ isProxy: Bool) -> String {
        // The text before a proxy's host may be a part of a password, even where no valid URL would have it.
        if isProxy, let mark = word.firstRange(of: "://"), let at = word.lastIndex(of: "@"), at >= mark.upperBound {
            return String(word[..<mark.upperBound] + word[word.index(after: at)...])
        }
        if word.contains("://") { return Redaction.url(word) }
        guard word.hasPrefix("-"), let equals = word.firstIndex(of: "="),
            isSecretOption(String(word[..<equals]))
        else { return word }
        return word[...equals] + Redaction.mark
    }
}
