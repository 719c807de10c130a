package import GRDB
import TransferStore

/// An insertion of rows, several by one statement. The beginning and end of a statement cost SQLite as much as a row.
package struct GroupedInsert<Row> {
    private let single: BoundStatement
    private let several: BoundStatement
    private let bind: (Row, inout BoundStatement.Values) -> Void
    private var rows: [Row] = []

    private static var groupSize: Int { 8 }

    /// - Parameters:
    ///   - head: `INSERT INTO` with its table and columns.
    ///   - columns: The number of columns.
    ///   - bind: The function that gives the values of a row.
    package init(
        _ db: Database, _ head: String, columns: Int, bind: @escaping (Row, inout BoundStatement.Values) -> Void
    ) throws {
        let row = "(" + Array(repeating: "?", count: columns).joined(separator: ", ") + ")"
        let group = Array(repeating: row, count: Self.groupSize).joined(separator: ", ")
        single = BoundStatement(try db.cachedStatement(sql: "\(head) VALUES \(row)"))
        several = BoundStatement(try db.cachedStatement(sql: "\(head) VALUES \(group)"))
        self.bind = bind
        rows.reserveCapacity(Self.groupSize)
    }

    package mutating func add(_ row: Row) throws {
        rows.append(row)
        guard rows.count == Self.groupSize else { return }
        try several.run { values in for index in rows.indices { bind(rows[index], &values) } }
        rows.removeAll(keepingCapacity: true)
    }

    /// Inserts the remaining rows.
    package mutating func finish() throws {
        for row in rows { try single.run { bind(row, &$0) } }
        rows.removeAll(keepingCapacity: true)
    }
}
