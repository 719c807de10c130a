package import TransferStore

extension JobColumn {
    /// Returns a statement that sets columns of one job, none of them its state. Its parameters are the values, and the
    /// job's number.
    package static func update(_ columns: [JobColumn]) -> String {
        "UPDATE job SET \(columns.map { "\($0.sqlite) = ?" }.joined(separator: ", ")) WHERE id = ?"
    }

    /// The name of the column in SQLite's table, as earlier versions created it.
    package var sqlite: String {
        switch self {
        case .staging: "generation"
        case .place: "column"
        case .recheck: "mustRefresh"
        case .endNumber: "endSequence"
        case .finalURL: "finalURL"
        default: Self.camelCase[self] ?? rawValue
        }
    }

    private static let camelCase: [JobColumn: String] = Dictionary(
        uniqueKeysWithValues: allCases.map { column in
            let words = column.rawValue.split(separator: "_")
            return (
                column,
                words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            )
        })
}
