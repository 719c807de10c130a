import GRDB
import TransferCore
import TransferEventLoop

/// What became of a confirmed file that was to be moved or deleted.
struct LedgerSettlement: Sendable {
    enum Kind: Sendable {
        /// It isn't in the folder any more.
        case done
        /// Nothing of this version is at its path.
        case notThere
        case kept
        case again(at: Int64)
    }

    let row: Int64
    let kind: Kind
}

// The ledger after confirmation: what is to be done with files, their digests, and rows that aren't needed any more.
extension SQLiteStore {
    func dueRows(folder: Int64, now: Int64, limit: Int) throws -> [LedgerRow] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(LedgerRow.columns) FROM ledger
                    WHERE folder = ? AND due IS NOT NULL AND due <= ? ORDER BY due LIMIT ?
                    """, arguments: [folder, now, limit]
            ).map(LedgerRow.init)
        }
    }

    /// Milliseconds since 1970.
    func nextDue(folder: Int64) throws -> Int64? {
        try database.read { db in
            try Int64.fetchOne(
                db, sql: "SELECT min(due) FROM ledger WHERE folder = ? AND due IS NOT NULL", arguments: [folder])
        }
    }

    /// How many confirmed files wait for their time.
    func keptCount(folder: Int64) throws -> Int {
        try database.read { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM ledger WHERE folder = ? AND due IS NOT NULL", arguments: [folder]) ?? 0
        }
    }

    func settle(_ settlements: [LedgerSettlement]) throws {
        try writeRelaxed { db in
            for settlement in settlements {
                switch settlement.kind {
                case .done: try db.execute(sql: "DELETE FROM ledger WHERE id = ?", arguments: [settlement.row])
                case .notThere:
                    try db.execute(
                        sql: "UPDATE ledger SET due = NULL, gone = coalesce(gone, ?) WHERE id = ?",
                        arguments: [WallClock.milliseconds, settlement.row])
                case .kept:
                    try db.execute(sql: "UPDATE ledger SET due = NULL WHERE id = ?", arguments: [settlement.row])
                case .again(let time):
                    try db.execute(
                        sql: "UPDATE ledger SET due = ? WHERE id = ? AND due IS NOT NULL",
                        arguments: [time, settlement.row])
                }
            }
        }
    }

    // MARK: Digests

    func rowsWithoutDigest(folder: Int64, limit: Int) throws -> [LedgerRow] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(LedgerRow.columns) FROM ledger
                    WHERE folder = ? AND state = 1 AND digest IS NULL ORDER BY id LIMIT ?
                    """, arguments: [folder, limit]
            ).map(LedgerRow.init)
        }
    }

    /// - Parameter digests: `nil` for what couldn't be computed, and isn't tried again.
    func save(digests: [(row: Int64, digest: Checksum?)]) throws {
        try writeRelaxed { db in
            for (row, digest) in digests {
                try db.execute(
                    sql: "UPDATE ledger SET digest = ? WHERE id = ? AND digest IS NULL",
                    arguments: [digest?.description ?? "", row])
            }
        }
    }

    // MARK: Pruning

    /// Rows of what isn't on its way, a page at a time.
    ///
    /// - Parameter onlyGone: Those that were found to be gone before.
    func settledRows(folder: Int64, after id: Int64, limit: Int, onlyGone: Bool) throws -> [LedgerRow] {
        try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(LedgerRow.columns) FROM ledger WHERE folder = ? AND id > ? AND state <> 0
                        AND \(onlyGone ? "gone IS NOT NULL" : "1") ORDER BY id LIMIT ?
                    """, arguments: [folder, id, limit]
            ).map(LedgerRow.init)
        }
    }

    struct Pruned: Sendable {
        var removed = 0
        /// Rows that will be removed if their files don't turn up elsewhere.
        var marked = 0
        /// Failed jobs that were taken out.
        var failedJobs = 0
    }

    /// Takes out rows whose files aren't where they were, when that has been so for a while: a file that was renamed is
    /// offered under its new name first.
    ///
    /// - Parameters:
    ///   - present: Their files are at their paths.
    ///   - absent: They aren't.
    ///   - grace: Milliseconds.
    func prune(present: [Int64], absent: [Int64], grace: Int64) throws -> Pruned {
        guard !present.isEmpty || !absent.isEmpty else { return Pruned() }
        return try writeRelaxed { db in
            let now = WallClock.milliseconds
            for id in present {
                try db.execute(sql: "UPDATE ledger SET gone = NULL WHERE id = ? AND gone IS NOT NULL", arguments: [id])
            }
            var pruned = Pruned()
            for id in absent {
                let row = try Row.fetchOne(
                    db,
                    sql: "UPDATE ledger SET gone = coalesce(gone, ?) WHERE id = ? AND state <> 0 RETURNING gone, job",
                    arguments: [now, id])
                guard let row else { continue }
                guard row[0] <= now - grace else {
                    pruned.marked += 1
                    continue
                }
                if let job: Int64 = row[1] {
                    try db.execute(sql: "DELETE FROM job WHERE id = ? AND state = 6", arguments: [job])
                    guard db.changesCount > 0 else { continue }
                    pruned.failedJobs += 1
                }
                try db.execute(sql: "DELETE FROM ledger WHERE id = ?", arguments: [id])
                pruned.removed += 1
            }
            return pruned
        }
    }

    func ledgerCount(folder: Int64) throws -> Int {
        try database.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM ledger WHERE folder = ?", arguments: [folder]) ?? 0
        }
    }
}
