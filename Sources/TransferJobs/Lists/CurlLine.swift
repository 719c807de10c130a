/// A line of the file that `curl --config` reads: an option, and its value if it has one.
package struct CurlLine: Sendable {
    /// The name as written, with its dashes if there are any.
    package var name: String
    package var nameRange: Range<Int>
    /// The value; `nil` where nothing follows the name.
    package var value: String?
    package var valueRange: Range<Int>

    /// The reason why a line cannot be read.
    package struct Fault: Error {
        package var message: String
        package var range: Range<Int>
    }

    /// Reads a line.
    ///
    /// - Parameter line: The bytes of the line, valid UTF-8, without its terminator.
    /// - Returns: `nil` for an empty line and for a comment.
    package static func read(_ line: [UInt8]) throws(Fault) -> CurlLine? {
        var index = 0
        while index < line.count, isBlank(line[index]) { index += 1 }
        guard index < line.count, line[index] != UInt8(ascii: "#") else { return nil }
        let start = index
        let isDashed = line[index] == UInt8(ascii: "-")
        let isLong = line[index...].starts(with: "--".utf8)
        // Without leading dashes, a colon or an equals sign ends the name too; other tools write `--name=value`.
        while index < line.count, !isBlank(line[index]) {
            if line[index] == UInt8(ascii: "="), !isDashed || isLong { break }
            if line[index] == UInt8(ascii: ":"), !isDashed { break }
            index += 1
        }
        let nameRange = start..<index
        let name = String(decoding: line[nameRange], as: UTF8.self)
        while index < line.count, isBlank(line[index]) || isSeparator(line[index], isDashed && !isLong) { index += 1 }
        guard index < line.count, line[index] != UInt8(ascii: "#") else {
            return CurlLine(name: name, nameRange: nameRange, value: nil, valueRange: nameRange)
        }
        let isQuoted = line[index] == UInt8(ascii: "\"")
        let (value, range) = isQuoted ? try quoted(line, from: index) : try plain(line, from: index)
        return CurlLine(name: name, nameRange: nameRange, value: value, valueRange: range)
    }

    private static func plain(_ line: [UInt8], from start: Int) throws(Fault) -> (String, Range<Int>) {
        let end = line[start...].firstIndex(where: isBlank) ?? line.count
        try checkRest(line, from: end, "a value with a blank in it stands in double quotes")
        return (String(decoding: line[start..<end], as: UTF8.self), start..<end)
    }

    private static func quoted(_ line: [UInt8], from start: Int) throws(Fault) -> (String, Range<Int>) {
        var bytes: [UInt8] = []
        var index = start + 1
        while index < line.count, line[index] != UInt8(ascii: "\"") {
            if line[index] == UInt8(ascii: "\\"), index + 1 < line.count {
                index += 1
                bytes.append(escapes[line[index]] ?? line[index])
            } else {
                bytes.append(line[index])
            }
            index += 1
        }
        guard index < line.count else {
            throw Fault(message: "the double quotes are not closed", range: start..<line.count)
        }
        try checkRest(line, from: index + 1, "nothing follows a value in quotes; \\\" is a quote within them")
        return (String(decoding: bytes, as: UTF8.self), start..<index + 1)
    }

    private static func checkRest(_ line: [UInt8], from end: Int, _ message: String) throws(Fault) {
        guard let rest = line[end...].firstIndex(where: { !isBlank($0) }), line[rest] != UInt8(ascii: "#") else {
            return
        }
        throw Fault(message: message, range: rest..<line.count)
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "t"): 0x09, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "v"): 0x0B,
    ]

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func isSeparator(_ byte: UInt8, _ isShort: Bool) -> Bool {
        !isShort && (byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":"))
    }
}
