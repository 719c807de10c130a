/// A string token: the bytes between its quotes.
package struct JSONText {
    package var range: Range<Int>
    package var isEscaped: Bool

    /// The range with the quotes.
    package var token: Range<Int> { range.lowerBound - 1..<range.upperBound + 1 }
}

extension JSONReader {
    /// Reads the string at the current offset, and validates its escapes and its UTF-8.
    package mutating func string() throws(JSONFault) -> JSONText {
        let start = offset + 1
        var index = start
        var isEscaped = false
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                offset = index + 1
                return JSONText(range: start..<index, isEscaped: isEscaped)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                index = try escape(at: index)
            } else if byte >= 0x80 {
                guard let length = UTF8Sequence.length(at: index, in: bytes) else {
                    throw JSONFault("invalid UTF-8", index..<index + 1)
                }
                index += length
            } else if byte >= 0x20 {
                index += 1
            } else if byte == 0x0A || byte == 0x0D {
                break
            } else {
                throw JSONFault(
                    "a string cannot hold a raw control character; write \"\\u00\(String(byte, radix: 16).padded)\"",
                    index..<index + 1)
            }
        }
        throw JSONFault("this string has no closing quote", start - 1..<index)
    }

    /// Validates the escape at `index`.
    ///
    /// - Returns: The offset after the escape; after both escapes of a surrogate pair.
    private func escape(at index: Int) throws(JSONFault) -> Int {
        guard index + 1 < bytes.count else { throw JSONFault("this string has no closing quote", index..<index + 1) }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return index + 2
        case UInt8(ascii: "u"):
            guard let unit = codeUnit(at: index) else {
                throw JSONFault("\"\\u\" needs four hexadecimal digits", index..<index + 2)
            }
            guard unit & 0xF800 == 0xD800 else { return index + 6 }
            guard unit < 0xDC00, let low = codeUnit(at: index + 6), low & 0xFC00 == 0xDC00 else {
                throw JSONFault("half of a surrogate pair", index..<index + 6)
            }
            return index + 12
        default:
            throw JSONFault("JSON has no such escape; a backslash is written \"\\\\\"", index..<index + 2)
        }
    }

    /// Returns the UTF-16 code unit of a `\uXXXX` at `index`.
    private func codeUnit(at index: Int) -> UInt32? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for position in index + 2..<index + 6 {
            guard let digit = Character(UnicodeScalar(bytes[position])).hexDigitValue else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Returns the text of a token that `string()` has validated.
    @inline(__always)
    package func string(_ text: JSONText) -> String {
        text.isEscaped
            ? unescaped(text) : String(decoding: UnsafeBufferPointer(rebasing: bytes[text.range]), as: UTF8.self)
    }

    private func unescaped(_ text: JSONText) -> String {
        var result = ""
        var index = text.range.lowerBound
        var plain = index
        func flush(to end: Int) { result += String(decoding: bytes[plain..<end], as: UTF8.self) }
        while index < text.range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            flush(to: index)
            var length = 2
            switch bytes[index + 1] {
            case UInt8(ascii: "b"): result.unicodeScalars.append("\u{8}")
            case UInt8(ascii: "f"): result.unicodeScalars.append("\u{C}")
            case UInt8(ascii: "n"): result.unicodeScalars.append("\n")
            case UInt8(ascii: "r"): result.unicodeScalars.append("\r")
            case UInt8(ascii: "t"): result.unicodeScalars.append("\t")
            case UInt8(ascii: "u"):
                let high = codeUnit(at: index) ?? 0xFFFD
                length = 6
                var scalar = high
                if high & 0xFC00 == 0xD800, let low = codeUnit(at: index + 6) {
                    scalar = 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
                    length = 12
                }
                result.unicodeScalars.append(UnicodeScalar(scalar) ?? "\u{FFFD}")
            case let byte: result.unicodeScalars.append(UnicodeScalar(byte))
            }
            index += length
            plain = index
        }
        flush(to: index)
        return result
    }
}

/// Well-formed UTF-8 (Unicode 16, table 3-7): no overlong forms, no surrogates, and no code points above U+10FFFF.
package enum UTF8Sequence {
    /// Returns the length of the sequence at `index`; `nil` where it is malformed or cut short.
    package static func length(at index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        func byte(_ distance: Int) -> UInt8 { index + distance < bytes.count ? bytes[index + distance] : 0 }
        func isTail(_ distance: Int) -> Bool { byte(distance) & 0xC0 == 0x80 }
        let second = byte(1)
        switch bytes[index] {
        case 0..<0x80: return 1
        case 0xC2...0xDF: return isTail(1) ? 2 : nil
        case 0xE0: return second >= 0xA0 && isTail(1) && isTail(2) ? 3 : nil
        case 0xED: return second < 0xA0 && isTail(1) && isTail(2) ? 3 : nil
        case 0xE1...0xEF: return isTail(1) && isTail(2) ? 3 : nil
        case 0xF0: return second >= 0x90 && isTail(1) && isTail(2) && isTail(3) ? 4 : nil
        case 0xF4: return second < 0x90 && isTail(1) && isTail(2) && isTail(3) ? 4 : nil
        case 0xF1...0xF3: return isTail(1) && isTail(2) && isTail(3) ? 4 : nil
        default: return nil
        }
    }
}

extension String {
    fileprivate var padded: String { utf8.count < 2 ? "0" + self : self }
}
