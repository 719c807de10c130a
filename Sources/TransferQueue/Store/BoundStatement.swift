import GRDB
import GRDBSQLite

/// A statement that is run for every job and gives no rows: its values are bound where they are. GRDB's own arguments,
/// an array of values in boxes, cost as much as what SQLite does with them.
struct BoundStatement {
    private let statement: Statement

    init(_ statement: Statement) { self.statement = statement }

    /// - Parameter bind: Gives the values of the parameters, in their order.
    /// - Throws: `DatabaseError`.
    func run(_ bind: (inout Values) -> Void) throws {
        var values = Values(statement.sqliteStatement)
        bind(&values)
        let code = values.fault ?? sqlite3_step(statement.sqliteStatement)
        // Ready for the next time; it repeats the fault of the last one.
        sqlite3_reset(statement.sqliteStatement)
        guard code == SQLITE_DONE else {
            let message = sqlite3_errmsg(sqlite3_db_handle(statement.sqliteStatement)).map { String(cString: $0) }
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: statement.sql)
        }
    }

    /// Of parameters, one after the other.
    struct Values {
        private let raw: SQLiteStatement
        private var index: Int32 = 0
        /// SQLite's code for the first one that it didn't take.
        fileprivate private(set) var fault: Int32?

        fileprivate init(_ raw: SQLiteStatement) { self.raw = raw }

        mutating func add(_ value: Int64?) {
            index += 1
            note(value.map { sqlite3_bind_int64(raw, index, $0) } ?? sqlite3_bind_null(raw, index))
        }

        mutating func add(_ value: Int?) { add(value.map { Int64($0) }) }

        mutating func add(_ value: Bool) { add(value ? 1 : 0) }

        mutating func add(_ value: Double) {
            index += 1
            note(sqlite3_bind_double(raw, index, value))
        }

        mutating func add(_ value: String?) {
            index += 1
            guard let value else { return note(sqlite3_bind_null(raw, index)) }
            // To its end or the first NUL, as everywhere else: what is read by it has to find it.
            note(value.withCString { sqlite3_bind_text(raw, index, $0, -1, Self.copied) })
        }

        private mutating func note(_ code: Int32) {
            if code != SQLITE_OK, fault == nil { fault = code }
        }

        /// `SQLITE_TRANSIENT`, a macro that Swift doesn't see (sqlite3.h).
        private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }
}
