/// A line of a job file, fit for a terminal, with what a fault is about marked under it.
///
/// Secrets are blanked, tabs are spaces, and a long line is cut around the fault.
public struct SourceExcerpt: Sendable, Hashable {
    public var text: String
    /// Columns of a terminal before the caret.
    public var indent: Int
    /// Columns of a terminal that the caret and its tail take.
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
    /// With the gutter it fits 80 columns.
    private static let maxWidth = 72
    /// What stays visible to the left of the fault when the line is cut.
    private static let leftContext = 30
    private static let tab = "    "

    private struct Cell {
        var text: Character
        var width: Int
        var offset: Int
    }

    /// - Parameters:
    ///   - line: The bytes of the line that may be shown.
    ///   - marked: The bytes the fault is about.
    ///   - blanks: Ranges of secrets, ascending.
    package init(line: Range<Int>, marked: Range<Int>, blanks: [Range<Int>], in bytes: UnsafeBufferPointer<UInt8>) {
        // What ends the line is none of it.
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
