package import GRDB
package import TransferStore

extension HistoryColumn {
    /// The name of the column in SQLite's table, as earlier versions created it.
    package var sqlite: String { self == .isRenamed ? "isRenamed" : rawValue }

    /// The columns of a query, in the order in which ``/TransferStore/UploadHistoryEntry`` is read.
    package static let selection = allCases.map { "ledger.\($0.sqlite)" }.joined(separator: ", ")
}

extension UploadHistoryEntry {
    /// Reads a version from a row of the ``/TransferStore/HistoryColumn``s.
    package init(_ row: Row) {
        self.init { column in
            switch column.kind {
            // NULL in another column is a damage, which the subscript reports.
            case .number where column.mayBeNull: JobValue(row[stored: column.place] as Int64?)
            case .text where column.mayBeNull: JobValue(row[stored: column.place] as String?)
            case .number: .number(row[stored: column.place])
            case .text: .text(row[stored: column.place])
            case .flag: .flag(row[stored: column.place])
            }
        }
    }
}
