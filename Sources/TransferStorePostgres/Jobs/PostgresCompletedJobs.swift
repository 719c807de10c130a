import TransferCore
import TransferJobs
package import TransferStore

/// Jobs that were complete before.
package struct PostgresCompletedJobs: Sendable {
    package let database: PostgresDatabase

    package func page(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob] {
        try database.read { db in
            try db.run(
                """
                SELECT id, identity, is_upload, path, size, modified, digest, validator, final_url, status, attempts,
                    length_unproven, spec, CASE WHEN digest IS NULL THEN sums END
                FROM job WHERE batch = $1 AND state = \(JobStates.done) AND id > $2 ORDER BY id LIMIT $3
                """, [batch, id, limit]
            ).map { row in
                let route = JobRoute(canonicalJSON: row.text(12) ?? "")
                let isLengthUnproven = row.flag(11)
                return CompletedJob(
                    id: row.number(0) ?? 0, batch: batch, identity: row.text(1) ?? "", isUpload: row.flag(2),
                    path: row.text(3) ?? "",
                    facts: FileStamp(size: row.number(4) ?? -1, modified: row.number(5) ?? 0),
                    digest: row.text(6).flatMap { Checksum($0) },
                    sums: row.bytes(13).flatMap { PieceSumList(encoded: $0) }, validator: row.text(7),
                    finalURL: row.text(8) ?? route.url, status: row.int(9) ?? 0, attempts: row.int(10) ?? 0,
                    isLengthUnproven: isLengthUnproven, route: route,
                    isStrict: isLengthUnproven && route.job?.isStrict ?? false)
            }
        }
    }
}
