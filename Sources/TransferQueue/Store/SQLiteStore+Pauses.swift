import GRDB
import TransferCore
import TransferEventLoop

extension SQLiteStore {
    /// An origin that asked to be left alone.
    struct Pause: Sendable {
        let origin: String
        let remaining: Duration
        let status: Int?
        let message: String

        /// The columns that it's read from.
        static let columns = "origin, until, due, delay, status, message"
    }

    func savePause(_ pause: Pause) throws {
        let wait = StoredWait(until: .now + pause.remaining)
        try writeRelaxed(leavesPacks: true) { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO pause (\(Pause.columns)) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [pause.origin, wait.wall, wait.boot, wait.length, pause.status, pause.message])
        }
    }

    /// Those that are not over yet; the others are forgotten.
    func pauses() throws -> [Pause] {
        try writeRelaxed(leavesPacks: true) { db in
            let pauses = try Row.fetchAll(db, sql: "SELECT \(Pause.columns) FROM pause").map { Pause($0) }
            for pause in pauses where pause.remaining <= .zero {
                try db.execute(sql: "DELETE FROM pause WHERE origin = ?", arguments: [pause.origin])
            }
            return pauses.filter { $0.remaining > .zero }
        }
    }

    func forgetPauses() throws {
        try writeRelaxed(leavesPacks: true) { db in try db.execute(sql: "DELETE FROM pause") }
    }
}

extension SQLiteStore.Pause {
    init(_ row: Row) {
        let wait = StoredWait(wall: row[1], boot: row[2], length: row[3])
        self.init(origin: row[0], remaining: wait.remaining(), status: row[4], message: row[5] ?? "")
    }
}
