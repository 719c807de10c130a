import GRDB
import TransferCore
import TransferEventLoop

extension SQLiteStore {
    func save(_ pause: StoredPause) throws {
        let wait = StoredWait(until: .now + pause.remaining)
        try writeRelaxed(leavesPacks: true) { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO pause (\(StoredPause.columns)) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [pause.origin, wait.wall, wait.boot, wait.length, pause.status, pause.message])
        }
    }

    func pauses() throws -> [StoredPause] {
        try writeRelaxed(leavesPacks: true) { db in
            let pauses = try Row.fetchAll(db, sql: "SELECT \(StoredPause.columns) FROM pause").map { StoredPause($0) }
            for pause in pauses where pause.remaining <= .zero {
                try db.execute(sql: "DELETE FROM pause WHERE origin = ?", arguments: [pause.origin])
            }
            return pauses.filter { $0.remaining > .zero }
        }
    }
}

extension StoredPause {
    init(_ row: Row) {
        let wait = StoredWait(wall: row[1], boot: row[2], length: row[3])
        self.init(origin: row[0], remaining: wait.remaining(), status: row[4], message: row[5] ?? "")
    }
}
