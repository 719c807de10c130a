import FoundationEssentials

/// Structured fields (RFC 9651), parsed as strictly as §4.2 demands: a malformed field has no value at all.
///
/// Parameters are checked and dropped, as none of the fields here defines any.
enum StructuredField {
    enum Value: Sendable, Hashable {
        case integer(Int64)
        case decimal
        case string(String)
        case token(String)
        case bytes([UInt8])
        case boolean(Bool)
        case date(Int64)
        case displayString(String)
        case innerList
    }

    /// Parses an Item (§4.2.3), whose lines were joined by RFC 9110 §5.2.
    static func item(_ text: String) -> Value? {
        var reader = StructuredFieldReader(text)
        reader.skipSpaces()
        guard let value = reader.item() else { return nil }
        reader.skipSpaces()
        return reader.isAtEnd ? value : nil
    }

    /// Parses a Dictionary (§4.2.2); of members with the same key the last counts.
    static func dictionary(_ text: String) -> [String: Value]? {
        var reader = StructuredFieldReader(text)
        var members: [String: Value] = [:]
        reader.skipSpaces()
        while !reader.isAtEnd {
            guard let key = reader.key() else { return nil }
            if reader.take("=") {
                guard let value = reader.peek == UInt8(ascii: "(") ? reader.innerList() : reader.item() else {
                    return nil
                }
                members[key] = value
            } else {
                guard reader.parameters() else { return nil }
                members[key] = .boolean(true)
            }
            reader.skipOptionalSpace()
            if reader.isAtEnd { return members }
            guard reader.take(",") else { return nil }
            reader.skipOptionalSpace()
            // A comma requires another member.
            guard !reader.isAtEnd else { return nil }
        }
        return members
    }
}

private struct StructuredFieldReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }
    var peek: UInt8? { rest.first }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func skipSpaces() { rest = rest.drop { $0 == 0x20 } }
    mutating func skipOptionalSpace() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }

    mutating func item() -> StructuredField.Value? {
        guard let value = bareItem(), parameters() else { return nil }
        return value
    }

    mutating func innerList() -> StructuredField.Value? {
        guard take("(") else { return nil }
        while !isAtEnd {
            skipSpaces()
            if take(")") { return parameters() ? .innerList : nil }
            guard item() != nil, peek == 0x20 || peek == UInt8(ascii: ")") else { return nil }
        }
        return nil
    }

    /// Skips parameters. Returns whether they are well-formed, or there are none.
    mutating func parameters() -> Bool {
        while take(";") {
            skipSpaces()
            guard key() != nil else { return false }
            if take("="), bareItem() == nil { return false }
        }
        return true
    }

    mutating func key() -> String? {
        guard let first = peek, Self.isLower(first) || first == UInt8(ascii: "*") else { return nil }
        return prefix { Self.isLower($0) || Self.isDigit($0) || "_-.*".utf8.contains($0) }
    }

    private mutating func bareItem() -> StructuredField.Value? {
        guard let first = peek else { return nil }
        switch first {
        case UInt8(ascii: "-"),
            _ where Self.isDigit(first):
            return number()
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "*"),
            _ where Self.isAlpha(first):
            return .token(prefix { Self.isTokenCharacter($0) })
        case UInt8(ascii: ":"): return byteSequence()
        case UInt8(ascii: "?"):
            rest.removeFirst()
            if take("0") { return .boolean(false) }
            return take("1") ? .boolean(true) : nil
        case UInt8(ascii: "@"):
            rest.removeFirst()
            guard case .integer(let seconds) = number() else { return nil }
            return .date(seconds)
        case UInt8(ascii: "%"): return displayString()
        default: return nil
        }
    }

    /// Parses a number (§4.2.4): fifteen digits; or twelve, a point, and up to three.
    private mutating func number() -> StructuredField.Value? {
        let isNegative = take("-")
        let digits = prefix(Self.isDigit)
        guard !digits.isEmpty, digits.utf8.count <= 15, let magnitude = Int64(digits) else { return nil }
        guard take(".") else { return .integer(isNegative ? -magnitude : magnitude) }
        let fraction = prefix(Self.isDigit)
        return digits.utf8.count <= 12 && (1...3).contains(fraction.utf8.count) ? .decimal : nil
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                else { return nil }
                text.append(escaped)
            case 0x20...0x7E: text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func byteSequence() -> StructuredField.Value? {
        guard take(":") else { return nil }
        var base64 = prefix { $0 != UInt8(ascii: ":") }
        guard take(":") else { return nil }
        // §4.2.7: missing padding is no reason to fail.
        if !base64.hasSuffix("=") { base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4) }
        return Data(base64Encoded: base64).map { .bytes(Array($0)) }
    }

    /// Parses a display string (§4.2.10): a string with bytes of UTF-8 in lower-case hexadecimal.
    private mutating func displayString() -> StructuredField.Value? {
        guard take("%"), take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self).map { .displayString($0) }
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy({ Self.isDigit($0) || (0x61...0x66).contains($0) }),
                    let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
                else { return nil }
                rest = rest.dropFirst(2)
                text.append(value)
            case 0x20...0x7E: text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func prefix(_ belongs: (UInt8) -> Bool) -> String {
        let taken = rest.prefix(while: belongs)
        rest = rest[taken.endIndex...]
        return String(decoding: taken, as: UTF8.self)
    }

    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isAlpha(_ byte: UInt8) -> Bool { isLower(byte | 0x20) }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        isAlpha(byte) || isDigit(byte) || "!#$%&'*+-.^_`|~:/".utf8.contains(byte)
    }
}
