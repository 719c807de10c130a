/// Lines of cells in columns that are as wide as their widest cell, two spaces apart.
struct TextTable: Sendable {
    enum Alignment: Sendable {
        case left, right
    }

    private var rows: [[String]]
    private let alignments: [Alignment]

    init(_ columns: (title: String, alignment: Alignment)...) { self.init(columns) }

    init(_ columns: [(title: String, alignment: Alignment)]) {
        rows = [columns.map(\.title)]
        alignments = columns.map(\.alignment)
    }

    /// Adds a row.
    ///
    /// - Parameter cells: The cells, one for each column, fit to be shown.
    mutating func add(_ cells: [String]) { rows.append(cells) }

    var lines: [String] {
        let widths = alignments.indices.map { column in rows.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
        return rows.map { row in
            alignments.indices.map { column in
                alignments[column] == .left
                    ? row[column].padded(widths[column]) : row[column].rightAligned(widths[column])
            }.joined(separator: "  ").withoutTrailingSpaces
        }
    }
}
