import GRDB
import TransferCore
package import TransferJobs
package import TransferStore

/// Uploads that were cancelled while servers held parts of them.
package struct AbandonedUploads: Sendable {
    package let database: QueueDatabase

    /// Returns whether servers hold parts of a batch's cancelled uploads, to the extent that this is known.
    package func exist(batch name: String) throws -> Bool {
        try database.read { db in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM job JOIN batch ON batch.id = job.batch
                        WHERE batch.name = ? AND job.state = ? AND holdsSomething(upload))
                    """, arguments: [name, JobState.cancelled.rawValue]) ?? false
        }
    }

    /// Reads the cancelled jobs of a batch whose servers hold parts of them, to the extent that this is known.
    package func held(batch: Int64) throws -> [HeldUpload] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, identity, hasSecrets FROM job WHERE batch = ? AND state = ? AND holdsSomething(upload)
                    ORDER BY id
                    """, arguments: [batch, JobState.cancelled.rawValue]
            ).map { HeldUpload(id: $0[stored: 0], identity: $0[stored: 1], hasSecrets: $0[stored: 2]) }
        }
    }

    /// Reads the cancelled jobs of a batch whose servers have not been asked to drop their parts.
    ///
    /// - Parameter secrets: The secrets of jobs, by job. Jobs whose secrets are lost are left out.
    package func all(batch: Int64, secrets: [Int64: JobSecrets]) throws -> [AbandonedUpload] {
        try database.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: "SELECT id, spec, upload, hasSecrets FROM job WHERE batch = ? AND state = ? AND upload NOT NULL",
                arguments: [batch, JobState.cancelled.rawValue])
            return rows.compactMap { row in
                guard let upload = AbandonedUpload(id: row[stored: 0], spec: row[stored: 1], upload: row[stored: 2])
                else { return nil }
                guard row[stored: 3] as Bool else { return upload }
                return secrets[upload.id].map { upload.restored($0) }
            }
        }
    }
}
