import TransferCore
package import TransferJobs
package import TransferStore

/// Uploads that were cancelled while servers held parts of them.
package struct PostgresUploads: Sendable {
    package let database: PostgresDatabase

    package func held(batch: Int64) throws -> [HeldUpload] {
        try database.read { db in
            try db.run(
                """
                SELECT id, identity, has_secrets FROM job
                WHERE batch = $1 AND state = \(JobStates.cancelled) AND upload_is_held ORDER BY id
                """, [batch]
            ).map { HeldUpload(id: $0.number(0) ?? 0, identity: $0.text(1) ?? "", hasSecrets: $0.flag(2)) }
        }
    }

    /// Whether servers hold parts of a batch's cancelled uploads, as far as is known.
    package func exist(batch name: String) throws -> Bool {
        try database.read { db in
            try db.run(
                """
                SELECT EXISTS (SELECT 1 FROM job JOIN batch ON batch.id = job.batch
                    WHERE name = $1 AND state = \(JobStates.cancelled) AND upload_is_held)
                """, [name]
            ).first?.flag(0) ?? false
        }
    }

    package func abandoned(batch: Int64, secrets: [Int64: JobSecrets]) throws -> [AbandonedUpload] {
        try database.read { db in
            try db.run(
                """
                SELECT id, spec, upload, has_secrets FROM job
                WHERE batch = $1 AND state = \(JobStates.cancelled) AND upload IS NOT NULL ORDER BY id
                """, [batch]
            ).compactMap { row in
                let upload = AbandonedUpload(id: row.number(0) ?? 0, spec: row.text(1) ?? "", upload: row.text(2))
                guard let upload, row.flag(3) else { return upload }
                return secrets[upload.id].map { upload.restored($0) }
            }
        }
    }
}
