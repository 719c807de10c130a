import TransferCore

/// A writer of one JSON object (RFC 8259) straight into a buffer, because there may be thousands a second.
///
/// Keys are constants in plain ASCII; values are escaped. Swift's strings are valid UTF-8 by construction.
package struct JSONObject: ~Copyable {
    package private(set) var bytes: [UInt8]
    private var isFirst = true

    /// Begins an object.
    ///
    /// - Parameter bytes: The buffer that the object is appended to.
    package init(appendingTo bytes: consuming [UInt8]) {
        self.bytes = bytes
        self.bytes.append(UInt8(ascii: "{"))
    }

    package consuming func end() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    package static func bytes(_ build: (inout JSONObject) -> Void) -> [UInt8] {
        var object = JSONObject(appendingTo: [])
        build(&object)
        return object.end()
    }

    package static func text(_ build: (inout JSONObject) -> Void) -> String {
        String(decoding: bytes(build), as: UTF8.self)
    }

    package mutating func field(_ key: StaticString, _ value: String) {
        begin(key)
        Self.append(value, to: &bytes)
    }

    package mutating func field(_ key: StaticString, _ value: Int64) {
        begin(key)
        Self.append(value, to: &bytes)
    }

    package mutating func field(_ key: StaticString, _ value: Int) { field(key, Int64(value)) }

    /// Writes a duration in seconds, with a precision of milliseconds.
    package mutating func field(_ key: StaticString, _ value: Duration) { field(key, seconds: value.inMilliseconds) }

    /// Writes a duration.
    ///
    /// - Parameter milliseconds: The duration, which is written in seconds.
    package mutating func field(_ key: StaticString, seconds milliseconds: Int64) {
        begin(key)
        Self.append(milliseconds / 1000, to: &bytes)
        let rest = milliseconds % 1000
        guard rest > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        bytes.append(UInt8(ascii: "0") + UInt8(rest / 100))
        bytes.append(UInt8(ascii: "0") + UInt8(rest / 10 % 10))
        bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
    }

    package mutating func field(_ key: StaticString, time milliseconds: Int64) {
        begin(key)
        bytes.append(UInt8(ascii: "\""))
        TimeStamp.append(milliseconds, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a field.
    ///
    /// - Parameter json: The value as JSON text, which is written unchanged.
    package mutating func field(_ key: StaticString, json: String) {
        begin(key)
        bytes.append(contentsOf: json.utf8)
    }

    package mutating func optional(_ key: StaticString, _ value: String?) { if let value { field(key, value) } }
    package mutating func optional(_ key: StaticString, _ value: Int?) { if let value { field(key, Int64(value)) } }
    package mutating func optional(_ key: StaticString, _ value: Int64?) { if let value { field(key, value) } }
    package mutating func optional(_ key: StaticString, _ value: Duration?) { if let value { field(key, value) } }

    package mutating func field(_ key: StaticString, _ value: Bool) {
        begin(key)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Writes an object as a field.
    ///
    /// - Parameter fill: A function that writes its fields.
    package mutating func object(_ key: StaticString, _ fill: (inout JSONObject) -> Void) {
        begin(key)
        bytes.append(contentsOf: JSONObject.text(fill).utf8)
    }

    package mutating func strings(_ key: StaticString, _ values: [String]) {
        list(key, values) { Self.append($1, to: &$0) }
    }

    /// Writes a list of objects as a field.
    ///
    /// - Parameter fill: A function that writes the fields of one object.
    package mutating func objects<Value>(
        _ key: StaticString, _ values: [Value], _ fill: (inout JSONObject, Value) -> Void
    ) {
        list(key, values) { bytes, value in
            bytes.append(contentsOf: JSONObject.text { fill(&$0, value) }.utf8)
        }
    }

    private mutating func list<Value>(
        _ key: StaticString, _ values: [Value], _ append: (inout [UInt8], Value) -> Void
    ) {
        begin(key)
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(&bytes, value)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func begin(_ key: StaticString) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(UInt8(ascii: "\""))
        key.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private static func append(_ value: Int64, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: String(value).utf8)
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var index = 0
            // Runs of characters that need no escape are copied whole.
            var start = 0
            while index < utf8.count {
                let byte = utf8[index]
                let isC1 = byte == 0xC2 && utf8[index + 1] < 0xA0
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F || isC1
                else {
                    index += 1
                    continue
                }
                bytes.append(contentsOf: utf8[start..<index])
                // JSON does not require escapes for DEL and C1, but users read these lines on terminals.
                if isC1 { index += 1 }
                escape(utf8[index], to: &bytes)
                index += 1
                start = index
            }
            bytes.append(contentsOf: utf8[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escape(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            let hex = String(byte, radix: 16)
            bytes.append(contentsOf: "u00\(hex.count < 2 ? "0" : "")\(hex)".utf8)
        }
    }
}
