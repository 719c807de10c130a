import TransferCore
package import TransferJobs
import TransferStore

/// Jobs whose tags no worker has that lives.
package enum PostgresTags {
    private static let workers = "process WHERE is_worker AND \(PostgresStatus.alive)"

    /// - Parameter tags: A job's (`WorkerTags.text`).
    /// - Returns: `nil` where a worker has them.
    package static func lack(_ db: PostgresConnection, tags: String) throws -> WorkerLack? {
        guard let wanted = WorkerTags(text: tags) else { return nil }
        let row = try db.run(
            """
            SELECT count(*), count(*) FILTER (WHERE string_to_array($1, ',') <@ string_to_array(tags, ','))
            FROM \(Self.workers)
            """, [tags]
        ).first
        return row?.int(1) == 0 ? WorkerLack(tags: wanted, workers: row?.int(0) ?? 0) : nil
    }

    /// Jobs that wait for a worker, by their batches and tags.
    package static func lacks(
        _ db: PostgresConnection, of batches: PostgresArray<Int64>
    ) throws -> [(batch: Int64, lack: WorkerLack)] {
        try db.run(
            """
            SELECT batch, wanted, jobs, (SELECT count(*) FROM \(Self.workers))
            FROM (SELECT batch, job.tags AS wanted, count(*) AS jobs FROM job
                WHERE batch = ANY ($1::bigint[]) AND job.tags <> '' AND state IN (\(JobStates.list([.queued, .waiting])))
                GROUP BY batch, job.tags) AS waiting
            WHERE NOT EXISTS (
                SELECT 1 FROM \(Self.workers) AND string_to_array(wanted, ',') <@ string_to_array(process.tags, ','))
            ORDER BY batch, jobs DESC, wanted
            """, [batches]
        ).compactMap { row in
            WorkerTags(text: row.text(1) ?? "").map { tags in
                (row.number(0) ?? 0, WorkerLack(tags: tags, workers: row.int(3) ?? 0, jobs: row.int(2) ?? 0))
            }
        }
    }
}
