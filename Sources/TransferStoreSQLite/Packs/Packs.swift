import FoundationEssentials
package import GRDB
import TransferCore
package import TransferJobs
package import TransferStore

/// The table `pack`. The jobs of a new batch are first stored as one value, which takes little time. Each gets its row
/// when it is recorded as complete. All get theirs before a query that knows nothing of packs reads jobs.
package enum Packs {
    /// Stores rows as one value, in the order of their numbers.
    ///
    /// - Parameter first: The number of the first job, as ``nextJob(_:)`` gave it in this transaction.
    package static func insert(_ db: Database, _ pack: JobPack, batch: Int64, first: Int64) throws {
        try db.execute(
            sql: "INSERT INTO pack (batch, first, count, jobs) VALUES (?, ?, ?, ?)",
            arguments: [batch, first, pack.count, Data(pack.bytes)])
        // Numbers are never given out again (sqlite.org/autoinc.html).
        let last = first + Int64(pack.count) - 1
        try db.execute(sql: "UPDATE sqlite_sequence SET seq = ? WHERE name = 'job'", arguments: [last])
        guard db.changesCount == 0 else { return }
        try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('job', ?)", arguments: [last])
    }

    /// Gives packed jobs their rows, except for those that have one.
    package static func insert(
        _ db: Database, _ rows: some Sequence<JobRow>, first: Int64, batch: Int64, state: JobState
    ) throws {
        var insert = try GroupedInsert<(id: Int64, row: JobRow)>(
            db, "INSERT OR IGNORE INTO job (id, \(JobRow.columns))", columns: 1 + JobRow.columnCount
        ) { job, values in
            values.add(job.id)
            job.row.bind(batch: batch, generation: JobPack.generation, state: state, to: &values)
        }
        var id = first
        for row in rows {
            try insert.add((id, row))
            id += 1
        }
        try insert.finish()
    }

    /// Returns the number that the next job gets.
    package static func nextJob(_ db: Database) throws -> Int64 {
        (try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'job'") ?? 0) + 1
    }

    /// Returns whether there are packs to be unpacked.
    package static func exist(_ db: Database) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM pack WHERE NOT isUnreadable)")
        return try Bool.fetchOne(statement) ?? false
    }

    /// Gives every packed job its row.
    package static func unpackAll(_ db: Database) throws {
        guard try exist(db) else { return }
        // A batch may have been deleted by a program that left its pack.
        try db.execute(sql: "DELETE FROM pack WHERE batch NOT IN (SELECT id FROM batch)")
        for batch in try Int64.fetchAll(db, sql: "SELECT batch FROM pack") { try unpack(db, batch: batch) }
    }

    /// Gives the packed jobs of a batch their rows; complete ones have theirs already.
    ///
    /// A pack that cannot be read is left where it is, so that other batches are not affected. Its batch begins anew
    /// when its job file is run again.
    package static func unpack(_ db: Database, batch: Int64) throws {
        let pack = try Row.fetchOne(
            db,
            sql: """
                SELECT first, jobs, reserve NOT NULL FROM pack JOIN batch ON batch.id = pack.batch
                WHERE batch = ? AND NOT isUnreadable
                """, arguments: [batch])
        guard let pack else { return }
        var rows: [JobRow] = []
        do throws(TransferError) {
            var reader = try JobPackReader(Array(pack[stored: 1] as Data))
            while let row = try reader.next() { rows.append(row) }
        } catch {
            return try db.execute(sql: "UPDATE pack SET isUnreadable = 1 WHERE batch = ?", arguments: [batch])
        }
        // A version that knows of no packs may have ended the reserve.
        let isReserved: Bool = pack[stored: 2]
        try insert(db, rows, first: pack[stored: 0], batch: batch, state: isReserved ? .claimed : .queued)
        try db.execute(sql: "DELETE FROM pack WHERE batch = ?", arguments: [batch])
    }

    /// - Returns: Whether all jobs of the batch have rows, so that its pack was no longer needed.
    package static func drop(_ db: Database, batch: Int64) throws -> Bool {
        try db.execute(
            sql: "DELETE FROM pack WHERE batch = ?1 AND count <= (SELECT count(*) FROM job WHERE batch = ?1)",
            arguments: [batch])
        return try Bool.fetchOne(
            db, sql: "SELECT NOT EXISTS (SELECT 1 FROM pack WHERE batch = ?)", arguments: [batch]) ?? true
    }
}
