import TransferJobs
package import TransferStore

/// The jobs that can no longer start because a job that they need failed, was cancelled or was skipped, and those that
/// need them in turn.
///
/// Dependents are found, and their rows locked, before the numbers of ends are taken. So the counter, which all
/// processes wait for, is not locked during a wait for rows of other processes.
package struct PostgresDependents {
    private struct Job {
        let id: Int64
        let batch: Int64
        let identity: String
        let spec: String
        let tellsHook: Bool
    }

    /// The dependents in the order of their ends, each with the identity of the failed job that it needs.
    private var found: [(job: Job, need: String)] = []

    package init() {}

    package var count: Int { found.count }

    package static func find(
        _ db: PostgresConnection, of failed: [(id: Int64, identity: String)]
    ) throws -> PostgresDependents {
        var result = PostgresDependents()
        try result.find(db, of: failed)
        return result
    }

    /// Finds the dependents of further jobs, of another batch.
    ///
    /// - Parameter failed: The jobs that failed or were cancelled.
    package mutating func find(_ db: PostgresConnection, of failed: [(id: Int64, identity: String)]) throws {
        guard !failed.isEmpty else { return }
        var followers: [Int64: [Job]] = [:]
        for row in try db.run(Self.search, [PostgresArray(failed.map(\.id))]) {
            let job = Job(
                id: row.number(0) ?? 0, batch: row.number(1) ?? 0, identity: row.text(2) ?? "", spec: row.text(3) ?? "",
                tellsHook: row.flag(4))
            followers[row.number(5) ?? 0, default: []].append(job)
        }
        // A job that failed itself is not skipped, although it may need another of the failed jobs.
        var (given, taken) = (failed, Set(failed.map(\.id)))
        while let failed = given.popLast() {
            for job in followers[failed.id] ?? [] where taken.insert(job.id).inserted {
                found.append((job, failed.identity))
                given.append((job.id, job.identity))
            }
        }
    }

    /// Skips the jobs that were found.
    ///
    /// - Parameter first: The number of the first end; the others follow.
    package func skip(_ db: PostgresConnection, from first: Int64) throws -> [SkippedJob] {
        guard !found.isEmpty else { return [] }
        let needs = found.map { "needs \($0.need)" }
        try db.post(Self.skipping, [first, PostgresArray(found.map(\.job.id)), PostgresArray(needs)])
        let telling = found.map(\.job).filter(\.tellsHook)
        if !telling.isEmpty { _ = try PostgresHookMessages.add(db, ended: telling.map(\.id)) }
        return zip(first..., found).map { cursor, found in
            SkippedJob(
                batch: found.job.batch, identity: found.job.identity, need: found.need, cursor: cursor,
                tellsHook: found.job.tellsHook, route: JobRoute(canonicalJSON: found.job.spec))
        }
    }

    // MARK: Statements

    private static let search = PostgresStatement(
        "dependents", [.submit, .work],
        """
        WITH RECURSIVE stuck(id) AS (
            SELECT unnest($1::bigint[])
            UNION
            SELECT need.job FROM stuck JOIN need ON need.needed = stuck.id
                JOIN job AS follower ON follower.id = need.job AND follower.state IN (\(JobStates.unclaimed))
        )
        SELECT job.id, batch, identity, spec, tells_hook, needed
        FROM stuck JOIN need ON needed = stuck.id JOIN job ON job.id = need.job
        WHERE state IN (\(JobStates.unclaimed)) ORDER BY job.id FOR UPDATE OF job
        """)

    private static let skipping = PostgresStatement(
        "skip_jobs", [.submit, .work],
        PostgresJobUpdate(
            .skip, guards: false, endNumber: { "$\($0) + position - 1" }, expressions: [.errorMessage: "message"],
            from: {
                "unnest($\($0 + 1)::bigint[], $\($0 + 2)::text[]) WITH ORDINALITY AS missing(missing_id, message, position)"
            }, where: { _ in "job.id = missing_id" }
        ).sql)

    package static let statements = [search, skipping]
}
