import GRDB
import GRDBSQLite

@testable import TransferStore
@testable import TransferStoreSQLite

extension SQLiteStore {
    /// - Returns: The number of instructions of SQLite's virtual machine that `body` takes (sqlite3_progress_handler).
    func steps(_ body: () throws -> Void) throws -> Int {
        let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        defer { count.deallocate() }
        count.pointee = 0
        database.connection.writeWithoutTransaction { db in
            sqlite3_progress_handler(
                db.sqliteConnection, 1,
                { context in
                    context?.assumingMemoryBound(to: Int.self).pointee += 1
                    return 0
                }, count)
        }
        defer {
            database.connection.writeWithoutTransaction { db in
                sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil)
            }
        }
        try body()
        return count.pointee
    }
}
