/// A value as a statement takes it: in PostgreSQL's text form.
package protocol PostgresValue {
    /// The text; `nil` for NULL.
    var postgresText: String? { get }
}

extension String: PostgresValue {
    package var postgresText: String? { self }
}

extension Bool: PostgresValue {
    package var postgresText: String? { self ? "t" : "f" }
}

extension Int: PostgresValue {
    package var postgresText: String? { String(self) }
}

extension Int64: PostgresValue {
    package var postgresText: String? { String(self) }
}

extension Double: PostgresValue {
    package var postgresText: String? { String(self) }
}

extension Optional: PostgresValue where Wrapped: PostgresValue {
    package var postgresText: String? { self?.postgresText }
}

/// Bytes, as `bytea` is read and written (PostgreSQL's manual, "bytea Hex Format").
package struct PostgresBytes: PostgresValue {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    private static let digits = Array("0123456789abcdef".utf8)

    package var postgresText: String? {
        var text = Array("\\x".utf8)
        text.reserveCapacity(2 + 2 * bytes.count)
        for byte in bytes {
            text.append(Self.digits[Int(byte >> 4)])
            text.append(Self.digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` for a text that is not in that form.
    package init?(text: String) {
        guard text.hasPrefix("\\x") else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in text.utf8.dropFirst(2) {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue.map({ UInt8($0) }) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        guard high == nil else { return nil }
        self.bytes = bytes
    }
}

/// An array, for `= ANY ($1)` and `unnest($1)`.
package struct PostgresArray<Element: PostgresValue>: PostgresValue {
    package let elements: [Element]

    package init(_ elements: [Element]) { self.elements = elements }

    package var postgresText: String? {
        let texts = elements.map { element -> String in
            guard let text = element.postgresText else { return "NULL" }
            var quoted = "\""
            for scalar in text.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
                quoted.unicodeScalars.append(scalar)
            }
            return quoted + "\""
        }
        return "{" + texts.joined(separator: ",") + "}"
    }
}

/// Rows in the text format of COPY.
package struct PostgresCopyRows {
    package private(set) var bytes: [UInt8] = []
    private var isFirst = true

    package init() {}

    package mutating func add(_ value: (any PostgresValue)?) {
        if !isFirst { bytes.append(UInt8(ascii: "\t")) }
        isFirst = false
        guard let text = value?.postgresText else {
            bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "N")])
            return
        }
        for byte in text.utf8 {
            switch byte {
            // A text ends at its first NUL, which PostgreSQL cannot store; values of statements end there too.
            case 0: return
            case UInt8(ascii: "\\"): bytes.append(contentsOf: [byte, byte])
            case UInt8(ascii: "\t"): bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
            case UInt8(ascii: "\n"): bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
            case UInt8(ascii: "\r"): bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "r")])
            default: bytes.append(byte)
            }
        }
    }

    package mutating func endRow() {
        bytes.append(UInt8(ascii: "\n"))
        isFirst = true
    }

    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}
