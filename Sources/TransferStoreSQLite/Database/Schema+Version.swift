package import GRDB
import TransferCore
import TransferStore

extension Schema {
    /// Refuses a database that a newer version of this program has changed, because the meaning of its tables is
    /// unknown here.
    ///
    /// The check comes before any write.
    ///
    /// - Parameter path: The database's file, for the message.
    package static func refuseNewer(_ database: DatabaseQueue, path: String) throws {
        let unknown = try database.read { db in
            guard try db.tableExists("grdb_migrations") else { return [String]() }
            let known = Set(steps.map(\.name))
            return try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations").filter { !known.contains($0) }
        }
        guard let step = unknown.first else { return }
        throw TransferError(
            .fileAccess,
            "the queue's database \(path) was made by a newer version of this program, which this one can't read "
                + "(\"\(step)\"); nothing was changed: use the newer version, or name another folder\(CommandPhrases.only(" with --state"))"
        )
    }
}
