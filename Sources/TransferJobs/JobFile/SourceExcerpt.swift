/// A line of a job file for display in a terminal, with a caret under the bytes at fault.
///
/// Secrets are blanked, tabs become spaces, and a long line is cut around the fault.
public struct SourceExcerpt: Sendable, Hashable {
    /// The line's visible text.
    public var text: String
    /// The number of terminal columns before the caret.
    public var indent: Int
    /// The number of terminal columns under which the caret and its tail extend.
    public var width: Int

    package func rendered(line: Int) -> String {
        let number = String(line)
        let gutter = String(repeating: " ", count: max(0, 5 - number.count)) + number
        let caret = "^" + String(repeating: "~", count: max(0, width - 1))
        return "\(gutter) | \(text)\n\(String(repeating: " ", count: gutter.count)) | "
            + "\(String(repeating: " ", count: indent))\(caret)\n"
    }
}

extension SourceExcerpt {
    /// The maximum width of the text, which fits 80 columns together with the gutter.
    private static let maxWidth = 72
    /// The number of columns kept to the left of the fault where the line is cut.
    private static let leftContext = 30
    private static let tab = "    "

    private struct Cell {
        var text: Character
        var width: Int
        var offset: Int
    }

    /// Creates an excerpt.
    ///
    /// - Parameters:
    ///   - line: The bytes of the line that may be shown.
    ///   - marked: The bytes at fault.
    ///   - blanks: The ranges of secrets, in ascending order.
    package init(line: Range<Int>, marked: Range<Int>, blanks: [Range<Int>], in bytes: UnsafeBufferPointer<UInt8>) {
        // The line's terminator is not shown.
        let hasReturn = !line.isEmpty && bytes[line.upperBound - 1] == UInt8(ascii: "\r")
        let line = hasReturn ? line.lowerBound..<line.upperBound - 1 : line
        var cells = Self.cells(line, blanks: blanks, in: bytes)
        while let last = cells.last, last.text == " ", last.offset >= marked.upperBound { cells.removeLast() }
        var first = cells.firstIndex { $0.offset >= marked.lowerBound } ?? cells.count
        var end = cells.firstIndex { $0.offset >= marked.upperBound } ?? cells.count
        func width(_ range: Range<Int>) -> Int { cells[range].reduce(0) { $0 + $1.width } }

        if width(0..<cells.count) > Self.maxWidth {
            var cut = 0
            while width(cut..<first) > Self.leftContext, width(cut..<cells.count) > Self.maxWidth - 1 { cut += 1 }
            if cut > 0 {
                cells.replaceSubrange(0..<cut, with: [Cell(text: "…", width: 1, offset: line.lowerBound)])
                first -= cut - 1
                end -= cut - 1
            }
            var length = 0
            var total = 0
            while length < cells.count, total + cells[length].width < Self.maxWidth {
                total += cells[length].width
                length += 1
            }
            if length < cells.count {
                cells.replaceSubrange(length..., with: [Cell(text: "…", width: 1, offset: line.upperBound)])
            }
            first = min(first, cells.count)
            end = max(first, min(end, cells.count))
        }
        text = String(cells.map(\.text))
        indent = width(0..<first)
        self.width = max(1, width(first..<end))
    }

    private static func cells(
        _ line: Range<Int>, blanks: [Range<Int>], in bytes: UnsafeBufferPointer<UInt8>
    ) -> [Cell] {
        var cells: [Cell] = []
        var blanks = blanks[...]
        var index = line.lowerBound
        while index < line.upperBound {
            while let blank = blanks.first, blank.upperBound <= index { blanks.removeFirst() }
            if let blank = blanks.first, blank.contains(index) {
                cells += "***".map { Cell(text: $0, width: 1, offset: index) }
                index = blank.upperBound
                continue
            }
            guard let length = UTF8Sequence.length(at: index, in: bytes),
                let scalar = String(decoding: bytes[index..<index + length], as: UTF8.self).unicodeScalars.first
            else {
                cells.append(Cell(text: "\u{FFFD}", width: 1, offset: index))
                index += 1
                continue
            }
            if scalar == "\t" {
                cells += tab.map { Cell(text: $0, width: 1, offset: index) }
            } else if !DisplayWidth.isPrintable(scalar) {
                cells.append(Cell(text: "\u{FFFD}", width: 1, offset: index))
            } else {
                cells.append(Cell(text: Character(scalar), width: DisplayWidth.of(scalar), offset: index))
            }
            index += length
        }
        return cells
    }
}
