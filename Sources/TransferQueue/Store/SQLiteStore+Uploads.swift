import GRDB
import TransferCore

extension SQLiteStore {
    /// Whether servers hold parts of a batch's cancelled uploads, as far as is known.
    func hasAbandonedUploads(batch name: String) throws -> Bool {
        try read { db in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM job JOIN batch ON batch.id = job.batch
                        WHERE batch.name = ? AND job.state = ? AND holdsSomething(upload))
                    """, arguments: [name, JobState.cancelled.rawValue]) ?? false
        }
    }

    /// The cancelled jobs of a batch whose servers hold parts of them, as far as is known.
    func heldUploads(batch: Int64) throws -> [HeldUpload] {
        try read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, identity, hasSecrets FROM job WHERE batch = ? AND state = ? AND holdsSomething(upload)
                    ORDER BY id
                    """, arguments: [batch, JobState.cancelled.rawValue]
            ).map { HeldUpload(id: $0[0], identity: $0[1], hasSecrets: $0[2]) }
        }
    }

    /// The cancelled jobs of a batch whose servers haven't been told.
    ///
    /// - Parameter secrets: Jobs whose secrets nobody has any more are left out.
    func abandonedUploads(batch: Int64, secrets: [Int64: JobSecrets]) throws -> [AbandonedUpload] {
        try read { db in
            let rows = try Row.fetchAll(
                db,
                sql: "SELECT id, spec, upload, hasSecrets FROM job WHERE batch = ? AND state = ? AND upload NOT NULL",
                arguments: [batch, JobState.cancelled.rawValue])
            return rows.compactMap { row in
                let id: Int64 = row[0]
                guard let upload = UploadRecord(text: row[2]), var spec = try? JobSpec(canonicalJSON: row[1] as String)
                else { return nil }
                if row[3] as Bool {
                    guard let known = secrets[id] else { return nil }
                    spec = known.restore(spec)
                }
                return AbandonedUpload(id: id, spec: spec, upload: upload)
            }
        }
    }
}
