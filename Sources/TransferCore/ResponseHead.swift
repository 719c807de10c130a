/// The status line and fields of an answer, kept as the bytes that came and read only where somebody asks.
///
/// Most transfers need two fields of twenty, so nothing is parsed ahead of time.
public struct ResponseHead: Sendable, Hashable {
    public let status: Int
    /// The block of field lines, each ended by CRLF or LF, without the status line.
    public let block: [UInt8]

    public init(status: Int, block: [UInt8]) {
        self.status = status
        self.block = block
    }

    public init(status: Int, fields: [HeaderField]) {
        self.init(status: status, block: Array(fields.map { "\($0.name): \($0.value)\r\n" }.joined().utf8))
    }

    /// The first value of the field, without surrounding white space; bytes that aren't UTF-8 are read as ISO-8859-1.
    public func value(_ name: StaticString) -> String? {
        let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        let found = block.withUnsafeBufferPointer { bytes -> Range<Int>? in
            var start = 0
            while start + name.count < bytes.count {
                var end = start
                while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
                if end - start > name.count, bytes[start + name.count] == UInt8(ascii: ":"),
                    name.indices.allSatisfy({ bytes[start + $0].asciiLowercased == name[$0].asciiLowercased })
                {
                    return start + name.count + 1..<end
                }
                start = end + 1
            }
            return nil
        }
        return found.map { Self.text(block[$0]) }
    }

    /// Every field, in the order it came.
    public var fields: [HeaderField] {
        var result: [HeaderField] = []
        forEachLine { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
            result.append(HeaderField(Self.text(line[..<colon]), Self.text(line[(colon + 1)...])))
        }
        return result
    }

    /// The length that Content-Length names; `nil` when it's missing or no number.
    public var contentLength: Int64? {
        value("Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The content coding applied to the body, or `nil` for none.
    public var contentCoding: String? {
        guard let coding = value("Content-Encoding"), !coding.isEmpty,
            !coding.asciiCaseInsensitiveEquals("identity")
        else { return nil }
        return coding
    }

    private func forEachLine(_ body: (ArraySlice<UInt8>) -> Void) {
        var start = block.startIndex
        while start < block.endIndex {
            let newline = block[start...].firstIndex(of: UInt8(ascii: "\n")) ?? block.endIndex
            body(block[start..<newline])
            start = newline + 1
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        let trimmed = bytes[first...last]
        if let utf8 = String(validating: trimmed, as: UTF8.self) { return utf8 }
        return String(String.UnicodeScalarView(trimmed.map { Unicode.Scalar($0) }))
    }
}
