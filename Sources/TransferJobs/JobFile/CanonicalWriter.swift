/// A writer of JSON bytes without white space.
package struct CanonicalWriter {
    package private(set) var bytes: [UInt8]

    package init(bytes: [UInt8] = []) {
        self.bytes = bytes
        self.bytes.reserveCapacity(max(256, bytes.count))
    }

    package mutating func object(_ members: (inout CanonicalWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        members(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    package mutating func array<Element>(_ elements: [Element], _ write: (inout CanonicalWriter, Element) -> Void) {
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

    /// Writes a key and its value, or nothing where the value is `nil`.
    package mutating func member(_ name: some RawRepresentable<String>, _ value: (some CanonicalValue)?) {
        guard let value else { return }
        key(name)
        value.write(to: &self)
    }

    package mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        let isPlain =
            text.utf8.withContiguousStorageIfAvailable { utf8 in
                let isPlain = utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
                if isPlain { bytes.append(contentsOf: utf8) }
                return isPlain
            } ?? false
        if !isPlain { escaped(text) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escaped(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case ..<0x20:
                let digits = String(byte, radix: 16)
                bytes.append(contentsOf: "\\u00\(digits.utf8.count < 2 ? "0" : "")\(digits)".utf8)
            default: bytes.append(byte)
            }
        }
    }

    package mutating func integer(_ value: Int) { bytes.append(contentsOf: String(value).utf8) }

    /// Writes a value that is JSON already.
    package mutating func raw(_ json: String) { bytes.append(contentsOf: json.utf8) }

    package mutating func boolean(_ value: Bool) { bytes.append(contentsOf: (value ? "true" : "false").utf8) }

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
package protocol CanonicalValue {
    func write(to writer: inout CanonicalWriter)
}

extension String: CanonicalValue {
    package func write(to writer: inout CanonicalWriter) { writer.string(self) }
}

extension Int: CanonicalValue {
    package func write(to writer: inout CanonicalWriter) { writer.integer(self) }
}

extension Bool: CanonicalValue {
    package func write(to writer: inout CanonicalWriter) { writer.boolean(self) }
}

extension Duration: CanonicalValue {
    package func write(to writer: inout CanonicalWriter) { writer.duration(self) }
}

extension Array: CanonicalValue where Element: CanonicalValue {
    package func write(to writer: inout CanonicalWriter) { writer.array(self) { $1.write(to: &$0) } }
}

extension SecretText: CanonicalValue {
    package func write(to writer: inout CanonicalWriter) {
        switch self {
        case .literal(let text): writer.string(text)
        case .environment(let text): writer.object { $0.member(SecretKey.env, text) }
        case .file(let text): writer.object { $0.member(SecretKey.file, text) }
        case .credential(let text): writer.object { $0.member(SecretKey.credential, text) }
        }
    }
}
