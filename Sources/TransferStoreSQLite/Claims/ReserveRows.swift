package import GRDB
import TransferStore

/// The rows of jobs that a process reserved when it inserted them. The database has them as claimed without an owner.
/// The batch names the process (`reserve`), and the table `opened` says which of them may have started, and when.
package enum ReserveRows {
    /// The state of a row of `job` as it is shown. A reserved job that was not opened only waits for its turn, like a
    /// job that no process has claimed.
    package static let shownState = """
        CASE WHEN job.state = \(JobStates.claimed) AND job.owner IS NULL AND NOT EXISTS (SELECT 1 FROM opened
            WHERE opened.batch = job.batch AND opened.origin = job.origin AND opened.network = job.network
                AND opened.last >= job.id)
            THEN 0 ELSE job.state END
        """

    /// Returns the process whose reserve the batch has.
    package static func owner(_ db: Database, batch: Int64) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT reserve FROM batch WHERE id = ?", arguments: [batch])
    }

    /// Notes that the first jobs of a batch were inserted as claimed.
    ///
    /// - Parameter jobs: The number of all jobs of the batch, which is new.
    package static func begin(
        _ db: Database, batch: Int64, of process: Int64, _ reserve: JobReserve, jobs: Int
    ) throws {
        let ids = reserve.ids
        try db.execute(
            sql: "UPDATE batch SET reserve = ?, reserveFirst = ?, reserveLast = ?, toldJobs = ? WHERE id = ?",
            arguments: [process, ids?.lowerBound, ids?.upperBound, jobs, batch])
    }

    /// Counts the jobs of a batch's reserve that have rows and were not claimed in any other way, by their origins.
    package static func counts(_ db: Database, batch: Int64) throws -> [String: Int] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT job.origin, count(*) FROM batch CROSS JOIN job NOT INDEXED ON job.id BETWEEN reserveFirst AND reserveLast
                WHERE batch.id = ?1 AND batch.reserve NOT NULL
                    AND job.batch = ?1 AND job.state = \(JobStates.claimed) AND job.owner IS NULL
                GROUP BY job.origin
                """, arguments: [batch])
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[stored: 0], $0[stored: 1]) })
    }

    /// Gives back the jobs in the reserves of a process that have not started. It holds the others as ordinary claims
    /// from then on.
    package static func dissolveAll(_ db: Database, of process: Int64) throws {
        let batches = try Int64.fetchAll(db, sql: "SELECT id FROM batch WHERE reserve = ?", arguments: [process])
        for batch in batches { try dissolve(db, batch: batch) }
    }

    /// Gives back reserves whose process was removed as dead by a version that knows of no reserves.
    package static func dissolveOrphans(_ db: Database) throws {
        let orphans = try Row.fetchAll(
            db, sql: "SELECT id, reserve FROM batch WHERE reserve NOT NULL AND reserve NOT IN (SELECT id FROM process)")
        for orphan in orphans {
            try dissolve(db, batch: orphan[stored: 0])
            try db.execute(
                sql: recovery.sql,
                arguments: recovery.arguments([orphan[stored: 0] as Int64, orphan[stored: 1] as Int64]))
        }
    }

    /// Gives back the jobs of a batch's reserve that have not started; nothing where it has none.
    package static func dissolve(_ db: Database, batch: Int64) throws {
        let reserve = try owner(db, batch: batch)
        try Packs.unpack(db, batch: batch)
        guard let reserve else { return }
        try db.execute(
            sql: """
                UPDATE job SET owner = ?2, claimed = (SELECT since FROM opened WHERE opened.batch = job.batch
                    AND opened.origin = job.origin AND opened.network = job.network AND opened.last >= job.id
                    ORDER BY last LIMIT 1)
                    WHERE batch = ?1 AND state = \(JobStates.claimed) AND owner IS NULL
                """, arguments: [batch, reserve])
        try db.execute(sql: handingBack.sql, arguments: handingBack.arguments([batch, reserve]))
        try end(db, batch: batch)
    }

    /// Ends a reserve of which all jobs have ended.
    package static func end(_ db: Database, batch: Int64) throws {
        try db.execute(sql: "DELETE FROM opened WHERE batch = ?", arguments: [batch])
        try db.execute(sql: "UPDATE batch SET reserve = NULL WHERE id = ?", arguments: [batch])
    }

    // MARK: Changes

    private static let recovery = JobUpdate(.recover) { "batch = ?\($0) AND owner = ?\($0 + 1)" }

    private static let handingBack = JobUpdate(.giveBack) {
        "batch = ?\($0) AND owner = ?\($0 + 1) AND claimed IS NULL"
    }
}
