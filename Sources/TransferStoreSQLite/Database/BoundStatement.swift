package import GRDB
import GRDBSQLite
import Glibc
import TransferStore

/// A statement that is run for every job and gives no rows. Its values are bound in place: GRDB's own arguments, an
/// array of boxed values, cost as much as SQLite's work with them.
package final class BoundStatement {
    private let statement: Statement
    /// The texts are held here while the statement runs, so that SQLite need not copy each of them.
    private let texts = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 1)

    package init(_ statement: Statement) { self.statement = statement }

    deinit { texts.deallocate() }

    /// - Parameter bind: The function that gives the values of the parameters, in their order.
    /// - Throws: `DatabaseError`.
    package func run(_ bind: (inout Values) -> Void) throws {
        var values = Values(statement.sqliteStatement, texts)
        bind(&values)
        let code = values.fault ?? sqlite3_step(statement.sqliteStatement)
        // The reset makes the statement ready for the next run; it repeats the error of the last one.
        sqlite3_reset(statement.sqliteStatement)
        sqlite3_clear_bindings(statement.sqliteStatement)
        guard code == SQLITE_DONE else {
            let message = sqlite3_errmsg(sqlite3_db_handle(statement.sqliteStatement)).map { String(cString: $0) }
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: statement.sql)
        }
    }

    /// Values of parameters, one after the other.
    package struct Values {
        private let raw: SQLiteStatement
        private let texts: UnsafeMutableRawBufferPointer
        private var used = 0
        private var index: Int32 = 0
        /// SQLite's code for the first value that it did not accept.
        fileprivate private(set) var fault: Int32?

        fileprivate init(_ raw: SQLiteStatement, _ texts: UnsafeMutableRawBufferPointer) {
            self.raw = raw
            self.texts = texts
        }

        package mutating func add(_ value: Int64?) {
            index += 1
            note(value.map { sqlite3_bind_int64(raw, index, $0) } ?? sqlite3_bind_null(raw, index))
        }

        package mutating func add(_ value: Int?) { add(value.map { Int64($0) }) }

        package mutating func add(_ value: Bool) { add(value ? 1 : 0) }

        package mutating func add(_ value: Double) {
            index += 1
            note(sqlite3_bind_double(raw, index, value))
        }

        package mutating func add(_ value: String?) {
            index += 1
            guard var value else { return note(sqlite3_bind_null(raw, index)) }
            note(value.withUTF8 { bind($0) })
        }

        package mutating func add(blob: [UInt8]?) {
            index += 1
            guard let blob else { return note(sqlite3_bind_null(raw, index)) }
            note(
                blob.withUnsafeBytes { bytes in
                    sqlite3_bind_blob(raw, index, bytes.baseAddress, Int32(bytes.count), Self.copied)
                })
        }

        private mutating func bind(_ text: UnsafeBufferPointer<UInt8>) -> Int32 {
            guard let start = text.baseAddress, !text.isEmpty else {
                return sqlite3_bind_text(raw, index, "", 0, Self.copied)
            }
            guard text.count <= texts.count - used else {
                let start = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
                return sqlite3_bind_text(raw, index, start, Int32(Self.length(text)), Self.copied)
            }
            let length = Self.length(text)
            let place = (texts.baseAddress! + used).bindMemory(to: CChar.self, capacity: length)
            memcpy(place, start, length)
            used += length
            return sqlite3_bind_text(raw, index, place, Int32(length), nil)
        }

        /// Returns the length up to the first NUL, because a query with the same text ends there too and has to find
        /// the row.
        private static func length(_ text: UnsafeBufferPointer<UInt8>) -> Int {
            guard let start = text.baseAddress, let end = memchr(start, 0, text.count) else { return text.count }
            return UnsafeRawPointer(end) - UnsafeRawPointer(start)
        }

        private mutating func note(_ code: Int32) {
            if code != SQLITE_OK, fault == nil { fault = code }
        }

        /// The value `SQLITE_TRANSIENT`, a macro that Swift does not import (sqlite3.h).
        private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }
}
