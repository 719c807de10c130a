/// A record of comma-separated values (RFC 4180). Semicolons replace the commas in countries with a decimal comma.
package struct CSVRecord: Sendable, Hashable {
    package struct Cell: Sendable, Hashable {
        package var text: String
        /// The cell's bytes, with the quotes.
        package var range: Range<Int>
    }

    /// The reason why a record cannot be read.
    package struct Fault: Error, Sendable, Hashable {
        package var message: String
        package var range: Range<Int>
    }

    /// The character between two cells.
    package enum Separator: UInt8, Sendable, CaseIterable {
        case comma = 0x2C
        case semicolon = 0x3B
        case tab = 0x09

        /// Determines the separator from a header, whose names contain no separator: the first one outside quotes.
        package init(header: [UInt8]) {
            var isQuoted = false
            for byte in header {
                if byte == quote { isQuoted.toggle() }
                if !isQuoted, let separator = Separator(rawValue: byte) {
                    self = separator
                    return
                }
            }
            self = .comma
        }

        /// Determines the separator from the line that spreadsheets write above the header: `sep=;`.
        package init?(declaredBy line: String) {
            guard line.utf8.count >= 5, line.utf8.count <= 6, line.lowercased().hasPrefix("sep="),
                let separator = Separator(rawValue: line.utf8[line.utf8.index(line.utf8.startIndex, offsetBy: 4)])
            else { return nil }
            self = separator
        }

        package var name: String {
            switch self {
            case .comma: "comma"
            case .semicolon: "semicolon"
            case .tab: "tab"
            }
        }
    }

    package private(set) var cells: [Cell] = []
    private let separator: Separator

    /// Parses a record.
    ///
    /// - Parameter bytes: The record, valid UTF-8, with line breaks only within quotes.
    package init(_ bytes: [UInt8], separator: Separator = .comma) throws(Fault) {
        self.separator = separator
        var index = 0
        while true {
            let cell = try Self.cell(bytes, from: &index, separator)
            cells.append(cell)
            guard index < bytes.count else { return }
            // Skip the separator.
            index += 1
        }
    }

    /// Returns whether the record continues in the next line.
    package static func isOpen(_ bytes: [UInt8]) -> Bool {
        // A quote within quotes is doubled, so that the number of quotes in a complete record is even.
        !bytes.count(where: { $0 == quote }).isMultiple(of: 2)
    }

    package var isBlank: Bool { cells.allSatisfy(\.text.isEmpty) }

    private static func cell(
        _ bytes: [UInt8], from index: inout Int, _ separator: Separator
    ) throws(Fault) -> Cell {
        func isBlank(_ byte: UInt8) -> Bool { byte != separator.rawValue && Self.isBlank(byte) }
        while index < bytes.count, isBlank(bytes[index]) { index += 1 }
        let start = index
        guard index < bytes.count, bytes[index] == quote else {
            while index < bytes.count, bytes[index] != separator.rawValue {
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
            throw Fault(message: "the quotes are not closed", range: start..<start + 1)
        }
        index += 1
        let end = index
        while index < bytes.count, isBlank(bytes[index]) { index += 1 }
        guard index == bytes.count || bytes[index] == separator.rawValue else {
            throw Fault(message: "a \(separator.name) follows the closing quote", range: index..<index + 1)
        }
        return Cell(text: String(decoding: text, as: UTF8.self), range: start..<end)
    }

    private static let quote = UInt8(ascii: "\"")

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
