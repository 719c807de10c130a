package import GRDB
import TransferCore
import TransferEngine
package import TransferStore

// Times that the database keeps, when the machine starts anew and when somebody sets its clock.
extension StoredWait {
    /// Smaller differences of the clocks are let be, in milliseconds.
    package static let smallestStep: Int64 = 1000

    /// Makes the times those of this boot and of the wall's clock as it is now: before any of them is read or written in
    /// the same transaction.
    ///
    /// Jobs and pauses wait by the boot's clock. What is to be done with a confirmed file may be months away; such times
    /// are the wall's, and are moved with it when it's set.
    package static func follow(_ db: Database, _ now: Now = .system) throws {
        let start = now.wall - now.bootMilliseconds
        let known = try Row.fetchOne(db.cachedStatement(sql: "SELECT id, wall FROM boot"))
        if let known, known[stored: 0] == BootID.current {
            let step = start - (known[stored: 1] as Int64)
            guard abs(step) >= smallestStep else { return }
            try db.execute(sql: "UPDATE ledger SET due = due + ? WHERE due IS NOT NULL", arguments: [step])
            try db.execute(sql: "UPDATE ledger SET gone = gone + ? WHERE gone IS NOT NULL", arguments: [step])
        } else {
            try enterBoot(db, now)
        }
        try db.execute(sql: "DELETE FROM boot")
        try db.execute(sql: "INSERT INTO boot (id, wall) VALUES (?, ?)", arguments: [BootID.current, start])
    }

    /// The ends of waits that were written down in another boot become times of this one's clock.
    private static func enterBoot(_ db: Database, _ now: Now) throws {
        for (table, end) in [("job", "notBefore"), ("pause", "until"), ("hookCall", "notBefore")] {
            try db.execute(
                sql: """
                    UPDATE \(table) SET due = ?1 + min(max(0, \(end) - ?2), ifnull(delay, ?3)) WHERE \(end) IS NOT NULL
                    """, arguments: [now.bootMilliseconds, now.wall, longest])
        }
        // A machine without a clock begins in 1970: nothing is kept for longer than it was to be.
        try db.execute(
            sql: """
                UPDATE ledger SET due = ?1 + (SELECT thenAfter FROM watchedFolder WHERE watchedFolder.id = folder)
                WHERE due > ?1 + (SELECT thenAfter FROM watchedFolder WHERE watchedFolder.id = folder)
                """, arguments: [now.wall])
    }
}
