import TransferCore

/// The strict check of a head's field lines, before any other code relies on the head.
///
/// libcurl 7.88 reads heads leniently. Of `Content-Length: 5, 11`, `5abc` and `1 1` it takes the first number, and it
/// ignores a folded `Transfer-Encoding`. A body framed so is cut or contains foreign bytes, without any error. When a
/// head is judged here, libcurl has already framed the body. Therefore an ambiguous head is not reinterpreted: it ends
/// the transfer and the connection (RFC 9112 §6.3).
struct HeadRule {
    /// The fields that determine which bytes of the connection are the body, or which part of the file they are.
    private static let framing = ["content-length", "transfer-encoding", "content-range"]

    /// The longest head in bytes, which is libcurl's bound since 8.3; older versions only bound each line.
    static let largest = 300 << 10
    static let tooLong = "the server's answer has a head of more than 300 KiB"

    /// Judges the field lines of a head.
    ///
    /// - Parameter block: The field lines as they came, each ended by CRLF or LF.
    /// - Returns: The lines with each fold replaced by a space (RFC 9112 §5.2), and with one plain Content-Length in
    ///   place of several equal ones. An unchanged head is the block itself.
    /// - Throws: `badResponse` for a head whose framing is ambiguous.
    static func judge(_ block: [UInt8]) throws(TransferError) -> [UInt8] {
        let lines = try unfolded(block)
        var length: Substring.UTF8View?
        var lengths = 0
        var range: ArraySlice<UInt8>?
        for line in lines ?? split(block) {
            guard let (name, value) = field(line) else { continue }
            if name.isNamed("content-range") {
                let value = trimmed(value)
                if let known = range, known != value { throw fault("ranges that differ: \(quoted(value))") }
                range = value
            }
            guard name.isNamed("content-length") else { continue }
            for item in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                lengths += 1
                let text = Substring(decoding: trimmed(item), as: UTF8.self).utf8
                guard !text.isEmpty, text.count <= 18, text.allSatisfy({ (0x30...0x39).contains($0) }) else {
                    throw fault("a Content-Length that is no number: \(quoted(value))")
                }
                let digits = text.drop { $0 == 0x30 }
                if let known = length, !known.elementsEqual(digits) {
                    throw fault("lengths that differ: \(quoted(value))")
                }
                length = digits
            }
        }
        if lengths <= 1 { return lines.map { Array($0.joined()) } ?? block }
        // Several equal lengths are replaced by one for all later readers.
        let number = length.map { $0.isEmpty ? "0" : String(Substring($0)) } ?? "0"
        var result = Array("Content-Length: \(number)\r\n".utf8)
        for line in lines ?? split(block) {
            if let (name, _) = field(line), name.isNamed("content-length") { continue }
            result += line
        }
        return result
    }

    // MARK: Lines

    private static func split(_ block: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = block[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
            lines.append(rest[..<end])
            rest = rest[end...]
        }
        return lines
    }

    /// Joins folded lines.
    ///
    /// - Returns: `nil` where no line is a fold.
    private static func unfolded(_ block: [UInt8]) throws(TransferError) -> [ArraySlice<UInt8>]? {
        guard hasFold(block) else { return nil }
        var lines: [ArraySlice<UInt8>] = []
        for line in split(block) {
            guard let first = line.first, first == 0x20 || first == 0x09 else {
                lines.append(line)
                continue
            }
            // An empty line is no field that could be continued either.
            guard let previous = lines.popLast(), !previous.dropLineEnd().isEmpty else {
                throw fault("a first field line that begins with white space")
            }
            if let (name, _) = field(previous), framing.contains(where: { name.isNamed($0) }) {
                throw fault("a folded \(quoted(name))")
            }
            lines.append(ArraySlice(previous.dropLineEnd() + [0x20] + line.drop { $0 == 0x20 || $0 == 0x09 }))
        }
        return lines
    }

    private static func hasFold(_ block: [UInt8]) -> Bool {
        var isStart = true
        for byte in block {
            if isStart, byte == 0x20 || byte == 0x09 { return true }
            isStart = byte == 0x0A
        }
        return false
    }

    private static func field(_ line: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return (trimmed(line[..<colon]), line[(colon + 1)...])
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
        let start = bytes.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start.prefix(0) }
        return start[...last]
    }

    // MARK: Words

    private static func quoted(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: trimmed(bytes).prefix(60), as: UTF8.self).debugDescription
    }

    private static func fault(_ what: String) -> TransferError {
        TransferError(.badResponse, "the server's answer has \(what)", isTransient: true)
    }
}

extension ArraySlice<UInt8> {
    /// Returns whether the bytes are a field's name, compared without case.
    ///
    /// - Parameter name: The name in lower case.
    fileprivate func isNamed(_ name: String) -> Bool {
        count == name.utf8.count && zip(self, name.utf8).allSatisfy { $0 | 0x20 == $1 }
    }

    fileprivate func dropLineEnd() -> ArraySlice<UInt8> {
        var line = self
        while let last = line.last, last == 0x0A || last == 0x0D { line.removeLast() }
        return line
    }
}
