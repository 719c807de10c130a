import TransferCore
package import TransferJobs
package import TransferStore

/// The taking, giving up and forgetting of batches by processes.
package struct PostgresBatches: Sendable {
    package let database: PostgresDatabase
    package let leases: PostgresLeases
    package let doubtful: DoubtfulBatches
    package let stamps: HistoryStamps

    package func register() throws -> BatchRegister {
        try database.read { db in
            let rows = try db.run(Self.registered)
            let entries = rows.compactMap { row in
                row.text(0).map { BatchRegister.Entry(name: $0, number: row.number(1) ?? 0) }
            }
            return BatchRegister(entries: entries, last: rows.first?.number(2) ?? 0)
        }
    }

    package func tally(batch: Int64) throws -> BatchTally {
        try database.read { db in
            var tally = BatchTally()
            let counts = try db.run(Self.counts, [batch])
            var (watched, isWatched): ([JobState: Int], Bool) = ([:], false)
            for row in counts {
                guard let state = row.int(0) else {
                    isWatched = true
                    continue
                }
                tally.counts[JobState(stored: state)] = row.int(1)
                watched[JobState(stored: state)] = row.int(2)
            }
            if isWatched { tally.watched = FolderTally(counts: watched, stamp: stamps.next()) }
            return tally
        }
    }

    // MARK: Taking

    package func hold(_ selection: BatchSelection) throws -> [HeldBatch] {
        let name: String? = if case .named(let name) = selection { name } else { nil }
        return try database.write(isRepeatable: true) { db in
            try leases.reclaim(db)
            try database.requireLease(db)
            // A worker takes a batch beside other workers. A batch that a process holds for itself while it stages it
            // is not taken.
            let isShared = database.role.sharesBatches
            let taken =
                name == nil
                ? isShared ? Self.sharedUnfinished : Self.takenUnfinished
                : isShared ? Self.sharedNamed : Self.takenNamed
            return try db.run(taken, name == nil ? [database.process] : [database.process, name]).map { row in
                HeldBatch(
                    id: row.number(0) ?? 0, name: row.text(1) ?? "",
                    directory: database.role.folder ?? row.text(2) ?? "")
            }.sorted { $0.id < $1.id }
        }
    }

    /// Makes the batch or finds it, and takes it for this process, in the caller's transaction.
    ///
    /// - Throws: ``/TransferStore/StagingFailure/held(_:)`` where another process holds it.
    package func hold(_ db: PostgresConnection, _ header: BatchHeader) throws -> HeldBatch {
        try leases.reclaim(db)
        try database.requireLease(db)
        if let known = try find(db, header) { return known }
        // Processes that make batches take turns: no number is given twice.
        let number = try db.run(Self.nextNumber).first
        if let known = try find(db, header) {
            try db.post(Self.unusedNumber)
            return known
        }
        let id = number?.number(0) ?? 0
        try db.post(
            Self.insertion, [id, header.name, header.source, header.directory, database.process, header.onFinish.text])
        return HeldBatch(id: id, name: header.name, directory: header.directory, isNew: true)
    }

    private func find(_ db: PostgresConnection, _ header: BatchHeader) throws -> HeldBatch? {
        let row = try db.run(Self.search, [header.name]).first
        guard let row, let id = row.number(0) else { return nil }
        if let owner = row.number(1), owner != database.process {
            throw StagingFailure.held(BatchHeld(batch: header.name, pid: Int32(row.int(3) ?? 0)))
        }
        try db.post(Self.renewal, [id, header.source, header.directory, database.process])
        if case .set = header.onFinish {
            try db.post(Self.hookChange, [id, header.onFinish.text])
        }
        return HeldBatch(
            id: id, name: header.name, directory: header.directory, hasMoved: row.text(2) != header.directory)
    }

    /// Lets other processes take jobs of a batch that this process has filled, when the transaction is over.
    package func share(_ db: PostgresConnection, _ batch: Int64) throws {
        try db.post(Self.sharing, [batch, database.process])
        try PostgresNotice.work.tell(db)
    }

    // MARK: Giving up

    /// Gives the batch up. Its jobs under way are given back one by one, because the last records of their transfers
    /// may still be about to arrive.
    package func release(batch: Int64, isComplete: Bool, end: BatchEnd?) throws -> [String] {
        if isComplete { doubtful.runEnded(of: batch) }
        return try database.write(isRepeatable: true) { db in
            if let end { try PostgresHookMessages.add(db, batch: batch, end) }
            try PostgresSteering.carryOutLeft(db, of: database.process, batch: batch)
            try db.post(Self.leaving, [batch, database.process])
            try PostgresRunNotifications.forget(db, batch: batch, of: database.process)
            // Any worker may take the rest of the batch.
            if !isComplete { try PostgresNotice.work.tell(db) }
            return []
        }
    }

    package func forget(name: String?, endedBefore: Int64?) throws -> [String] {
        try database.write { db in
            try leases.reclaim(db)
            let forgotten = try db.run(Self.removal, [name, endedBefore]).compactMap { $0.text(0) }
            // Workers may have to ask servers to drop the uploads of forgotten jobs.
            if !forgotten.isEmpty { try PostgresNotice.work.tell(db) }
            return forgotten
        }
    }

    // MARK: Statements

    private static let sharing = PostgresStatement(
        "share_batch", [.submit, .work], "UPDATE batch SET owner = NULL WHERE id = $1 AND owner = $2")

    private static let isOpen = "(owner IS NULL OR owner = $1)"

    private static let isUnfinished = """
        (EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id AND state < \(JobStates.firstEnded))
            OR EXISTS (SELECT 1 FROM hook_call WHERE hook_call.batch = batch.id))
        """

    private static let sharedNamed = PostgresStatement(
        "open_batch", [.submit, .work], "SELECT id, name, directory FROM batch WHERE \(isOpen) AND name = $2")

    private static let sharedUnfinished = PostgresStatement(
        "open_batches", [.submit, .work], "SELECT id, name, directory FROM batch WHERE \(isOpen) AND \(isUnfinished)")

    private static let takenNamed = PostgresStatement(
        "hold_batch", [.submit, .work],
        "UPDATE batch SET owner = $1 WHERE \(isOpen) AND name = $2 RETURNING id, name, directory")

    private static let takenUnfinished = PostgresStatement(
        "hold_batches", [.submit, .work],
        "UPDATE batch SET owner = $1 WHERE \(isOpen) AND \(isUnfinished) RETURNING id, name, directory")

    private static let registered = PostgresStatement(
        "batch_register", .all,
        """
        SELECT name, id, (SELECT value FROM counter WHERE name = 'batch') FROM batch
        UNION ALL SELECT NULL, NULL, value FROM counter WHERE name = 'batch' ORDER BY 2 NULLS LAST
        """)

    private static let counts = PostgresStatement(
        "count_batch", [.submit, .work],
        """
        SELECT state, count(*), count(history) FROM job WHERE batch = $1 GROUP BY state
        UNION ALL SELECT NULL, 0, 0 FROM watched_folder WHERE batch = $1
        """)

    private static let nextNumber = PostgresStatement(
        "take_batch_number", .submit, "UPDATE counter SET value = value + 1 WHERE name = 'batch' RETURNING value")

    private static let unusedNumber = PostgresStatement(
        "give_batch_number_back", .submit, "UPDATE counter SET value = value - 1 WHERE name = 'batch'")

    private static let insertion = PostgresStatement(
        "insert_batch", .submit,
        """
        INSERT INTO batch (id, name, source, directory, owner, updated, hook)
        VALUES ($1, $2, $3, $4, $5, \(PostgresClock.now), $6)
        """)

    private static let search = PostgresStatement(
        "find_batch", .submit,
        """
        SELECT batch.id, batch.owner, batch.directory, process.pid FROM batch
        LEFT JOIN process ON process.generation = batch.owner WHERE batch.name = $1 FOR UPDATE OF batch
        """)

    private static let renewal = PostgresStatement(
        "take_batch", .submit,
        """
        UPDATE batch SET source = $2, directory = $3, owner = $4, updated = \(PostgresClock.now) WHERE id = $1
        """)

    private static let hookChange = PostgresStatement(
        "set_batch_hook", .submit, "UPDATE batch SET hook = $2 WHERE id = $1")

    private static let leaving = PostgresStatement(
        "leave_batch", [.submit, .work],
        """
        UPDATE batch SET owner = NULL, updated = \(PostgresClock.now) WHERE id = $1 AND owner = $2
        """)

    private static let removal = PostgresStatement(
        "forget_batches", .submit,
        """
        WITH gone AS (
            DELETE FROM batch WHERE owner IS NULL
                AND NOT EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id AND owner IS NOT NULL)
                AND NOT EXISTS (SELECT 1 FROM watched_folder JOIN process ON until > \(PostgresClock.now)
                    AND '\(WatchTag.prefix)' || watched_folder.id = ANY (string_to_array(tags, ','))
                    WHERE watched_folder.batch = batch.id)
                AND ($1::text IS NULL OR name = $1)
                AND ($2::bigint IS NULL OR updated < $2 AND NOT EXISTS (
                    SELECT 1 FROM job WHERE job.batch = batch.id
                        AND (state < \(JobStates.firstEnded) OR ended >= $2)))
            RETURNING id, name),
        jobs AS (
            DELETE FROM job USING gone WHERE job.batch = gone.id
            RETURNING job.id, state, error_code, spec, upload, tags, drop_after IS NOT NULL AND \(PostgresReplacedUploads.areHeld) AS is_dropped),
        \(PostgresReplacedUploads.leavings(where: "$2::bigint IS NOT NULL")),
        folders AS (DELETE FROM watched_folder USING gone WHERE $2::bigint IS NULL AND watched_folder.batch = gone.id)
        SELECT name FROM gone
        """)

    package static let statements = [
        sharing, sharedNamed, sharedUnfinished, takenNamed, takenUnfinished, registered, counts, nextNumber,
        unusedNumber,
        insertion, search, renewal, hookChange, leaving, removal,
    ]
}

extension BatchHeader.Hook {
    /// The text for the database; `nil` without a hook.
    fileprivate var text: String? {
        guard case .set(let hook?) = self else { return nil }
        return HookRoute.text(hook.settings)
    }
}
