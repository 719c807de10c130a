import GRDB
package import TransferCore
import TransferEventLoop
package import TransferStore
package import TransferWatch

/// The upload history after confirmation: actions on files, their digests, and rows that are no longer needed.
package struct HistoryUpkeep: Sendable {
    package let database: QueueDatabase

    /// Corrects the stored times after the clock may have been set.
    package func followClock() throws { try database.writeRelaxed(leavesPacks: true) { try StoredWait.follow($0) } }

    package func dueRows(folder: Int64, now: Int64, limit: Int) throws -> [HistoryRow] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(HistoryRow.columns) FROM ledger
                    WHERE folder = ? AND due IS NOT NULL AND gone IS NULL AND due <= ? ORDER BY due LIMIT ?
                    """, arguments: [folder, now, limit]
            ).map(HistoryRow.init)
        }
    }

    /// Returns the time of the next action, in milliseconds since 1970.
    package func nextDue(folder: Int64) throws -> Int64? {
        try database.read { db in
            try Int64.fetchOne(
                db, sql: "SELECT min(due) FROM ledger WHERE folder = ? AND due IS NOT NULL AND gone IS NULL",
                arguments: [folder])
        }
    }

    /// Counts the confirmed files that wait for their time.
    package func keptCount(folder: Int64) throws -> Int {
        try database.read { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM ledger WHERE folder = ? AND due IS NOT NULL AND gone IS NULL",
                arguments: [folder]) ?? 0
        }
    }

    /// - Returns: The number of files that no longer wait for their time. A file that was found to be gone meanwhile is
    ///   not counted.
    package func settle(_ settlements: [HistorySettlement]) throws -> Int {
        try database.writeRelaxed { db in
            try StoredWait.follow(db)
            return try settlements.count { try Self.settle(db, $0) }
        }
    }

    private static func settle(_ db: Database, _ settlement: HistorySettlement) throws -> Bool {
        func waited(_ change: String, _ arguments: StatementArguments) throws -> Bool {
            try Bool.fetchOne(db.cachedStatement(sql: change), arguments: arguments) ?? false
        }
        let row = settlement.row
        switch settlement.kind {
        case .done:
            return try waited("DELETE FROM ledger WHERE id = ? RETURNING due IS NOT NULL AND gone IS NULL", [row])
        case .notThere:
            return try waited(
                "UPDATE ledger SET gone = ? WHERE id = ? AND gone IS NULL RETURNING due IS NOT NULL",
                [WallClock.milliseconds, row])
        case .kept:
            return try waited(
                "UPDATE ledger SET due = NULL WHERE id = ? AND due IS NOT NULL RETURNING gone IS NULL", [row])
        case .again(let time, let changed):
            try db.execute(
                sql: "UPDATE ledger SET due = ?, changed = coalesce(?, changed) WHERE id = ? AND due IS NOT NULL",
                arguments: [time, changed, row])
            return false
        }
    }

    /// Notes files that were there before the folder was watched for new files only, so that their copies do not count
    /// as new.
    package func note(old files: [FileVersion], folder: Int64) throws {
        let unknown = try database.read { db in
            let known = try db.cachedStatement(
                sql: "SELECT 1 FROM ledger WHERE folder = ? AND path = ? AND size = ? AND modified = ?")
            return try files.filter { file in
                try Bool.fetchOne(known, arguments: [folder, file.path, file.size, file.modified]) == nil
            }
        }
        guard !unknown.isEmpty else { return }
        try database.writeRelaxed { db in
            let statement = try db.cachedStatement(
                sql: """
                    INSERT INTO ledger (folder, device, inode, size, modified, path, url, state, staged, changed)
                    VALUES (?, ?, ?, ?, ?, ?, '', ?, ?, ?)
                    """)
            for file in unknown {
                try statement.execute(arguments: [
                    folder, file.deviceBits, file.inodeBits, file.size, file.modified, file.path,
                    HistoryState.old.rawValue, WallClock.milliseconds, file.stamp.changed,
                ])
            }
        }
    }

    // MARK: Digests

    package func rowsWithoutDigest(folder: Int64, limit: Int) throws -> [HistoryRow] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(HistoryRow.columns) FROM ledger
                    WHERE folder = ? AND state = \(HistoryStates.confirmed) AND digest IS NULL ORDER BY id LIMIT ?
                    """, arguments: [folder, limit]
            ).map(HistoryRow.init)
        }
    }

    /// - Parameter digests: The digest of each row; `nil` for one that could not be computed, and is not tried again.
    package func save(digests: [(row: Int64, digest: Checksum?)]) throws {
        try database.writeRelaxed { db in
            for (row, digest) in digests {
                try db.execute(
                    sql: "UPDATE ledger SET digest = ? WHERE id = ? AND digest IS NULL",
                    arguments: [digest?.description ?? "", row])
            }
        }
    }

    // MARK: Pruning

    /// Reads rows of files without an open job, a page at a time.
    ///
    /// - Parameter onlyGone: Whether only rows are read whose files were found to be gone before.
    package func settledRows(folder: Int64, after id: Int64, limit: Int, onlyGone: Bool) throws -> [HistoryRow] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(HistoryRow.columns) FROM ledger WHERE folder = ? AND id > ? AND state <> \(HistoryStates.open)
                        AND \(onlyGone ? "gone IS NOT NULL" : "1") ORDER BY id LIMIT ?
                    """, arguments: [folder, id, limit]
            ).map(HistoryRow.init)
        }
    }

    /// Removes rows whose files have been missing from their paths for longer than `grace`. A renamed file is offered
    /// under its new name within that time.
    ///
    /// - Parameters:
    ///   - present: The rows whose files are at their paths.
    ///   - absent: The rows whose files are not at their paths.
    ///   - grace: The time in milliseconds.
    package func prune(present: [Int64], absent: [Int64], grace: Int64) throws -> PrunedRows {
        guard !present.isEmpty || !absent.isEmpty else { return PrunedRows() }
        return try database.writeRelaxed { db in
            try StoredWait.follow(db)
            let now = WallClock.milliseconds
            var pruned = PrunedRows()
            for id in present where try HistoryRow.cameBack(db, id) { pruned.returned += 1 }
            for id in absent {
                let row = try Row.fetchOne(
                    db, sql: "SELECT gone, job, due FROM ledger WHERE id = ? AND state <> \(HistoryStates.open)",
                    arguments: [id])
                guard let row else { continue }
                guard let gone: Int64 = row[stored: 0] else {
                    try db.execute(sql: "UPDATE ledger SET gone = ? WHERE id = ?", arguments: [now, id])
                    pruned.marked += 1
                    if (row[stored: 2] as Int64?) != nil { pruned.missed += 1 }
                    continue
                }
                guard gone <= now - grace else {
                    pruned.marked += 1
                    continue
                }
                if let job: Int64 = row[stored: 1] {
                    try db.execute(
                        sql: "DELETE FROM job WHERE id = ? AND state = \(JobStates.failed)", arguments: [job])
                    guard db.changesCount > 0 else { continue }
                    pruned.failedJobs += 1
                }
                try db.execute(sql: "DELETE FROM ledger WHERE id = ?", arguments: [id])
                pruned.removed += 1
            }
            return pruned
        }
    }

    package func historyCount(folder: Int64) throws -> Int {
        try database.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM ledger WHERE folder = ?", arguments: [folder]) ?? 0
        }
    }
}
