/// A number token.
package struct JSONNumber {
    package var range: Range<Int>
    /// Whether the number has neither a fraction nor an exponent.
    package var isInteger: Bool
}

extension JSONReader {
    /// Reads the number at the current offset.
    package mutating func number() throws(JSONFault) -> JSONNumber {
        let start = offset
        var isInteger = true
        if at(UInt8(ascii: "-")) { offset += 1 }
        if at(UInt8(ascii: "0")) {
            offset += 1
            guard !isAtDigit else { throw JSONFault("a number cannot begin with 0", start..<offset) }
        } else {
            try digits(from: start)
        }
        if at(UInt8(ascii: ".")) {
            isInteger = false
            offset += 1
            try digits(from: start)
        }
        if at(UInt8(ascii: "e")) || at(UInt8(ascii: "E")) {
            isInteger = false
            offset += 1
            if at(UInt8(ascii: "+")) || at(UInt8(ascii: "-")) { offset += 1 }
            try digits(from: start)
        }
        return JSONNumber(range: start..<offset, isInteger: isInteger)
    }

    private func at(_ byte: UInt8) -> Bool { offset < bytes.count && bytes[offset] == byte }

    private var isAtDigit: Bool {
        offset < bytes.count && bytes[offset] >= UInt8(ascii: "0") && bytes[offset] <= UInt8(ascii: "9")
    }

    private mutating func digits(from start: Int) throws(JSONFault) {
        guard isAtDigit else { throw JSONFault("this number lacks a digit", start..<max(offset, start + 1)) }
        while isAtDigit { offset += 1 }
    }

    /// Returns a number as an integer.
    ///
    /// - Returns: `nil` where the number is not whole or does not fit.
    package func integer(_ number: JSONNumber) -> Int? {
        guard number.isInteger else { return double(number).flatMap { Int(exactly: $0) } }
        var index = number.range.lowerBound
        let isNegative = bytes[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        var value = 0
        while index < number.range.upperBound {
            let digit = Int(bytes[index] - UInt8(ascii: "0"))
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            // Counting down reaches Int.min, which has no positive counterpart.
            let (sum, carry) = product.subtractingReportingOverflow(digit)
            guard !overflow, !carry else { return nil }
            value = sum
            index += 1
        }
        if isNegative { return value }
        return value == Int.min ? nil : -value
    }

    package func double(_ number: JSONNumber) -> Double? {
        Double(String(decoding: bytes[number.range], as: UTF8.self))
    }

    /// Returns a number of seconds as a duration, exact to the attosecond unless it has an exponent.
    ///
    /// - Returns: `nil` for a negative number and for 1e12 seconds or more.
    package func seconds(_ number: JSONNumber) -> Duration? {
        let text = bytes[number.range]
        guard text.first != UInt8(ascii: "-") else { return nil }
        guard !text.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else {
            guard let seconds = double(number), seconds < 1e12 else { return nil }
            return .seconds(seconds)
        }
        var seconds: Int64 = 0
        var attoseconds: Int64 = 0
        var unit: Int64 = 1_000_000_000_000_000_000
        var isFraction = false
        for byte in text {
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if isFraction {
                unit /= 10
                attoseconds += Int64(byte - UInt8(ascii: "0")) * unit
            } else {
                seconds = seconds * 10 + Int64(byte - UInt8(ascii: "0"))
                guard seconds < 1_000_000_000_000 else { return nil }
            }
        }
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}
