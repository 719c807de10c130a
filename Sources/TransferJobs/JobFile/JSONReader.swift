/// A pull reader of strict JSON (RFC 8259) that works directly on bytes. It builds no tree, and copies a string only on
/// request.
///
/// The reader keeps only byte offsets. Lines, columns and paths are computed when a fault needs them, so that valid
/// files do not pay for them.
package struct JSONReader {
    /// The deepest nesting that is allowed, since deeper nesting could exhaust the stack.
    package static let maxDepth = 64

    package let bytes: UnsafeBufferPointer<UInt8>
    package var offset: Int
    package private(set) var depth = 0

    package init(_ bytes: UnsafeBufferPointer<UInt8>, offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    @inline(__always)
    package mutating func skipSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    /// Returns the kind of the next value, and moves to its first byte, which determines the kind.
    package mutating func kind() throws(JSONFault) -> JSONKind {
        skipSpace()
        guard offset < bytes.count else { throw fault("the text ends where a value should be") }
        switch bytes[offset] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "/"): throw fault("JSON has no comments; a key that begins with \"x-\" can hold one")
        case UInt8(ascii: "'"): throw fault("expected double quotes, found a single one")
        default: throw fault("expected a value, found \(found)")
        }
    }

    /// Enters the object at the current offset.
    package mutating func beginObject() throws(JSONFault) { try descend() }

    /// Enters the array at the current offset.
    package mutating func beginArray() throws(JSONFault) { try descend() }

    private mutating func descend() throws(JSONFault) {
        guard depth < Self.maxDepth else { throw fault("nested more than \(Self.maxDepth) deep") }
        depth += 1
        offset += 1
    }

    /// Returns the next key of an object and moves past its colon; `nil` at the end of the object.
    package mutating func key(isFirst: inout Bool) throws(JSONFault) -> JSONText? {
        guard try next(UInt8(ascii: "}"), isFirst: &isFirst) else { return nil }
        guard bytes[offset] == UInt8(ascii: "\"") else {
            throw fault("expected a key in double quotes, found \(found)")
        }
        let key = try string()
        skipSpace()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ":") else {
            throw fault("expected \":\" behind the key, found \(found)")
        }
        offset += 1
        return key
    }

    /// Moves to the array's next element.
    ///
    /// - Returns: Whether there is one.
    package mutating func element(isFirst: inout Bool) throws(JSONFault) -> Bool {
        try next(UInt8(ascii: "]"), isFirst: &isFirst)
    }

    @inline(__always)
    private mutating func next(_ close: UInt8, isFirst: inout Bool) throws(JSONFault) -> Bool {
        skipSpace()
        guard offset < bytes.count else { throw fault("the text ends before \"\(Self.character(close))\"") }
        if bytes[offset] == close {
            offset += 1
            depth -= 1
            return false
        }
        if isFirst {
            isFirst = false
            return true
        }
        guard bytes[offset] == UInt8(ascii: ",") else {
            throw fault("expected \",\" or \"\(Self.character(close))\", found \(found)")
        }
        let comma = offset
        offset += 1
        skipSpace()
        guard offset < bytes.count else { throw fault("the text ends before \"\(Self.character(close))\"") }
        if bytes[offset] == close {
            throw JSONFault("nothing follows this comma before \"\(Self.character(close))\"", comma..<comma + 1)
        }
        return true
    }

    /// Reads `true` or `false`.
    package mutating func boolean() throws(JSONFault) -> Bool {
        if bytes[offset] == UInt8(ascii: "t") {
            try word("true")
            return true
        }
        try word("false")
        return false
    }

    package mutating func null() throws(JSONFault) { try word("null") }

    private mutating func word(_ word: StaticString) throws(JSONFault) {
        let end = offset + word.utf8CodeUnitCount
        guard end <= bytes.count, (offset..<end).allSatisfy({ bytes[$0] == word.utf8Start[$0 - offset] }) else {
            let isName = { (byte: UInt8) in byte > 0x7F || byte == 0x5F || byte & 0xDF >= 0x41 && byte & 0xDF <= 0x5A }
            let name = String(decoding: bytes[offset...].prefix { isName($0) }.prefix(40), as: UTF8.self)
            throw JSONFault(
                "expected a value, found \(name); text stands in double quotes", offset..<offset + name.utf8.count)
        }
        offset = end
    }

    /// Throws unless only white space remains.
    package mutating func expectEnd() throws(JSONFault) {
        skipSpace()
        guard offset == bytes.count else { throw fault("expected the end, found \(found)") }
    }
}

/// The kinds of JSON values.
package enum JSONKind {
    case object, array, string, number, boolean, null

    package var description: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .boolean: "true or false"
        case .null: "null"
        }
    }
}

/// The error of a text that is not valid JSON.
package struct JSONFault: Error {
    package var message: String
    /// The offsets of the bytes at fault.
    package var range: Range<Int>

    package init(_ message: String, _ range: Range<Int>) {
        self.message = message
        self.range = range
    }
}

extension JSONReader {
    /// Returns a fault at the current byte.
    package func fault(_ message: String) -> JSONFault { JSONFault(message, offset..<offset + 1) }

    /// The character at the current offset, described for a message.
    package var found: String {
        guard offset < bytes.count else { return "the end of the text" }
        let length = UTF8Sequence.length(at: offset, in: bytes) ?? 1
        guard let scalar = String(decoding: bytes[offset..<offset + length], as: UTF8.self).unicodeScalars.first,
            DisplayWidth.isPrintable(scalar)
        else { return "byte 0x\(String(bytes[offset], radix: 16, uppercase: true))" }
        return scalar == "\"" ? "a string" : "\"\(scalar)\""
    }

    package static func character(_ byte: UInt8) -> Character { Character(UnicodeScalar(byte)) }
}
