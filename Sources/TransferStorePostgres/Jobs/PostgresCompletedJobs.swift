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
                StoredDownload(batch: row.text(StoredDownload.columns.count) ?? "") {
                    row.value($0, in: StoredDownload.columns)
                }
            }
        }
    }

    package func page(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob] {
        try database.read { db in
            try db.run(Self.completedPage, [batch, id, limit]).map { row in
                CompletedJob(batch: batch) { row.value($0, in: CompletedJob.columns) }
            }
        }
    }

    // MARK: Statements

    private static let downloadsOfBatch = PostgresStatement(
        "downloads_of_batch", .all, "\(downloads) AND name = $1 \(downloadsInOrder)")

    private static let downloadsOfFile = PostgresStatement(
        "downloads_of_file", .all, "\(downloads) AND path = $1 \(downloadsInOrder)")

    private static let downloads = """
        SELECT \(StoredDownload.columns.map { "job.\($0.rawValue)" }.joined(separator: ", ")), batch.name
        FROM job JOIN batch ON batch.id = job.batch WHERE path IS NOT NULL AND NOT is_upload
        """

    private static let downloadsInOrder = "AND job.id > $2 ORDER BY job.id LIMIT $3"

    private static let names = PostgresStatement(
        "completed_identities", .all,
        """
        SELECT identity FROM job JOIN batch ON batch.id = job.batch WHERE name = $1 AND state = \(JobStates.done)
        """)

    private static let columns = CompletedJob.columns.map {
        $0 == .sums ? "CASE WHEN digest IS NULL THEN sums END" : $0.rawValue
    }.joined(separator: ", ")

    private static let completedPage = PostgresStatement(
        "completed_jobs", [.submit, .work],
        """
        SELECT \(columns) FROM job
        WHERE batch = $1 AND state = \(JobStates.done) AND id > $2 AND history IS NULL ORDER BY id LIMIT $3
        """)

    package static let statements = [
        downloadsOfBatch, downloadsOfFile, names, completedPage,
    ]
}
