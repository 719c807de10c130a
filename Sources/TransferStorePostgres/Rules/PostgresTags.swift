import TransferCore
package import TransferJobs
import TransferStore

/// The search for jobs whose tags no live worker has.
package enum PostgresTags {
    private static let workers = "process WHERE is_worker AND \(PostgresStatus.alive)"

    /// - Parameter tags: The tags of a job (`WorkerTags.text`).
    /// - Returns: `nil` where a worker has them.
    package static func lack(_ db: PostgresConnection, tags: String) throws -> WorkerLack? {
        guard let wanted = WorkerTags(text: tags) else { return nil }
        let row = try db.run(Self.having, [tags]).first
        return row?.int(1) == 0 ? WorkerLack(tags: wanted, workers: row?.int(0) ?? 0) : nil
    }

    /// Counts jobs that wait for a worker with their tags, by their batches and tags.
    package static func lacks(
        _ db: PostgresConnection, of batches: PostgresArray<Int64>
    ) throws -> [(batch: Int64, lack: WorkerLack)] {
        try db.run(Self.lacking, [batches]).compactMap { row in
            WorkerTags(text: row.text(1) ?? "").map { tags in
                (row.number(0) ?? 0, WorkerLack(tags: tags, workers: row.int(3) ?? 0, jobs: row.int(2) ?? 0))
            }
        }
    }

    // MARK: Statements

    private static let having = PostgresStatement(
        "workers_with_tags", .all,
        """
        SELECT count(*), count(*) FILTER (WHERE string_to_array($1, ',') <@ string_to_array(tags, ','))
        FROM \(workers)
        """)

    private static let lacking = PostgresStatement(
        "jobs_without_worker", .all,
        """
        SELECT batch, wanted, jobs, (SELECT count(*) FROM \(workers))
        FROM (SELECT batch, job.tags AS wanted, count(*) AS jobs FROM job
            WHERE batch = ANY ($1::bigint[]) AND job.tags <> '' AND state IN (\(JobStates.list([.queued, .waiting])))
            GROUP BY batch, job.tags) AS waiting
        WHERE NOT EXISTS (
            SELECT 1 FROM \(workers) AND string_to_array(wanted, ',') <@ string_to_array(process.tags, ','))
        ORDER BY batch, jobs DESC, wanted
        """)

    package static let statements = [
        having, lacking,
    ]
}
