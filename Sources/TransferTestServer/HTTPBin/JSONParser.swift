/// The parser of JSON texts (RFC 8259).
struct JSONParser {
    private struct Malformed: Error {}

    private let bytes: [UInt8]
    private var position = 0

    /// Parses a text.
    ///
    /// - Returns: `nil` for anything but exactly one JSON value in UTF-8.
    static func value(_ bytes: [UInt8]) -> JSONValue? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var parser = JSONParser(bytes: bytes)
        guard let value = try? parser.value(depth: 0) else { return nil }
        parser.skipSpaces()
        return parser.position == bytes.count ? value : nil
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpaces() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ text: String) throws {
        guard bytes[position...].starts(with: text.utf8) else { throw Malformed() }
        position += text.utf8.count
    }

    private mutating func value(depth: Int) throws -> JSONValue {
        // Deeper texts are valid, but would exhaust a thread's stack.
        guard depth < 500 else { throw Malformed() }
        skipSpaces()
        switch next {
        case UInt8(ascii: "{"): return .object(try object(depth))
        case UInt8(ascii: "["): return .array(try array(depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"):
            try expect("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try expect("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try expect("null")
            return .null
        default: return .number(try number())
        }
    }

    private mutating func object(_ depth: Int) throws -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        try items(until: "}") { parser in
            let name = try parser.string()
            parser.skipSpaces()
            try parser.expect(":")
            members[name] = try parser.value(depth: depth + 1)
        }
        return members
    }

    private mutating func array(_ depth: Int) throws -> [JSONValue] {
        var values: [JSONValue] = []
        try items(until: "]") { values.append(try $0.value(depth: depth + 1)) }
        return values
    }

    private mutating func items(until end: Unicode.Scalar, _ item: (inout JSONParser) throws -> Void) throws {
        position += 1
        skipSpaces()
        if take(end) { return }
        repeat {
            skipSpaces()
            try item(&self)
            skipSpaces()
        } while take(",")
        guard take(end) else { throw Malformed() }
    }

    private mutating func number() throws -> String {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws {
        let start = position
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
        guard position > start else { throw Malformed() }
    }

    private mutating func string() throws -> String {
        guard take("\"") else { throw Malformed() }
        var units: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"): units += try escaped().utf8
            case 0..<0x20: throw Malformed()
            default: units.append(byte)
            }
        }
        throw Malformed()
    }

    private mutating func escaped() throws -> String {
        guard let byte = next else { throw Malformed() }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(UnicodeScalar(byte))
        case UInt8(ascii: "u"):
            var units = [try codeUnit()]
            if UTF16.isLeadSurrogate(units[0]), bytes[position...].starts(with: "\\u".utf8) {
                position += 2
                units.append(try codeUnit())
            }
            return String(decoding: units, as: UTF16.self)
        default: throw Malformed()
        }
    }

    private mutating func codeUnit() throws -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Malformed() }
        position += 4
        return unit
    }
}
