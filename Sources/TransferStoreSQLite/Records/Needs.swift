package import GRDB
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore

/// The needs of jobs: ends of some jobs free or skip others that wait for them.
package enum Needs {
    /// Returns whether jobs of the batch wait for others.
    package static func areIn(_ db: Database, batch: Int64) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT hasNeeds FROM batch WHERE id = ?")
        return try Bool.fetchOne(statement, arguments: [batch]) ?? false
    }

    /// Frees the jobs that waited only for this one, or skips the jobs that need it.
    package static func settle(_ db: Database, of end: JobEnd, _ recorded: inout RecordedGroup) throws {
        switch end.outcome {
        case .done, .kept:
            let rows = try Row.fetchAll(
                db,
                sql: """
                    UPDATE job SET needsLeft = needsLeft - 1, \(JobUpdate.state(.unblock, when: "needsLeft <= 1"))
                    WHERE id IN (SELECT job FROM need WHERE needed = ?) AND needsLeft > 0
                    RETURNING needsLeft, state, batch, origin, network
                    """, arguments: [end.id])
            for row in rows where row[stored: 0] == 0 && row[stored: 1] == JobState.queued.rawValue {
                recorded.unblocked[
                    Lane(batch: row[stored: 2], origin: row[stored: 3], network: row[stored: 4]), default: 0] += 1
            }
        case .failed, .cancelled, .dropped:
            recorded.skipped += try skipDependents(db, of: [(end.id, end.identity)])
            recorded.hooked.formUnion(recorded.skipped.lazy.filter(\.tellsHook).map(\.batch))
        }
    }

    /// Skips the jobs that need one of these, and those that need them in turn, because they can no longer start.
    package static func skipDependents(_ db: Database, of failed: [(id: Int64, identity: String)]) throws
        -> [SkippedJob]
    {
        var skipped: [SkippedJob] = []
        var given = failed
        while let failed = given.popLast() {
            let rows = try Row.fetchAll(
                db.cachedStatement(sql: skipping.sql),
                arguments: skipping.arguments([failed.id]) { _ in .text("needs \(failed.identity)") })
            for row in rows {
                let cursor = try EndNumbers.take(db, 1)
                try db.execute(
                    sql: "UPDATE job SET endSequence = ? WHERE id = ?", arguments: [cursor, row[stored: 0] as Int64])
                let tells = try row[stored: 4] && !HookCalls.add(db, ended: [row[stored: 0]]).isEmpty
                skipped.append(
                    SkippedJob(
                        batch: row[stored: 1], identity: row[stored: 2], need: failed.identity, cursor: cursor,
                        tellsHook: tells,
                        route: JobRoute(canonicalJSON: row[stored: 3])))
                given.append((row[stored: 0], row[stored: 2]))
            }
        }
        return skipped
    }

    /// Skips every job of the batch that waits for a job that failed, was skipped or was cancelled.
    package static func skipWhatCannotStart(_ db: Database, batch: Int64) throws -> [SkippedJob] {
        let ended = try Row.fetchAll(
            db,
            sql: """
                SELECT DISTINCT ended.id, ended.identity FROM job AS ended JOIN need ON need.needed = ended.id
                JOIN job AS waiting ON waiting.id = need.job
                WHERE ended.batch = ? AND ended.state IN (\(JobStates.list([.failed, .skipped, .cancelled]))) AND waiting.state IN (\(JobStates.unclaimed)) ORDER BY ended.id
                """, arguments: [batch])
        return try skipDependents(db, of: ended.map { ($0[stored: 0], $0[stored: 1]) })
    }

    /// Makes skipped jobs ready, except for those that still depend on a job that failed or was cancelled.
    package static func revive(_ db: Database, batch: Int64) throws {
        // One walk along the needs suffices. To examine the needs of each skipped job again for each step of a chain
        // takes time by the square of its length.
        try db.execute(
            sql: """
                WITH RECURSIVE stuck(id) AS (
                    SELECT id FROM job WHERE batch = ?1 AND state IN (\(JobStates.list([.failed, .cancelled])))
                    UNION
                    SELECT need.job FROM stuck JOIN need ON need.needed = stuck.id
                        JOIN job AS follower ON follower.id = need.job AND follower.state = \(JobStates.skipped)
                )
                \(revival.sql)
                """, arguments: revival.arguments([batch]))
        try recount(db, batch: batch)
    }

    /// Counts anew the unfinished needs of each waiting job of the batch.
    package static func recount(_ db: Database, batch: Int64) throws {
        try db.execute(
            sql: """
                UPDATE job SET needsLeft = (SELECT count(*) FROM need JOIN job AS other ON other.id = need.needed
                    WHERE need.job = job.id AND other.state <> \(JobStates.done))
                WHERE batch = ?1 AND id IN (SELECT job FROM need);
                """, arguments: [batch])
        try db.execute(sql: blocking.sql, arguments: blocking.arguments([batch]))
    }

    // MARK: Changes

    private static let skipping = JobUpdate(
        .skip, returning: "id, batch, identity, spec, \(HookCalls.mark)"
    ) { "id IN (SELECT job FROM need WHERE needed = ?\($0))" }

    /// The one parameter is the batch, and is also used in the query for jobs that still depend on a failed one.
    private static let revival = JobUpdate(.revive) { "batch = ?\($0) AND id NOT IN (SELECT id FROM stuck)" }

    private static let blocking = JobUpdate(.block) { "batch = ?\($0) AND needsLeft > 0" }
}
