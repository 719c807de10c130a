import CTransferSQLite
import TransferStore

/// SQLite as this process has it.
public enum DatabaseEngine {
    /// Leaves out SQLite's count of the memory that it uses: a lock and an unlock at each allocation, which nobody looks at
    /// here. It's for programs that are nothing but a queue, as it holds for all of the process.
    ///
    /// - Returns: `false` once SQLite is in use, which stays as it is then.
    @discardableResult
    public static func skipStatistics() -> Bool { transfer_sqlite_skip_statistics() != 0 }
}
