import GRDB
import TransferJobs
package import TransferStore

/// The numbers of a batch's jobs by state, which its run continues to count.
package struct BatchTallies: Sendable {
    package let database: QueueDatabase
    package let stamps: HistoryStamps

    package func tally(batch: Int64) throws -> BatchTally {
        try database.read { db in
            var tally = BatchTally(counts: try Self.counts(db, "batch = ?", batch))
            let isWatched = try Bool.fetchOne(
                db, sql: "SELECT 1 FROM watchedFolder WHERE batch = ?", arguments: [batch])
            if isWatched != nil {
                let counts = try Self.counts(db, "batch = ? AND ledger IS NOT NULL", batch)
                tally.watched = FolderTally(counts: counts, stamp: stamps.next())
            }
            return tally
        }
    }

    private static func counts(_ db: Database, _ condition: String, _ batch: Int64) throws -> [JobState: Int] {
        var counts: [JobState: Int] = [:]
        let rows = try Row.fetchAll(
            db, sql: "SELECT state, count(*) FROM job WHERE \(condition) GROUP BY state", arguments: [batch])
        for row in rows { counts[JobState(stored: row[stored: 0])] = row[stored: 1] }
        return counts
    }
}
