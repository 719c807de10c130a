import TransferCore
import TransferJobs
import TransferStore
import TransferWatch

/// The removal of batches that ended long ago, in small transactions, beside workers and submitters.
package struct PostgresRetention: Sendable {
    package let database: PostgresDatabase

    package init(database: PostgresDatabase) { self.database = database }

    /// The result of one transaction.
    package struct Step: Sendable, Hashable {
        package var jobs: Int
        /// Whether the batch is gone.
        package var isGone: Bool
    }

    /// The most jobs that one transaction removes.
    package static let mostJobs = 1000

    /// Finds batches whose last job ended at least that long ago, and that no process has used since.
    ///
    /// - Parameter last: The number of a batch, behind which the search begins.
    package func candidates(olderThan age: Duration, after last: Int64, limit: Int) throws -> [(
        id: Int64, name: String
    )] {
        try database.read { db in
            try db.run(Self.search, [age.inMilliseconds, last, limit]).compactMap { row in
                row.number(0).map { ($0, row.text(1) ?? "") }
            }
        }
    }

    /// Removes some jobs of the batch, and the batch itself where none is left. A batch that another process uses or
    /// that has work again is left alone.
    package func prune(batch: Int64, olderThan age: Duration, most: Int = mostJobs) throws -> Step {
        try database.write(isRepeatable: true) { db in
            let jobs = try db.run(Self.jobs, [age.inMilliseconds, batch, most]).first?.int(0) ?? 0
            let isGone = jobs < most ? try db.run(Self.removal, [age.inMilliseconds, batch]).first != nil : false
            return Step(jobs: jobs, isGone: isGone)
        }
    }

    // MARK: Statements

    /// The condition of a batch that no process uses. A message for a hook that is still to be delivered keeps it.
    private static let isOver = """
        batch.owner IS NULL AND batch.updated < \(PostgresClock.now) - $1::bigint
            AND NOT EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id AND job.state < \(JobStates.firstEnded))
            AND NOT EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id AND job.owner IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM hook_call WHERE hook_call.batch = batch.id)
            AND NOT EXISTS (SELECT 1 FROM watched_folder JOIN process ON until > \(PostgresClock.now)
                AND '\(WatchTag.prefix)' || watched_folder.id = ANY (string_to_array(tags, ','))
                WHERE watched_folder.batch = batch.id)
        """

    private static let search = PostgresStatement(
        "find_old_batches", [.submit, .work],
        """
        SELECT batch.id, batch.name FROM batch WHERE batch.id > $2 AND \(isOver)
            AND NOT EXISTS (
                SELECT 1 FROM job WHERE job.batch = batch.id AND job.ended >= \(PostgresClock.now) - $1::bigint)
        ORDER BY batch.id LIMIT $3
        """)

    private static let jobs = PostgresStatement(
        "prune_jobs", [.submit, .work],
        """
        WITH old AS (SELECT batch.id FROM batch WHERE batch.id = $2 AND \(isOver) FOR UPDATE SKIP LOCKED),
        chosen AS (SELECT job.id FROM job JOIN old ON job.batch = old.id LIMIT $3),
        jobs AS (
            DELETE FROM job USING chosen WHERE job.id = chosen.id
            RETURNING job.id, state, error_code, spec, upload, tags,
                drop_after IS NOT NULL AND \(PostgresReplacedUploads.areHeld) AS is_dropped),
        \(PostgresReplacedUploads.leavings())
        SELECT count(*) FROM jobs
        """)

    private static let removal = PostgresStatement(
        "prune_batch", [.submit, .work],
        """
        DELETE FROM batch WHERE batch.id = $2 AND \(isOver)
            AND NOT EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id)
        RETURNING batch.id
        """)

    package static let statements = [
        search, jobs, removal,
    ]
}
