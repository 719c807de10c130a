/// A record of comma-separated values (RFC 4180).
package struct CSVRecord: Sendable, Hashable {
    package struct Cell: Sendable, Hashable {
        package var text: String
        /// Its bytes, with its quotes.
        package var range: Range<Int>
    }

    /// Why a record can't be read.
    package struct Fault: Error, Sendable, Hashable {
        package var message: String
        package var range: Range<Int>
    }

    package private(set) var cells: [Cell] = []

    /// - Parameter bytes: The record, valid UTF-8; line breaks are within quotes.
    package init(_ bytes: [UInt8]) throws(Fault) {
        var index = 0
        while true {
            let cell = try Self.cell(bytes, from: &index)
            cells.append(cell)
            guard index < bytes.count else { return }
            // The comma.
            index += 1
        }
    }

    /// Whether the record goes on in the next line.
    package static func isOpen(_ bytes: [UInt8]) -> Bool {
        // A quote within quotes is doubled, so that each pair closes itself.
        !bytes.count(where: { $0 == quote }).isMultiple(of: 2)
    }

    package var isBlank: Bool { cells.allSatisfy(\.text.isEmpty) }

    private static func cell(_ bytes: [UInt8], from index: inout Int) throws(Fault) -> Cell {
        while index < bytes.count, isBlank(bytes[index]) { index += 1 }
        let start = index
        guard index < bytes.count, bytes[index] == quote else {
            while index < bytes.count, bytes[index] != comma {
                if bytes[index] == quote {
                    throw Fault(
                        message: "a cell with a quote in it stands in quotes, and the quote is doubled",
                        range: index..<index + 1)
                }
                index += 1
            }
            var end = index
            while end > start, isBlank(bytes[end - 1]) { end -= 1 }
            return Cell(text: String(decoding: bytes[start..<end], as: UTF8.self), range: start..<max(end, start))
        }
        var text: [UInt8] = []
        index += 1
        while index < bytes.count {
            if bytes[index] == quote {
                guard index + 1 < bytes.count, bytes[index + 1] == quote else { break }
                index += 1
            }
            text.append(bytes[index])
            index += 1
        }
        guard index < bytes.count else {
            throw Fault(message: "the quotes aren't closed", range: start..<start + 1)
        }
        index += 1
        let end = index
        while index < bytes.count, isBlank(bytes[index]) { index += 1 }
        guard index == bytes.count || bytes[index] == comma else {
            throw Fault(message: "a comma follows the closing quote", range: index..<index + 1)
        }
        return Cell(text: String(decoding: text, as: UTF8.self), range: start..<end)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ",")

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
