import GRDB

extension SQLiteStore {
    /// How the jobs of a batch stand.
    struct Tally: Sendable {
        var counts: [JobState: Int] = [:]
        var watched: WatchedTally?
    }

    /// Of those jobs that are for versions of a watched folder's files.
    struct WatchedTally: Sendable {
        var counts: [JobState: Int] = [:]
        /// Of two tallies the later one holds.
        var stamp = 0

        /// Jobs that haven't ended.
        var open: Int { counts.values.reduce(0, +) - counts.ended }
    }

    func tally(batch: Int64) throws -> Tally {
        try read { db in
            var tally = Tally(counts: try Self.counts(db, "batch = ?", batch))
            let isWatched = try Bool.fetchOne(
                db, sql: "SELECT 1 FROM watchedFolder WHERE batch = ?", arguments: [batch])
            if isWatched != nil {
                let counts = try Self.counts(db, "batch = ? AND ledger IS NOT NULL", batch)
                tally.watched = WatchedTally(counts: counts, stamp: nextStamp())
            }
            return tally
        }
    }

    private static func counts(_ db: Database, _ condition: String, _ batch: Int64) throws -> [JobState: Int] {
        var counts: [JobState: Int] = [:]
        let rows = try Row.fetchAll(
            db, sql: "SELECT state, count(*) FROM job WHERE \(condition) GROUP BY state", arguments: [batch])
        for row in rows { counts[JobState(rawValue: row[0]) ?? .queued] = row[1] }
        return counts
    }
}
