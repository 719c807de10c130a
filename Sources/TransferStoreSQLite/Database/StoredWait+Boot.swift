package import GRDB
import TransferCore
import TransferEngine
package import TransferStore

// The adjustment of stored times after a boot of the machine and after its clock was set.
extension StoredWait {
    /// The smallest difference of the clocks that is corrected, in milliseconds.
    package static let smallestStep: Int64 = 1000

    /// Converts the stored times to this boot's clock and to the present wall clock. Each transaction calls this before
    /// it reads or writes such times.
    ///
    /// Jobs and pauses wait by the boot's clock. The action on a confirmed file may be months away; such times are the
    /// wall clock's, and are moved when it is set.
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

    /// Converts the ends of waits that were stored in another boot to this boot's clock.
    private static func enterBoot(_ db: Database, _ now: Now) throws {
        for (table, end) in [("job", "notBefore"), ("pause", "until"), ("hookCall", "notBefore")] {
            try db.execute(
                sql: """
                    UPDATE \(table) SET due = ?1 + min(max(0, \(end) - ?2), ifnull(delay, ?3)) WHERE \(end) IS NOT NULL
                    """, arguments: [now.bootMilliseconds, now.wall, longest])
        }
        // A machine without a battery-backed clock begins in 1970: no file is kept for longer than its rule says.
        try db.execute(
            sql: """
                UPDATE ledger SET due = ?1 + (SELECT thenAfter FROM watchedFolder WHERE watchedFolder.id = folder)
                WHERE due > ?1 + (SELECT thenAfter FROM watchedFolder WHERE watchedFolder.id = folder)
                """, arguments: [now.wall])
    }
}
