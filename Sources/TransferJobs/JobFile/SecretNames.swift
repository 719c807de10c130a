import TransferCore

/// The names whose values are left out of quoted lines: secret headers, passwords, and misspellings of both.
package enum SecretNames {
    package static func contain(_ name: String) -> Bool {
        // The quote before a colon may be missing: `"Authorization: "…"`.
        let word = String(name.prefix { $0 != ":" && $0 != " " })
        guard word.utf8.count <= 64 else { return false }
        let lower = word.lowercased()
        return Redaction.isSecretHeader(word)
            || ["passw", "passph", "secret", "token", "authori"].contains { lower.hasFragment($0) }
            || ["password", "authorization", "cookie", "keypassphrase", "passphrase"].contains {
                NearestKey.distance(lower, $0) <= 2
            }
    }

    /// Returns whether a value looks like that of an Authorization header.
    package static func isCredential(_ value: String) -> Bool {
        ["bearer ", "basic ", "digest "].contains { value.prefix($0.count).lowercased() == $0 }
    }
}

extension String {
    fileprivate func hasFragment(_ fragment: String) -> Bool {
        indices.contains { self[$0...].hasPrefix(fragment) }
    }
}

/// The search for user information and signatures in a text that may be a URL.
package enum URLSecrets {
    package static func ranges(_ text: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
        let content = bytes[text]
        guard let colon = content.firstIndex(of: UInt8(ascii: ":")) else { return [] }
        var result: [Range<Int>] = []
        let question = content.firstIndex(of: UInt8(ascii: "?"))
        var start = colon + 1
        while start < text.upperBound, bytes[start] == UInt8(ascii: "/") { start += 1 }
        var rest = start..<text.upperBound
        // User information ends at the last `@`, even where a slash in a password would make it a part of the path.
        if let at = bytes[start..<max(start, question ?? text.upperBound)].lastIndex(of: UInt8(ascii: "@")), at > start
        {
            result.append(start..<at)
            rest = at + 1..<text.upperBound
        }
        let url = Array(bytes[text.lowerBound..<start]) + Array(bytes[rest])
        guard Redaction.hasSecret(String(decoding: url, as: UTF8.self)) else { return result }
        // A path may contain a token, so everything after the host is hidden.
        let marks = [UInt8(ascii: "?"), UInt8(ascii: ";"), UInt8(ascii: "#")]
        let mark = bytes[rest].firstIndex(where: marks.contains) ?? bytes[rest].firstIndex(of: UInt8(ascii: "/"))
        if let mark { result.append(mark + 1..<text.upperBound) }
        return result
    }

    /// Returns the secrets of URLs in a line of XML.
    package static func inXML(_ line: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
        let isEnd: (UInt8) -> Bool = {
            $0 <= 0x20 || $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "\"")
                || $0 == UInt8(ascii: "'")
        }
        return bytes[line].split(whereSeparator: isEnd).flatMap { word in
            ranges(word.startIndex..<word.endIndex, in: bytes)
        }
    }

    /// Returns the secrets of a line in a list of URLs with aria2's options.
    package static func inList(_ line: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>, hidesValues: Bool) -> [Range<
        Int
    >] {
        let content = bytes[line]
        let isOption = content.first.map { $0 == 0x20 || $0 == 0x09 } ?? false
        if isOption, let equals = content.firstIndex(of: UInt8(ascii: "=")) {
            let name = String(decoding: content[..<equals], as: UTF8.self)
            let value = equals + 1..<line.upperBound
            let header = bytes[value].firstIndex(of: UInt8(ascii: ":"))
            let headerName = header.map { String(decoding: bytes[equals + 1..<$0], as: UTF8.self) } ?? ""
            let isSecret =
                SecretNames.contain(name.filter { $0 != " " && $0 != "\t" }) || SecretNames.contain(headerName)
            if hidesValues || isSecret {
                return [(header.map { $0 + 1 } ?? value.lowerBound)..<value.upperBound].filter { !$0.isEmpty }
            }
            return ranges(value, in: bytes)
        }
        return content.split(separator: 0x09).flatMap { ranges($0.startIndex..<$0.endIndex, in: bytes) }
    }
}
