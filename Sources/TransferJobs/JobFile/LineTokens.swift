import TransferCore

/// The search for secrets in a line of JSON that may be malformed, so that a quotation of the line never shows them.
///
/// The search blanks too much rather than too little. A line is quoted because of a fault, and a misspelt key or a
/// missing quote must not reveal the value that follows.
package struct LineTokens {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// Whether every value is blanked, because the fault lies in a secret.
    private let hidesValues: Bool
    private var blanks: [Range<Int>] = []
    /// Whether the next value belongs to a key with a secret value.
    private var isSecretNext: Bool
    private var depth = 0
    /// The depth of an object or array in the place of a secret; `nil` outside one.
    private var secretDepth: Int?
    /// Whether the next value is that of `env`, `file` or `credential`, which is a name and no secret.
    private var isNameNext = false

    private init(_ bytes: UnsafeBufferPointer<UInt8>, start: Int, hidesValues: Bool) {
        self.bytes = bytes
        self.hidesValues = hidesValues
        isSecretNext = Self.followsSecretKey(start, in: bytes)
    }

    /// Finds the secrets of a line.
    ///
    /// - Returns: Ascending ranges within `line`.
    package static func secrets(
        _ line: Range<Int>, in bytes: UnsafeBufferPointer<UInt8>, hidesValues: Bool
    ) -> [Range<Int>] {
        var tokens = LineTokens(bytes, start: line.lowerBound, hidesValues: hidesValues)
        tokens.scan(line)
        return tokens.blanks
    }

    /// Finds the end of a string.
    ///
    /// - Returns: The offset after the closing quote, or the end of the line where there is none.
    package static func endOfString(at start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != 0x0A {
            if bytes[index] == UInt8(ascii: "\"") { return index + 1 }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, bytes.count)
    }

    private mutating func scan(_ line: Range<Int>) {
        var index = line.lowerBound
        while index < line.upperBound {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let end = min(Self.endOfString(at: index, in: bytes), line.upperBound)
                string(index..<end)
                index = end
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if isSecretNext, secretDepth == nil { secretDepth = depth }
                isSecretNext = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if secretDepth == depth { secretDepth = nil }
                depth -= 1
            case UInt8(ascii: ","):
                isSecretNext = false
                isNameNext = false
            case UInt8(ascii: ":"), 0x20, 0x09, 0x0D: break
            default:
                let end = endOfWord(index, line.upperBound)
                word(index..<end)
                index = end
                continue
            }
            index += 1
        }
    }

    private mutating func string(_ token: Range<Int>) {
        let isClosed = token.count > 1 && bytes[token.upperBound - 1] == UInt8(ascii: "\"")
        let content = token.lowerBound + 1..<max(token.lowerBound + 1, token.upperBound - (isClosed ? 1 : 0))
        let text = String(decoding: bytes[content], as: UTF8.self)
        if nextByte(token.upperBound) == UInt8(ascii: ":") {
            isNameNext = secretDepth != nil && SecretKey(rawValue: text) != nil
            isSecretNext = secretDepth != nil ? !isNameNext : SecretNames.contain(text)
            // The keys of a configuration can be origins.
            for range in URLSecrets.ranges(content, in: bytes) { blank(range) }
        } else if isSecretNext || hidesValues || (secretDepth != nil && !isNameNext) || SecretNames.isCredential(text) {
            blank(content)
            isSecretNext = false
        } else {
            for range in URLSecrets.ranges(content, in: bytes) { blank(range) }
            // In `"Authorization" "…"`, the missing part may be the colon.
            isSecretNext = SecretNames.contain(text)
        }
    }

    /// Handles a number, or other text outside quotes.
    private mutating func word(_ range: Range<Int>) {
        if isSecretNext || secretDepth != nil {
            blank(range)
            isSecretNext = false
        } else {
            isSecretNext = SecretNames.contain(String(decoding: bytes[range], as: UTF8.self))
        }
    }

    private mutating func blank(_ range: Range<Int>) {
        if !range.isEmpty { blanks.append(range) }
    }

    private func endOfWord(_ start: Int, _ end: Int) -> Int {
        var index = start
        // A secret without quotes may contain spaces. Any other word ends at a colon too, since it may be a key.
        let isSecret = isSecretNext || secretDepth != nil
        while index < end {
            switch bytes[index] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"): return index
            case UInt8(ascii: ":"), UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["):
                if !isSecret { return index }
            default: break
            }
            index += 1
        }
        return max(index, start + 1)
    }

    private func nextByte(_ start: Int) -> UInt8? {
        var index = start
        while index < bytes.count, bytes[index] <= 0x20 { index += 1 }
        return index < bytes.count ? bytes[index] : nil
    }

    /// Returns whether the line begins with the value of a secret key on an earlier line.
    private static func followsSecretKey(_ start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = start - 1
        func skipSpace() { while index >= 0, bytes[index] <= 0x20 { index -= 1 } }
        skipSpace()
        if index >= 0, bytes[index] == UInt8(ascii: "{") || bytes[index] == UInt8(ascii: "[") {
            index -= 1
            skipSpace()
        }
        guard index >= 0, bytes[index] == UInt8(ascii: ":") else { return false }
        index -= 1
        skipSpace()
        guard index > 0, bytes[index] == UInt8(ascii: "\"") else { return false }
        let end = index
        index -= 1
        while index >= 0, bytes[index] != UInt8(ascii: "\""), end - index < 256 { index -= 1 }
        return SecretNames.contain(String(decoding: bytes[index + 1..<end], as: UTF8.self))
    }
}
