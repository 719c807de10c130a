package import GRDB
import TransferCore
import TransferEngine
package import TransferStore

extension QueueDatabase {
    /// Makes a temporary database: in memory while it is small, then in a file without a name (sqlite3_open(3)).
    package static func temporary() throws -> QueueDatabase {
        try another(on: DatabaseQueue(path: "", configuration: configuration))
    }

    /// Registers one more process on a database in memory. Only its lease shows for how long it lives.
    package static func another(on connection: DatabaseQueue) throws -> QueueDatabase {
        let locks = LeaseLocks(path: nil)
        try Schema.migrator.migrate(connection)
        let process = try connection.write { db in try RowDamage.refused { try Leases.register(db, locks) } }
        return QueueDatabase(connection, path: "temporary", process: process, locks: locks)
    }

    /// Opens the database of the folder, or makes it, and takes back the claims of dead processes.
    ///
    /// - Parameter isReader: Whether the caller only reads: no process is registered, and a damaged database stays
    ///   where it is.
    /// - Returns: The database, and a notice for people when a damaged one was moved aside.
    package static func open(_ folder: StateFolder, isReader: Bool) throws -> (database: QueueDatabase, notice: String?)
    {
        do {
            return (try connect(folder, isReader: isReader), nil)
        } catch  where !isReader && DamagedDatabase.isReportedBy(error) {
            let notice = try DamagedDatabase.moveAside(folder.database, because: DatabaseFault.words(error))
            return (try connect(folder, isReader: isReader), notice)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in for function in UploadRules.functions { db.add(function: function) } }
        return configuration
    }

    private static func connect(_ folder: StateFolder, isReader: Bool) throws -> QueueDatabase {
        let locks = LeaseLocks(path: folder.locks)
        var configuration = configuration
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            // The database never holds a secret, so nothing has to be wiped, as Debian's SQLite would do.
            try db.execute(
                sql: """
                    PRAGMA page_size = \(DatabaseFile.pageSize); PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                    PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;
                    PRAGMA secure_delete = OFF
                    """)
        }
        try DatabaseFile.prepare(folder.database, in: folder.path)
        let database = try DatabaseQueue(path: folder.database, configuration: configuration)
        try Schema.refuseNewer(database, path: folder.database)
        if !isReader { try DamagedDatabase.look(database, folder.database) }
        // A commit without a sync is also whole or absent, and the first commit with a sync covers it
        // (sqlite.org/pragma.html#pragma_synchronous). The registered process need not be known after the machine's
        // next start.
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        do {
            try Schema.migrator.migrate(database)
        } catch let error as DatabaseError where !DamagedDatabase.isReportedBy(error) {
            // The database may have been migrated by another process after this one had checked it; then nothing is
            // left to do.
            try Schema.migrator.migrate(database)
        }
        let process =
            isReader ? 0 : try database.write { db in try RowDamage.refused { try Leases.register(db, locks) } }
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return QueueDatabase(database, path: folder.database, process: process, locks: locks)
    }
}
