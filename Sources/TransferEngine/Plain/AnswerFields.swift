import TransferCore

/// What the fields of an answer say about its end, and its connection's.
struct AnswerFields {
    /// The field lines, each with its line end.
    private(set) var block: [UInt8]
    /// Bytes of the body.
    private(set) var length: Int64?
    private(set) var isChunked = false
    /// Its last coding isn't chunked: only the connection's end tells its end (RFC 9112 §6.3).
    private(set) var isCoded = false
    private(set) var closes = false
    private(set) var keepsAlive = false

    init(block: [UInt8]) { self.block = block }

    /// - Parameter hasBody: Where there can't be one, it doesn't matter what is said about it.
    /// - Throws: `badResponse` for lengths that differ or are none, and for a first line that goes on from none.
    mutating func read(hasBody: Bool) throws(TransferError) {
        var start = 0
        while start < block.count {
            let end = block[start...].firstIndex(of: 0x0A) ?? block.count - 1
            defer { start = end + 1 }
            // A line that goes on (RFC 9112 §5.2): it's one with that before it.
            if block[start] == 0x20 || block[start] == 0x09 {
                guard start > 0 else { throw .noAnswer }
                block[start - 1] = 0x20
                if start > 1, block[start - 2] == 0x0D { block[start - 2] = 0x20 }
                continue
            }
            // Only three of them matter, and most others begin with another letter.
            let letter = block[start] | 0x20
            guard letter == UInt8(ascii: "c") || letter == UInt8(ascii: "t") else { continue }
            if hasBody, let value = value(of: "content-length", start, end) {
                try readLength(value)
            } else if hasBody, let value = value(of: "transfer-encoding", start, end) {
                readCodings(value)
            } else if let value = value(of: "connection", start, end) {
                for token in value.split(separator: UInt8(ascii: ",")).map(Self.trimmed) {
                    if token.elementsEqual("close".utf8) { closes = true }
                    if token.elementsEqual("keep-alive".utf8) { keepsAlive = true }
                }
            }
        }
    }

    /// The field's value in lower case, if the line has that name.
    ///
    /// - Parameter name: In lower case.
    private func value(of name: StaticString, _ start: Int, _ end: Int) -> [UInt8]? {
        let count = name.utf8CodeUnitCount
        guard start + count < end, block[start + count] == UInt8(ascii: ":") else { return nil }
        for index in 0..<count where block[start + index].asciiLowercased != name.utf8Start[index] { return nil }
        return Self.trimmed(block[(start + count + 1)..<end]).map(\.asciiLowercased)
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        let rest = bytes.drop(while: isSpace)
        guard let last = rest.lastIndex(where: { !isSpace($0) }) else { return rest.prefix(0) }
        return rest[...last]
    }

    /// The last one counts. What other codings hide of an answer's words is nobody's loss.
    private mutating func readCodings(_ value: [UInt8]) {
        guard let last = value.split(separator: UInt8(ascii: ",")).map(Self.trimmed).last(where: { !$0.isEmpty }),
            !last.elementsEqual("identity".utf8)
        else { return }
        isChunked = last.elementsEqual("chunked".utf8)
        isCoded = !isChunked
    }

    /// One number, or the same several times (RFC 9110 §8.6).
    private mutating func readLength(_ value: [UInt8]) throws(TransferError) {
        for part in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(Self.trimmed) {
            guard (1...18).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw .badLength
            }
            let number = part.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
            guard length == nil || length == number else { throw .badLength }
            length = number
        }
    }
}

extension TransferError {
    fileprivate static let badLength = TransferError(
        .badResponse, "not an HTTP answer: its Content-Length is no length", isTransient: true)
}
