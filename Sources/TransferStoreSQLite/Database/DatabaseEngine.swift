import CTransferSQLite
import TransferStore

/// The settings of SQLite for this process.
public enum DatabaseEngine {
    /// Turns off SQLite's count of the memory that it uses, which costs a lock and an unlock at each allocation. The
    /// setting holds for the whole process, so it is for programs that only run a queue.
    ///
    /// - Returns: `false` once SQLite is in use; its setting stays as it is then.
    @discardableResult
    public static func skipStatistics() -> Bool { transfer_sqlite_skip_statistics() != 0 }
}
