package import GRDB
import TransferCore
import TransferEventLoop
package import TransferStore

/// Origins that asked to be left alone.
package struct Pauses: Sendable {
    package let database: QueueDatabase

    package func save(_ pause: StoredPause) throws {
        let wait = StoredWait(until: .now + pause.remaining)
        try database.writeRelaxed(leavesPacks: true) { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO pause (\(StoredPause.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)",
                arguments: [pause.origin, wait.wall, wait.boot, wait.length, pause.status, pause.message, pause.proxy])
        }
    }

    /// - Returns: The pauses that are not over.
    package func open() throws -> [StoredPause] {
        try database.writeRelaxed(leavesPacks: true) { db in
            let pauses = try Row.fetchAll(db, sql: "SELECT \(StoredPause.columns) FROM pause").map { StoredPause($0) }
            for pause in pauses where pause.remaining <= .zero {
                try db.execute(sql: "DELETE FROM pause WHERE origin = ?", arguments: [pause.origin])
            }
            return pauses.filter { $0.remaining > .zero }
        }
    }

    package func forgetAll() throws {
        try database.writeRelaxed(leavesPacks: true) { db in try db.execute(sql: "DELETE FROM pause") }
    }

    package static func pause(_ db: Database, origin: String) throws -> StoredPause? {
        try Row.fetchOne(
            db, sql: "SELECT \(StoredPause.columns) FROM pause WHERE origin = ?", arguments: [origin]
        ).map { StoredPause($0) }
    }
}

extension StoredPause {
    package init(_ row: Row) {
        let wait = StoredWait(wall: row[stored: 1], boot: row[stored: 2], length: row[stored: 3])
        self.init(
            origin: row[stored: 0], remaining: wait.remaining(), status: row[stored: 4], message: row[stored: 5] ?? "",
            proxy: row[stored: 6])
    }
}
