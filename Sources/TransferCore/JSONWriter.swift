/// A writer of JSON bytes (RFC 8259) without white space. Swift's strings are valid UTF-8 by construction.
package struct JSONWriter {
    /// The characters of strings that are escaped.
    package enum Escapes: Sendable {
        /// Only characters that JSON requires to be escaped, all in one form: the same value has always the same bytes.
        case canonical
        /// Control characters with DEL and C1, because users read the lines on terminals; with `\n`, `\r` and `\t`.
        case terminal
    }

    package private(set) var bytes: [UInt8]
    private let escapes: Escapes

    /// Creates a writer.
    ///
    /// - Parameter bytes: The buffer that the text is appended to.
    package init(bytes: consuming [UInt8] = [], escapes: Escapes = .canonical) {
        self.bytes = bytes
        self.escapes = escapes
    }

    /// Takes the bytes out of the writer.
    package consuming func end() -> [UInt8] { bytes }

    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        members(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    package mutating func array<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    package mutating func key(_ name: some RawRepresentable<String>) { key(name.rawValue) }

    package mutating func key(_ name: String) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes a key of plain ASCII, without the comma before it.
    package mutating func constantKey(_ name: StaticString) {
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: "\":".utf8)
    }

    /// Writes a key and its value, or nothing where the value is `nil`.
    package mutating func member(_ name: some RawRepresentable<String>, _ value: (some JSONWritable)?) {
        guard let value else { return }
        key(name)
        value.write(to: &self)
    }

    package mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var index = 0
            // Runs of characters that need no escape are copied whole.
            var start = 0
            while index < utf8.count {
                let byte = utf8[index]
                var isEscaped = byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                var skipped = 0
                if escapes == .terminal, !isEscaped {
                    // U+0080 to U+009F, in two bytes.
                    let isC1 = byte == 0xC2 && utf8[index + 1] < 0xA0
                    isEscaped = byte == 0x7F || isC1
                    skipped = isC1 ? 1 : 0
                }
                guard isEscaped else {
                    index += 1
                    continue
                }
                bytes.append(contentsOf: utf8[start..<index])
                index += skipped
                escape(utf8[index])
                index += 1
                start = index
            }
            bytes.append(contentsOf: utf8[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x0A where escapes == .terminal: bytes.append(UInt8(ascii: "n"))
        case 0x0D where escapes == .terminal: bytes.append(UInt8(ascii: "r"))
        case 0x09 where escapes == .terminal: bytes.append(UInt8(ascii: "t"))
        default:
            let digits = String(byte, radix: 16)
            bytes.append(contentsOf: "u00\(digits.utf8.count < 2 ? "0" : "")\(digits)".utf8)
        }
    }

    package mutating func integer(_ value: Int64) { bytes.append(contentsOf: String(value).utf8) }

    package mutating func integer(_ value: Int) { bytes.append(contentsOf: String(value).utf8) }

    /// Writes a value that is JSON already.
    package mutating func raw(_ json: String) { bytes.append(contentsOf: json.utf8) }

    package mutating func boolean(_ value: Bool) { bytes.append(contentsOf: (value ? "true" : "false").utf8) }

    /// Writes a time as a string (RFC 3339).
    ///
    /// - Parameter milliseconds: The time since 1970.
    package mutating func time(_ milliseconds: Int64) {
        bytes.append(UInt8(ascii: "\""))
        TimeStamp.append(milliseconds, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a duration as an exact number of seconds. A negative duration, which no rule has, becomes zero.
    package mutating func duration(_ value: Duration) {
        let (seconds, attoseconds) = max(.zero, value).components
        integer(Int(seconds))
        guard attoseconds > 0 else { return }
        let digits = String(attoseconds)
        var fraction = String(repeating: "0", count: 18 - digits.utf8.count) + digits
        while fraction.last == "0" { fraction.removeLast() }
        bytes.append(UInt8(ascii: "."))
        bytes.append(contentsOf: fraction.utf8)
    }
}

/// A type that can be the value of a member of canonical JSON.
package protocol JSONWritable {
    func write(to writer: inout JSONWriter)
}

extension String: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.string(self) }
}

extension Int: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension Bool: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.boolean(self) }
}

extension Duration: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.duration(self) }
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.array(self) { $1.write(to: &$0) } }
}
