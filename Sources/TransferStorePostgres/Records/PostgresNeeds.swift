import TransferCore
package import TransferJobs
package import TransferStore

/// The needs of jobs: ends of some jobs free or skip others that wait for them.
package enum PostgresNeeds {
    package static func areIn(_ db: PostgresConnection, batch: Int64) throws -> Bool {
        try flag(ask(db, batch: batch))
    }

    /// Posts the question of ``areIn(_:batch:)``; ``flag(_:)`` reads the answer when it has come.
    package static func ask(_ db: PostgresConnection, batch: Int64) throws -> PostgresAnswer {
        try db.post(Self.existence, [batch])
    }

    package static func flag(_ answer: PostgresAnswer) throws -> Bool { try answer.rows().first?.flag(0) ?? false }

    /// Frees the jobs that waited only for these, which are complete.
    package static func free(_ db: PostgresConnection, after ids: [Int64]) throws -> [Lane: Int] {
        let freed = try db.run(Self.freeing, [PostgresArray(ids)])
        var lanes: [Lane: Int] = [:]
        for row in freed {
            guard row.int(0) == 0, row.int(1) == JobStates.queued else { continue }
            lanes[PostgresLane.lane(row, from: 2), default: 0] += 1
        }
        return lanes
    }

    /// Skips every job of the batch that waits for a job that failed, was skipped or was cancelled.
    package static func skipWhatCannotStart(_ db: PostgresConnection, batch: Int64) throws -> [SkippedJob] {
        let ended = try db.run(Self.endedNeeds, [batch])
        let dependents = try PostgresDependents.find(db, of: ended.map { ($0.number(0) ?? 0, $0.text(1) ?? "") })
        guard dependents.count > 0 else { return [] }
        return try dependents.skip(db, from: PostgresEndNumbers.take(db, dependents.count))
    }

    /// Makes skipped jobs ready, except for those that still depend on a job that failed or was cancelled.
    package static func revive(_ db: PostgresConnection, batch: Int64) throws {
        try db.post(Self.revival, [batch])
        try recount(db, batch: batch)
    }

    /// Counts anew the unfinished needs of each waiting job of the batch.
    package static func recount(_ db: PostgresConnection, batch: Int64) throws {
        try db.post(Self.counting, [batch])
        try db.post(Self.blocking, [batch])
    }

    // MARK: Statements

    private static let existence = PostgresStatement(
        "has_needs", [.submit, .work], "SELECT has_needs FROM batch WHERE id = $1")

    private static let freeing = PostgresStatement(
        "free_dependents", [.submit, .work],
        """
        WITH met AS MATERIALIZED (
            SELECT job.id, (SELECT count(*)::integer FROM need
                WHERE need.job = job.id AND need.needed = ANY ($1::bigint[])) AS count
            FROM job WHERE needs_left > 0 AND job.id IN (SELECT need.job FROM need WHERE need.needed = ANY ($1::bigint[]))
            ORDER BY job.id FOR NO KEY UPDATE)
        UPDATE job SET needs_left = needs_left - met.count,
            \(PostgresJobUpdate.state(.unblock, when: "needs_left <= met.count"))
        FROM met WHERE job.id = met.id AND needs_left > 0
        RETURNING needs_left, state, batch, origin, network, tags
        """)

    private static let endedNeeds = PostgresStatement(
        "needs_that_ended", [.submit, .work],
        """
        SELECT DISTINCT ended.id, ended.identity FROM job AS ended JOIN need ON need.needed = ended.id
        JOIN job AS waiting ON waiting.id = need.job
        WHERE ended.batch = $1 AND ended.state IN (\(JobStates.list([.failed, .skipped, .cancelled])))
            AND waiting.state IN (\(JobStates.unclaimed)) ORDER BY ended.id
        """)

    private static let revival = PostgresStatement(
        "revive_skipped", [.submit, .work],
        """
        WITH RECURSIVE stuck(id) AS (
            SELECT id FROM job WHERE batch = $1 AND state IN (\(JobStates.list([.failed, .cancelled])))
            UNION
            SELECT need.job FROM stuck JOIN need ON need.needed = stuck.id
                JOIN job AS follower ON follower.id = need.job AND follower.state = \(JobStates.skipped)
        )
        \(PostgresJobUpdate(.revive) { "batch = $\($0) AND id NOT IN (SELECT id FROM stuck)" }.sql)
        """)

    private static let counting = PostgresStatement(
        "recount_needs", [.submit, .work],
        """
        UPDATE job SET needs_left = (SELECT count(*) FROM need JOIN job AS other ON other.id = need.needed
            WHERE need.job = job.id AND other.state <> \(JobStates.done))
        WHERE batch = $1 AND id IN (SELECT job FROM need)
        """)

    private static let blocking = PostgresStatement(
        "block_jobs", [.submit, .work],
        PostgresJobUpdate(.block) { "batch = $\($0) AND needs_left > 0" }.sql)

    package static let statements = [
        existence, freeing, endedNeeds, revival, counting, blocking,
    ]
}
