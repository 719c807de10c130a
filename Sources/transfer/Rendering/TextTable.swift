/// Lines of cells in columns that are as wide as their widest cell, two spaces apart.
///
/// Each row is a block where the columns do not fit the terminal: its first cell, and below it the other cells behind
/// their titles, as many in a line as fit. No cell is cut, so that names can be copied.
struct TextTable: Sendable {
    enum Alignment: Sendable {
        case left, right
    }

    typealias Column = (title: String, alignment: Alignment)

    private var rows: [[String]] = []
    private let columns: [Column]

    init(_ columns: Column...) { self.init(columns) }

    init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row.
    ///
    /// - Parameter cells: The cells, one for each column, fit to be shown.
    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// Returns the lines.
    ///
    /// - Parameter width: The columns of the terminal; `nil` for output of any width.
    func lines(width: Int? = nil) -> [String] {
        let widths = columns.indices.map { column in
            rows.reduce(DisplayWidth.of(columns[column].title)) { max($0, DisplayWidth.of($1[column])) }
        }
        guard let width, Self.width(of: widths) > width else {
            return ([columns.map(\.title)] + rows).map { Self.line($0, columns, widths) }
        }
        return rows.flatMap { Self.block($0, columns, width: width) }
    }

    /// Returns the width of a line.
    static func width(of widths: [Int]) -> Int { widths.reduce(0, +) + 2 * max(0, widths.count - 1) }

    /// Returns a line of cells in columns.
    static func line(_ cells: [String], _ columns: [Column], _ widths: [Int]) -> String {
        columns.indices.map { column in
            columns[column].alignment == .left
                ? cells[column].padded(widths[column]) : cells[column].rightAligned(widths[column])
        }.joined(separator: "  ").withoutTrailingSpaces
    }

    /// Returns a row as a block. Cells without a value are left out.
    static func block(_ cells: [String], _ columns: [Column], width: Int) -> [String] {
        let pairs = zip(columns, cells).dropFirst().compactMap { column, cell in
            cell.isEmpty || cell == "-" ? nil : "\(column.title) \(cell)"
        }
        return TextWrap.pieces(cells.first.map { [$0] } ?? [], width: width)
            + TextWrap.pieces(pairs, width: width, indent: 2, gap: 2)
    }
}

/// The rule for text that is wider than the terminal.
enum TextWrap {
    /// Places pieces in lines, as many in each as fit. A piece that is too wide for a line continues in the next one.
    ///
    /// - Parameters:
    ///   - indent: The spaces before each line.
    ///   - gap: The spaces between two pieces.
    static func pieces(_ pieces: [String], width: Int, indent: Int = 0, gap: Int = 1) -> [String] {
        let room = max(1, width - indent)
        var lines: [String] = []
        var line = ""
        for piece in pieces {
            var rest = piece
            if !line.isEmpty {
                let joined = line + String(repeating: " ", count: gap) + rest
                if DisplayWidth.of(joined) <= room {
                    line = joined
                    continue
                }
                lines.append(line)
            }
            while DisplayWidth.of(rest) > room {
                var head = rest.prefix(columns: room)
                // A character that is wider than the line stands alone.
                if head.isEmpty { head = String(rest.prefix(1)) }
                // A break at a space reads better.
                if let space = head.lastIndex(of: " "), space > head.startIndex { head = String(head[..<space]) }
                lines.append(head)
                rest = String(rest.dropFirst(head.count).drop { $0 == " " })
            }
            line = rest
        }
        if !line.isEmpty { lines.append(line) }
        return lines.map { String(repeating: " ", count: indent) + $0 }
    }

    /// Wraps a labelled line (`  rule      text`) at its words; further lines begin below the text.
    ///
    /// - Parameter indent: The columns of the label with the spaces around it.
    static func labelled(_ line: String, width: Int?, indent: Int) -> [String] {
        guard let width, DisplayWidth.of(line) > width, indent < width, line.count > indent else { return [line] }
        let words = line.dropFirst(indent).split(separator: " ").map(String.init)
        var lines = pieces(words, width: width, indent: indent)
        if let first = lines.first { lines[0] = String(line.prefix(indent)) + first.dropFirst(indent) }
        return lines
    }
}
