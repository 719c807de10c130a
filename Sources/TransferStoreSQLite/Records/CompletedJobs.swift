import FoundationEssentials
import GRDB
import TransferCore
import TransferJobs
package import TransferStore

/// Jobs that were complete before.
package struct CompletedJobs: Sendable {
    package let database: QueueDatabase

    package func page(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, identity, isUpload, path, size, modified, digest, validator, finalURL, status, attempts,
                        lengthUnproven, spec, CASE WHEN digest IS NULL THEN sums END
                    FROM job WHERE batch = ? AND state = \(JobStates.done) AND id > ? AND ledger IS NULL ORDER BY id LIMIT ?
                    """, arguments: [batch, id, limit]
            ).map { row in
                let digest: String? = row[stored: 6]
                let route = JobRoute(canonicalJSON: row[stored: 12])
                let isLengthUnproven = row[stored: 11] as Int64? == 1
                // The record of an early version may have no URL.
                let finalURL: String? = row[stored: 8]
                return CompletedJob(
                    id: row[stored: 0], batch: batch, identity: row[stored: 1], isUpload: row[stored: 2],
                    path: row[stored: 3] ?? "",
                    facts: FileStamp(size: row[stored: 4] ?? -1, modified: row[stored: 5] ?? 0),
                    digest: digest.flatMap { Checksum($0) },
                    sums: (row[stored: 13] as Data?).flatMap { PieceSumList(encoded: Array($0)) },
                    validator: row[stored: 7],
                    finalURL: finalURL.flatMap { $0.isEmpty ? nil : $0 } ?? route.url,
                    status: row[stored: 9] ?? 0, attempts: row[stored: 10], isLengthUnproven: isLengthUnproven,
                    route: route,
                    isStrict: isLengthUnproven && route.job?.isStrict ?? false)
            }
        }
    }

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
                    SELECT job.id, batch.name, identity, path, size, modified, digest, validator, finalURL, sums, spec
                    FROM job JOIN batch ON batch.id = job.batch
                    WHERE \(condition) AND path NOT NULL AND NOT isUpload AND job.id > ?
                    ORDER BY job.id LIMIT ?
                    """, arguments: [name, id, limit]
            ).compactMap { row in
                guard let spec = try? JobSpec(canonicalJSON: row[stored: 10]), let path = row[stored: 3] as String?
                else { return nil }
                return StoredDownload(
                    id: row[stored: 0], batch: row[stored: 1], identity: row[stored: 2], path: path,
                    facts: FileStamp(size: row[stored: 4] ?? -1, modified: row[stored: 5] ?? 0),
                    digest: (row[stored: 6] as String?).flatMap { Checksum($0) }, validator: row[stored: 7],
                    finalURL: row[stored: 8] ?? "",
                    sums: (row[stored: 9] as Data?).flatMap { PieceSumList(encoded: Array($0)) }, spec: spec)
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
