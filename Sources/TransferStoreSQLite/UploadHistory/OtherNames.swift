package import GRDB
import TransferStore

/// Names by which files are not uploaded. Each is reported once, however often the folder is read.
package struct OtherNames: Sendable {
    package let database: QueueDatabase

    /// - Returns: Whether the name was not noted before, for each name.
    package func note(_ names: [String], folder: Int64) throws -> [Bool] {
        let known = try database.read { db in
            let statement = try db.cachedStatement(sql: "SELECT 1 FROM otherName WHERE folder = ? AND path = ?")
            return try names.map { try Bool.fetchOne(statement, arguments: [folder, $0]) != nil }
        }
        guard known.contains(false) else { return known.map { _ in false } }
        return try database.writeRelaxed { db in
            let statement = try db.cachedStatement(sql: "INSERT OR IGNORE INTO otherName (folder, path) VALUES (?, ?)")
            return try names.map { name in
                try statement.execute(arguments: [folder, name])
                return db.changesCount > 0
            }
        }
    }

    /// Reads a page of the names, in the order of their bytes.
    package func page(folder: Int64, after path: String, limit: Int) throws -> [String] {
        try database.read { db in
            try String.fetchAll(
                db, sql: "SELECT path FROM otherName WHERE folder = ? AND path > ? ORDER BY path LIMIT ?",
                arguments: [folder, path, limit])
        }
    }

    /// Forgets names that no longer exist.
    package func forget(_ names: [String], folder: Int64) throws {
        try database.writeRelaxed { db in
            for name in names { try Self.forget(db, name, folder: folder) }
        }
    }

    package static func forget(_ db: Database, _ name: String, folder: Int64) throws {
        try db.cachedStatement(sql: "DELETE FROM otherName WHERE folder = ? AND path = ?")
            .execute(arguments: [folder, name])
    }
}
