import TransferCore
package import TransferJobs
import TransferStore

/// The ends of jobs, for processes that read the queue.
package struct PostgresEnds: Sendable {
    package let database: PostgresDatabase

    private static let tables = "job JOIN batch ON batch.id = job.batch"

    /// The columns that ``event(_:)`` reads, and the numbers of the job and its batch.
    private static let selection = """
        SELECT batch.name, \(StoredEnd.columns.map { "job.\($0.rawValue)" }.joined(separator: ", ")), job.id, job.batch
        """

    package func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent] {
        try database.read { db in
            try db.run(Self.page, [cursor, limit]).map(Self.event)
        }
    }

    package func end(batch: String, job: String) throws -> QueueEvent? {
        try database.read { db in
            try db.run(Self.single, [batch, job]).first.map(Self.event)
        }
    }

    /// Returns the ends of those among the jobs that call a hook, with their rows.
    package static func hooked(
        _ db: PostgresConnection, _ ids: [Int64]
    ) throws -> [(id: Int64, batch: Int64, spec: String, event: QueueEvent)] {
        try db.run(
            Self.hookedEnds, [PostgresArray(ids)]
        ).map { row in
            let next = StoredEnd.columns.count + 1
            let spec = row.text(StoredEnd.place(.spec)) ?? ""
            return (row.number(next) ?? 0, row.number(next + 1) ?? 0, spec, event(row))
        }
    }

    package func lastCursor() throws -> Int64 { try database.read { try PostgresEndNumbers.last($0) } }

    package func failures(batch name: String, limit: Int) throws -> [FailedJob] {
        try database.read { db in
            try db.run(Self.failedJobs, [name, limit]).map { row in
                var job = FailedJob(
                    batch: name, job: row.text(0) ?? "", code: row.text(1) ?? "", message: row.text(2) ?? "",
                    status: row.int(3), host: row.text(4), attempts: row.int(5) ?? 0, again: row.number(6),
                    route: Self.route(row.text(7)))
                job.finalURL = row.text(8)
                return job
            }
        }
    }

    private static func route(_ spec: String?) -> JobRoute? {
        spec.flatMap { try? JobSpec(canonicalJSON: $0) }.map { JobRoute($0) }
    }

    private static func event(_ row: PostgresRow) -> QueueEvent {
        StoredEnd.event(of: row.text(0) ?? "") { row.value($0, at: StoredEnd.place($0)) }
    }

    // MARK: Statements

    private static let page = PostgresStatement(
        "ends_after", .all, "\(selection) FROM \(tables) WHERE end_number > $1 ORDER BY end_number LIMIT $2")

    private static let single = PostgresStatement(
        "end_of_job", .all,
        """
        \(selection) FROM \(tables)
        WHERE batch.name = $1 AND key = md5($2)::uuid AND identity = $2 AND state >= \(JobStates.firstEnded)
        """)

    private static let hookedEnds = PostgresStatement(
        "hooked_ends", [.submit, .work],
        """
        \(selection) FROM \(tables) WHERE job.id = ANY ($1::bigint[]) AND tells_hook
        ORDER BY array_position($1::bigint[], job.id)
        """)

    private static let failedJobs = PostgresStatement(
        "failed_jobs", .all,
        """
        SELECT identity, error_code, error_message, status, host, attempts, not_before, spec, final_url
        FROM \(tables) WHERE batch.name = $1 AND state = \(JobStates.failed) ORDER BY end_number LIMIT $2
        """)

    package static let statements = [
        page, single, hookedEnds, failedJobs,
    ]
}
