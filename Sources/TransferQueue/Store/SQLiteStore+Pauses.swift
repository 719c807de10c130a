import GRDB
import TransferCore
import TransferEventLoop

extension SQLiteStore {
    /// An origin that asked to be left alone.
    struct Pause: Sendable {
        let origin: String
        /// Wall-clock milliseconds.
        let until: Int64
        let status: Int?
        let message: String
    }

    func savePause(_ pause: Pause) throws {
        try writeRelaxed(leavesPacks: true) { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO pause (origin, until, status, message) VALUES (?, ?, ?, ?)",
                arguments: [pause.origin, pause.until, pause.status, pause.message])
        }
    }

    /// Those that are not over yet; the others are forgotten.
    func pauses() throws -> [Pause] {
        try writeRelaxed(leavesPacks: true) { db in
            try db.execute(sql: "DELETE FROM pause WHERE until <= ?", arguments: [WallClock.milliseconds])
            return try Row.fetchAll(db, sql: "SELECT origin, until, status, message FROM pause").map {
                Pause(origin: $0[0], until: $0[1], status: $0[2], message: $0[3] ?? "")
            }
        }
    }

    func forgetPauses() throws {
        try writeRelaxed(leavesPacks: true) { db in try db.execute(sql: "DELETE FROM pause") }
    }
}
