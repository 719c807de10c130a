package import GRDB
package import TransferJobs
import TransferStore

/// The jobs of watched folders.
package enum WatchedJobs {
    /// Counts the jobs that have not ended.
    package static func countOpen(_ db: Database, batch: Int64) throws -> Int {
        let statement = try db.cachedStatement(
            sql: "SELECT count(*) FROM job WHERE batch = ? AND ledger IS NOT NULL AND state < \(JobStates.firstEnded)")
        return try Int.fetchOne(statement, arguments: [batch]) ?? 0
    }

    /// The assignments that let a job follow no other one. A blocked job becomes ready.
    static let release = "\(JobUpdate.state(.unblock)), needsLeft = 0, follows = NULL"

    /// Makes jobs ready whose predecessor has ended or was removed.
    package static func releaseFollowers(_ db: Database, batch: Int64) throws -> [Lane: Int] {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE job SET \(release)
                WHERE +batch = ?1 AND follows IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM job AS other WHERE other.id = job.follows AND other.state < \(JobStates.firstEnded))
                RETURNING state, origin, network
                """)
        var ready: [Lane: Int] = [:]
        for row in try Row.fetchAll(statement, arguments: [batch]) where row[stored: 0] == JobState.queued.rawValue {
            ready[Lane(batch: batch, origin: row[stored: 1], network: row[stored: 2]), default: 0] += 1
        }
        return ready
    }

    /// Marks files that must not be tried again automatically, before the jobs of their batch are forgotten.
    package static func leaveAlone(_ db: Database, batch name: String) throws {
        try db.execute(
            sql: """
                UPDATE ledger SET state = \(HistoryStates.leftAlone), job = NULL FROM job JOIN batch ON batch.id = job.batch
                WHERE batch.name = ? AND ledger.id = job.ledger AND ledger.job = job.id
                    AND (job.state = \(JobStates.cancelled) OR (job.state = \(JobStates.failed) AND job.errorCode = 'mayHaveBeenSent'))
                """, arguments: [name])
    }

    /// Forgets the folder of a batch, and the history of its uploads.
    package static func forgetFolder(_ db: Database, batch name: String) throws {
        try db.execute(
            sql: "DELETE FROM watchedFolder WHERE batch IN (SELECT id FROM batch WHERE name = ?)", arguments: [name])
    }
}
