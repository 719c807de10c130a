import CTransferPostgres

/// The rows that a statement gave; this object owns libpq's result.
package final class PostgresResult: Sequence {
    private let raw: OpaquePointer

    package init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { PQclear(raw) }

    var status: ExecStatusType { PQresultStatus(raw) }

    package var count: Int { Int(PQntuples(raw)) }

    /// The code of an error, such as `23505` (PostgreSQL's manual, "PostgreSQL Error Codes").
    package var code: String? { PQresultErrorField(raw, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } }

    /// The error in PostgreSQL's words, without the statement or its values.
    package var message: String {
        PQresultErrorField(raw, Int32(UInt8(ascii: "M"))).map { String(cString: $0) } ?? ""
    }

    /// The error of the statement. It is `nil` for one that succeeded, and for one that was skipped after an earlier
    /// error.
    var fault: PostgresFault? {
        guard status == PGRES_FATAL_ERROR else { return nil }
        return code.map { PostgresFault(code: $0, message: message) }
    }

    /// The types of a described statement's values, by their numbers.
    var parameterTypes: [Int64] { (0..<PQnparams(raw)).map { Int64(PQparamtype(raw, $0)) } }

    /// The types of the columns, by their numbers.
    var columnTypes: [Int64] { (0..<PQnfields(raw)).map { Int64(PQftype(raw, $0)) } }

    package var first: PostgresRow? { count > 0 ? self[0] : nil }

    package subscript(_ row: Int) -> PostgresRow { PostgresRow(result: self, number: Int32(row)) }

    package func makeIterator() -> AnyIterator<PostgresRow> {
        var next = 0
        return AnyIterator {
            guard next < self.count else { return nil }
            defer { next += 1 }
            return self[next]
        }
    }

    fileprivate func value(_ row: Int32, _ column: Int32) -> UnsafePointer<CChar>? {
        PQgetisnull(raw, row, column) == 0 ? UnsafePointer(PQgetvalue(raw, row, column)) : nil
    }
}

/// A row of a result. Columns are named by their numbers, counted from 0.
package struct PostgresRow {
    fileprivate let result: PostgresResult
    fileprivate let number: Int32

    /// - Returns: `nil` for NULL.
    package func text(_ column: Int) -> String? { result.value(number, Int32(column)).map { String(cString: $0) } }

    /// - Returns: `nil` for NULL.
    package func number(_ column: Int) -> Int64? { text(column).flatMap { Int64($0) } }

    /// - Returns: `nil` for NULL.
    package func int(_ column: Int) -> Int? { number(column).map { Int($0) } }

    /// - Returns: `nil` for NULL.
    package func real(_ column: Int) -> Double? { text(column).flatMap { Double($0) } }

    /// - Returns: `nil` for NULL.
    package func bytes(_ column: Int) -> [UInt8]? { text(column).flatMap { PostgresBytes(text: $0)?.bytes } }

    /// Returns whether the column is true; NULL counts as false.
    package func flag(_ column: Int) -> Bool { text(column) == "t" }
}
