import TransferCore
import TransferJobs
package import TransferStore

/// Jobs that were complete before.
package struct PostgresCompletedJobs: Sendable {
    package let database: PostgresDatabase

    package func identities(batch name: String) throws -> Set<String> {
        try database.read { db in
            Set(
                try db.run(Self.names, [name]).compactMap { $0.text(0) })
        }
    }

    /// Reads downloads that have brought a file, with all recorded facts, in the order of their numbers. A job that is
    /// done again keeps the record of its file until that is replaced.
    package func downloads(_ selection: DownloadSelection, after id: Int64, limit: Int) throws -> [StoredDownload] {
        let (statement, name) =
            switch selection {
            case .batch(let name): (Self.downloadsOfBatch, name)
            case .file(let path): (Self.downloadsOfFile, path)
            }
        return try database.read { db in
            try db.run(statement, [name, id, limit]).compactMap { row in
                guard let spec = try? JobSpec(canonicalJSON: row.text(10) ?? ""), let path = row.text(3) else {
                    return nil
                }
                return StoredDownload(
                    id: row.number(0) ?? 0, batch: row.text(1) ?? "", identity: row.text(2) ?? "", path: path,
                    facts: FileStamp(size: row.number(4) ?? -1, modified: row.number(5) ?? 0),
                    digest: row.text(6).flatMap { Checksum($0) }, validator: row.text(7), finalURL: row.text(8) ?? "",
                    sums: row.bytes(9).flatMap { PieceSumList(encoded: $0) }, spec: spec)
            }
        }
    }

    package func page(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob] {
        try database.read { db in
            try db.run(Self.completedPage, [batch, id, limit]).map { row in
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

    // MARK: Statements

    private static let downloadsOfBatch = PostgresStatement(
        "downloads_of_batch", .all, "\(downloads) AND name = $1 \(downloadsInOrder)")

    private static let downloadsOfFile = PostgresStatement(
        "downloads_of_file", .all, "\(downloads) AND path = $1 \(downloadsInOrder)")

    private static let downloads = """
        SELECT job.id, name, identity, path, size, modified, digest, validator, final_url, sums, spec
        FROM job JOIN batch ON batch.id = job.batch WHERE path IS NOT NULL AND NOT is_upload
        """

    private static let downloadsInOrder = "AND job.id > $2 ORDER BY job.id LIMIT $3"

    private static let names = PostgresStatement(
        "completed_identities", .all,
        """
        SELECT identity FROM job JOIN batch ON batch.id = job.batch WHERE name = $1 AND state = \(JobStates.done)
        """)

    private static let completedPage = PostgresStatement(
        "completed_jobs", [.submit, .work],
        """
        SELECT id, identity, is_upload, path, size, modified, digest, validator, final_url, status, attempts,
            length_unproven, spec, CASE WHEN digest IS NULL THEN sums END
        FROM job WHERE batch = $1 AND state = \(JobStates.done) AND id > $2 AND history IS NULL ORDER BY id LIMIT $3
        """)

    package static let statements = [
        downloadsOfBatch, downloadsOfFile, names, completedPage,
    ]
}
