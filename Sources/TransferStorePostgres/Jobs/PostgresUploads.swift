import TransferCore
package import TransferJobs
package import TransferStore

/// Uploads that were cancelled while servers held parts of them.
package struct PostgresUploads: Sendable {
    package let database: PostgresDatabase

    package func held(batch: Int64) throws -> [HeldUpload] {
        try database.read { db in
            try db.run(
                Self.heldUploads, [batch]
            ).map { HeldUpload(id: $0.number(0) ?? 0, identity: $0.text(1) ?? "", hasSecrets: $0.flag(2)) }
        }
    }

    /// Returns whether servers hold parts of a batch's cancelled uploads, to the extent that this is known.
    package func exist(batch name: String) throws -> Bool {
        try database.read { db in
            try db.run(Self.existence, [name]).first?.flag(0) ?? false
        }
    }

    package func abandoned(batch: Int64, secrets: [Int64: JobSecrets]) throws -> [AbandonedUpload] {
        try database.read { db in
            try db.run(Self.abandonedUploads, [batch]).compactMap { row in
                let upload = AbandonedUpload(id: row.number(0) ?? 0, spec: row.text(1) ?? "", upload: row.text(2))
                guard let upload, row.flag(3) else { return upload }
                return secrets[upload.id].map { upload.restored($0) }
            }
        }
    }

    /// Takes uploads whose servers this process asks now to drop their parts. Another process gets a turn where this
    /// one fails or does not learn that it took them. The time before it is that since the cancellation, and at least a
    /// minute.
    package func take(limit: Int) throws -> [AbandonedUpload] {
        try database.writeFenced(isDurable: false, isRepeatable: true) { db in
            let tags = PostgresArray(database.tags.names)
            let cancelled = try db.run(Self.taking, [tags, limit]).compactMap { row in
                AbandonedUpload(id: row.number(0) ?? 0, spec: row.text(1) ?? "", upload: row.text(2))
            }
            return try cancelled + PostgresReplacedUploads.take(db, tags: tags, limit: limit - cancelled.count)
        }
    }

    /// The time at which other processes ask the server of an upload that this process has taken, in SQL.
    package static let nextTurn = "\(PostgresClock.now) + 60000"

    /// Returns that time with a delay that grows: it is the time since `column`, and at least a minute.
    static func nextTurn(since column: String) -> String {
        "\(nextTurn) + greatest(0, \(PostgresClock.now) - \(column) - 60000)"
    }

    // MARK: Statements

    private static let taking = PostgresStatement(
        "take_abandoned_uploads", .work,
        """
        UPDATE job SET drop_after = \(nextTurn(since: "ended"))
        WHERE id IN (SELECT id FROM job
            WHERE drop_after <= \(PostgresClock.now) AND state = \(JobStates.cancelled) AND upload IS NOT NULL
                AND NOT has_secrets AND string_to_array(tags, ',') <@ $1::text[]
            ORDER BY drop_after LIMIT $2 FOR UPDATE SKIP LOCKED)
        RETURNING id, spec, upload
        """)

    private static let heldUploads = PostgresStatement(
        "held_uploads", [.submit, .work],
        """
        SELECT id, identity, has_secrets FROM job
        WHERE batch = $1 AND state = \(JobStates.cancelled) AND upload_is_held ORDER BY id
        """)

    private static let existence = PostgresStatement(
        "has_held_uploads", .all,
        """
        SELECT EXISTS (SELECT 1 FROM job JOIN batch ON batch.id = job.batch
            WHERE name = $1 AND state = \(JobStates.cancelled) AND upload_is_held)
        """)

    private static let abandonedUploads = PostgresStatement(
        "abandoned_uploads", [.submit, .work],
        """
        SELECT id, spec, upload, has_secrets FROM job
        WHERE batch = $1 AND state = \(JobStates.cancelled) AND upload IS NOT NULL ORDER BY id
        """)

    package static let statements = [
        taking, heldUploads, existence, abandonedUploads,
    ]
}
