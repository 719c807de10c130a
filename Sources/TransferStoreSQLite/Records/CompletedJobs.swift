import GRDB
package import TransferStore

/// Jobs that were complete before.
package struct CompletedJobs: Sendable {
    package let database: QueueDatabase

    package func page(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(Self.columns) FROM job
                    WHERE batch = ? AND state = \(JobStates.done) AND id > ? AND ledger IS NULL ORDER BY id LIMIT ?
                    """, arguments: [batch, id, limit]
            ).map { row in CompletedJob(batch: batch) { row.value($0, in: CompletedJob.columns) } }
        }
    }

    private static let columns = CompletedJob.columns.map {
        $0 == .sums ? "CASE WHEN digest IS NULL THEN sums END" : $0.sqlite
    }.joined(separator: ", ")

    /// Reads downloads that have brought a file, with all recorded facts, in the order of their numbers. A job that is
    /// done again keeps the record of its file until that is replaced.
    package func downloads(_ selection: DownloadSelection, after id: Int64, limit: Int) throws -> [StoredDownload] {
        let (condition, name) =
            switch selection {
            case .batch(let name): ("batch.name = ?", name)
            case .file(let path): ("path = ?", path)
            }
        return try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(StoredDownload.columns.map { "job.\($0.sqlite)" }.joined(separator: ", ")), batch.name
                    FROM job JOIN batch ON batch.id = job.batch
                    WHERE \(condition) AND path NOT NULL AND NOT isUpload AND job.id > ?
                    ORDER BY job.id LIMIT ?
                    """, arguments: [name, id, limit]
            ).compactMap { row in
                StoredDownload(batch: row[stored: StoredDownload.columns.count]) {
                    row.value($0, in: StoredDownload.columns)
                }
            }
        }
    }

    package func identities(batch name: String) throws -> Set<String> {
        try database.read { db in
            try String.fetchSet(
                db,
                sql:
                    "SELECT identity FROM job JOIN batch ON batch.id = job.batch WHERE name = ? AND state = \(JobStates.done)",
                arguments: [name])
        }
    }
}
