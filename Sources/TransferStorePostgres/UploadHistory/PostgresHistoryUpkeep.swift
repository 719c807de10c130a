import TransferCore
import TransferEventLoop
import TransferJobs
import TransferStore
import TransferWatch

/// The upload history after confirmation: pending moves and deletions of files, their digests, and rows that are no
/// longer needed. The database's clock counts; callers pass and get times of their machine's clock.
package struct PostgresHistoryUpkeep: Sendable {
    let database: PostgresDatabase
    let history: PostgresHistory

    /// Takes confirmed files that are due, for this process and for a minute. Other watchers of the folder leave them
    /// alone.
    func dueRows(folder: Int64, limit: Int) throws -> [HistoryRow] {
        try database.write { db in
            try db.post(Self.folderLock, [folder])
            return try db.run(Self.takingDue, [folder, limit]).map {
                history.local(PostgresHistory.row($0), in: folder)
            }
        }
    }

    /// Returns the time when the next file is due, in milliseconds since 1970 by this machine's clock.
    func nextDue(folder: Int64) throws -> Int64? {
        try database.read { db in
            try db.run(Self.nextDueTime, [folder]).first?.number(0).map { WallClock.milliseconds + $0 }
        }
    }

    func keptCount(folder: Int64) throws -> Int {
        try database.read { db in try db.run(Self.kept, [folder]).first?.int(0) ?? 0 }
    }

    /// Records the outcomes for files that were due.
    ///
    /// - Returns: The number of files that no longer wait for their time.
    func settle(_ settlements: [HistorySettlement]) throws -> Int {
        try database.write { db in
            try lockFolders(db, of: settlements.map(\.row))
            let answers = try settlements.map { settlement in
                let row = settlement.row
                switch settlement.kind {
                case .done: return try db.post(Self.doneRemoval, [row])
                case .notThere: return try db.post(Self.missing, [row])
                case .kept: return try db.post(Self.keeping, [row])
                case .again(let time, let changed):
                    return try db.post(Self.postponement, [row, time - WallClock.milliseconds, changed])
                }
            }
            return try answers.count { try $0.rows().first?.flag(0) ?? false }
        }
    }

    /// Records files that were already present when only new files were wanted, so that their copies do not count as
    /// new.
    func note(old files: [FileVersion], folder: Int64) throws {
        try database.write(isRepeatable: true) { db in
            for file in files.map({ history.stored($0, in: folder) }) {
                try db.post(
                    Self.oldInsertion,
                    [
                        folder, file.deviceBits, file.inodeBits, file.size, file.modified, file.path,
                        file.stamp.changed,
                    ])
            }
        }
    }

    func rowsWithoutDigest(folder: Int64, limit: Int) throws -> [HistoryRow] {
        try rows(Self.undigested, [folder, limit], in: folder)
    }

    func save(digests: [(row: Int64, digest: Checksum?)]) throws {
        try database.write(isRepeatable: true) { db in
            try lockFolders(db, of: digests.map(\.row))
            for (row, digest) in digests { try db.post(Self.digestChange, [row, digest?.description ?? ""]) }
        }
    }

    func settledRows(folder: Int64, after id: Int64, limit: Int, onlyGone: Bool) throws -> [HistoryRow] {
        try rows(Self.settled, [folder, id, limit, onlyGone], in: folder)
    }

    private func rows(
        _ statement: PostgresStatement, _ values: [(any PostgresValue)?], in folder: Int64
    ) throws -> [HistoryRow] {
        try database.read { db in
            try db.run(statement, values).map { history.local(PostgresHistory.row($0), in: folder) }
        }
    }

    /// Notes which files are present and absent, and removes the rows of files that have been absent for long enough.
    ///
    /// - Parameter grace: The time for which a file must be absent, in milliseconds.
    func prune(present: [Int64], absent: [Int64], grace: Int64) throws -> PrunedRows {
        guard !present.isEmpty || !absent.isEmpty else { return PrunedRows() }
        return try database.write { db in
            try lockFolders(db, of: present + absent)
            var pruned = PrunedRows()
            pruned.returned = try db.run(Self.returning, [PostgresArray(present)]).count { $0.flag(0) }
            for row in try db.run(Self.absentRows, [PostgresArray(absent), grace]) {
                let id = row.number(0)
                if row.number(1) == nil {
                    try db.post(Self.missing, [id])
                    pruned.marked += 1
                    if row.number(3) != nil { pruned.missed += 1 }
                } else if !row.flag(4) {
                    pruned.marked += 1
                } else {
                    if let job = row.number(2) {
                        guard try db.run(Self.failedRemoval, [job]).count > 0 else { continue }
                        pruned.failedJobs += 1
                    }
                    try db.post(Self.doneRemoval, [id])
                    pruned.removed += 1
                }
            }
            return pruned
        }
    }

    func count(folder: Int64) throws -> Int {
        try database.read { db in try db.run(Self.count, [folder]).first?.int(0) ?? 0 }
    }

    /// Locks the folders of rows. Rules read rows and write them as a whole under this lock.
    private func lockFolders(_ db: PostgresConnection, of rows: [Int64]) throws {
        try db.post(Self.folderLocks, [PostgresArray(rows)])
    }

    // MARK: Statements

    private static let folderLock = PostgresStatement(
        "lock_folder", .submit, "SELECT id FROM watched_folder WHERE id = $1 FOR NO KEY UPDATE")

    private static let folderLocks = PostgresStatement(
        "lock_folders_of_history", .submit,
        """
        SELECT count(*) FROM (SELECT FROM watched_folder WHERE id IN (
            SELECT folder FROM upload_history WHERE upload_history.id = ANY ($1::bigint[])) ORDER BY id
            FOR NO KEY UPDATE) AS locked
        """)

    private static let isKept = "due IS NOT NULL AND gone IS NULL"

    /// Takes files for a minute. Another watcher may take them if this process has not settled them by then.
    private static let takingDue = PostgresStatement(
        "take_due_history", .submit,
        """
        WITH chosen AS MATERIALIZED (
            SELECT id FROM upload_history WHERE folder = $1 AND \(isKept) AND due <= \(PostgresClock.now)
            ORDER BY due LIMIT $2 FOR UPDATE SKIP LOCKED)
        UPDATE upload_history SET due = \(PostgresClock.now) + 60000 FROM chosen WHERE upload_history.id = chosen.id
        RETURNING \(PostgresHistory.rowColumns)
        """)

    private static let nextDueTime = PostgresStatement(
        "next_due_history", .submit,
        "SELECT min(due) - \(PostgresClock.now) FROM upload_history WHERE folder = $1 AND \(isKept)")

    private static let kept = PostgresStatement(
        "count_kept_history", .submit, "SELECT count(*) FROM upload_history WHERE folder = $1 AND \(isKept)")

    private static let doneRemoval = PostgresStatement(
        "settle_history", .submit, "DELETE FROM upload_history WHERE id = $1 RETURNING \(isKept)")

    private static let missing = PostgresStatement(
        "miss_history", .submit,
        """
        UPDATE upload_history SET gone = \(PostgresClock.now) WHERE id = $1 AND gone IS NULL RETURNING due IS NOT NULL
        """)

    private static let keeping = PostgresStatement(
        "keep_history", .submit,
        "UPDATE upload_history SET due = NULL WHERE id = $1 AND due IS NOT NULL RETURNING gone IS NULL")

    private static let postponement = PostgresStatement(
        "postpone_history", .submit,
        """
        UPDATE upload_history SET due = \(PostgresClock.now) + $2::bigint, changed = coalesce($3, changed)
        WHERE id = $1 AND due IS NOT NULL RETURNING false
        """)

    private static let oldInsertion = PostgresStatement(
        "note_old_history", .submit,
        """
        INSERT INTO upload_history (folder, device, inode, size, modified, path, url, state, staged, changed)
        SELECT $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::text, '', \(HistoryState.old.rawValue),
            \(PostgresClock.now), $7::bigint
        WHERE NOT EXISTS (SELECT FROM upload_history
            WHERE folder = $1 AND md5(path) = md5($6) AND path = $6 AND size = $4 AND modified = $5)
        """)

    private static let undigested = PostgresStatement(
        "undigested_history", .submit,
        """
        SELECT \(PostgresHistory.rowColumns) FROM upload_history
        WHERE folder = $1 AND state = \(HistoryStates.confirmed) AND digest IS NULL ORDER BY id LIMIT $2
        """)

    private static let digestChange = PostgresStatement(
        "digest_history", .submit, "UPDATE upload_history SET digest = $2 WHERE id = $1 AND digest IS NULL")

    private static let settled = PostgresStatement(
        "settled_history", .submit,
        """
        SELECT \(PostgresHistory.rowColumns) FROM upload_history WHERE folder = $1 AND id > $2
            AND state <> \(HistoryStates.open) AND (gone IS NOT NULL OR NOT $4::boolean) ORDER BY id LIMIT $3
        """)

    private static let returning = PostgresStatement(
        "find_history", .submit,
        """
        UPDATE upload_history SET gone = NULL WHERE id = ANY ($1::bigint[]) AND gone IS NOT NULL RETURNING due IS NOT NULL
        """)

    private static let absentRows = PostgresStatement(
        "absent_history", .submit,
        """
        SELECT id, gone, job, due, gone <= \(PostgresClock.now) - $2::bigint FROM upload_history
        WHERE id = ANY ($1::bigint[]) AND state <> \(HistoryStates.open) ORDER BY id FOR UPDATE
        """)

    private static let failedRemoval = PostgresStatement(
        "remove_failed_watched", .submit,
        "DELETE FROM job WHERE id = $1 AND state = \(JobStates.failed) RETURNING 1")

    private static let count = PostgresStatement(
        "count_history", .submit, "SELECT count(*) FROM upload_history WHERE folder = $1")

    package static let statements = [
        folderLock, folderLocks, takingDue, nextDueTime, kept, doneRemoval, missing, keeping, postponement,
        oldInsertion, undigested, digestChange,
        settled, returning, absentRows, failedRemoval, count,
    ]
}
