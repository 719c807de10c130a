import GRDB
import TransferCore

extension SQLiteStore {
    /// Keeps what the next attempt of an upload needs, durably.
    ///
    /// Where the server can be asked by it what it has, nothing is in doubt any more (``markSending(_:isUnrepeatable:version:)``).
    func save(upload: UploadRecord?, of id: Int64) throws {
        let canAsk = upload?.knowsTheWay == true
        try write { db in
            let statement = try db.cachedStatement(
                sql: "UPDATE job SET upload = ?, isSending = isSending AND NOT ? WHERE id = ?")
            try statement.execute(arguments: [upload?.text, canAsk, id])
        }
    }

    /// Before the first byte of an attempt leaves.
    ///
    /// - Parameters:
    ///   - isUnrepeatable: Whether nobody can say any more from then on whether it arrived, if the process dies.
    ///   - version: What is sent, where no other version is to be sent later.
    func markSending(_ id: Int64, isUnrepeatable: Bool, version: UploadRecord?) throws {
        try write { db in
            try db.execute(
                sql: "UPDATE job SET isSending = ?, upload = ifnull(?, upload) WHERE id = ?",
                arguments: [isUnrepeatable, version?.text, id])
        }
    }

    /// Before the first byte of a watched file leaves, and before ``markSending(_:isUnrepeatable:version:)``, which makes it
    /// durable where that counts.
    func note(_ fingerprint: UInt64, ofLedger row: Int64) throws {
        try writeRelaxed { db in
            try db.execute(
                sql: "UPDATE ledger SET fingerprint = ? WHERE id = ? AND state <> \(LedgerStates.confirmed)",
                arguments: [Int64(bitPattern: fingerprint), row])
        }
    }

    /// The server has been told, or has nothing.
    func forgetAbandoned(_ id: Int64) throws {
        try write { db in
            try db.execute(
                sql: "UPDATE job SET upload = NULL WHERE id = ? AND state = ?",
                arguments: [id, JobState.cancelled.rawValue])
        }
    }

    /// Whether servers hold parts of a batch's cancelled uploads, as far as is known.
    func hasAbandonedUploads(batch name: String) throws -> Bool {
        try read { db in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM job JOIN batch ON batch.id = job.batch
                        WHERE batch.name = ? AND job.state = ? AND \(Self.holdsSomething))
                    """, arguments: [name, JobState.cancelled.rawValue]) ?? false
        }
    }

    /// Whether an attempt left more than which version it began with.
    static let canGoOn = #"(upload LIKE '%"state":%')"#

    /// Of what an attempt left: not of those that only ask what has come of a request that is over.
    static let holdsSomething = """
        \(canGoOn) AND upload NOT LIKE '%"isHeld":false%'
            AND upload NOT LIKE '%"state":"put:%' AND upload NOT LIKE '%"state":"verify:%'
        """

    /// The cancelled jobs of a batch whose servers hold parts of them, as far as is known.
    func heldUploads(batch: Int64) throws -> [(id: Int64, identity: String, hasSecrets: Bool)] {
        try read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, identity, hasSecrets FROM job WHERE batch = ? AND state = ? AND \(Self.holdsSomething)
                    ORDER BY id
                    """, arguments: [batch, JobState.cancelled.rawValue]
            ).map { ($0[0], $0[1], $0[2]) }
        }
    }

    /// Takes a batch for this process, so that nobody goes on with the uploads that it is about to give up.
    ///
    /// - Returns: `nil` when another process works on it, or when there is none.
    func holdForAbandoning(batch name: String) throws -> Int64? {
        try write { db in
            try Self.reclaim(db)
            return try Int64.fetchOne(
                db,
                sql: "UPDATE batch SET owner = ?1 WHERE name = ?2 AND (owner IS NULL OR owner = ?1) RETURNING id",
                arguments: [process, name])
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
