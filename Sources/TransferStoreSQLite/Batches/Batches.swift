package import GRDB
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore

/// The taking, giving up and forgetting of batches by processes.
package struct Batches: Sendable {
    package let database: QueueDatabase
    package let leases: Leases
    package let reserves: ReservedJobs
    package let packed: PackedJobs
    package let doubtful: DoubtfulBatches

    package func register() throws -> BatchRegister {
        try database.read(leavesPacks: true) { db in
            let entries = try Row.fetchAll(db, sql: "SELECT name, id FROM batch ORDER BY id").map {
                BatchRegister.Entry(name: $0[stored: 0], number: $0[stored: 1])
            }
            // SQLite keeps this number for AUTOINCREMENT; it outlives the row of the batch.
            let last = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'batch'")
            return BatchRegister(entries: entries, last: last ?? 0)
        }
    }

    // MARK: Taking

    package func hold(_ selection: BatchSelection) throws -> [HeldBatch] {
        switch selection {
        case .unfinished: try holdUnfinished()
        case .named(let name): try hold(name)
        }
    }

    private func hold(_ name: String) throws -> [HeldBatch] {
        try database.write { db in
            try leases.reclaim(db)
            try database.requireLease(db)
            return try hold(db, where: "name = ?2 AND (owner IS NULL OR owner = ?1)", [database.process, name])
        }
    }

    private func holdUnfinished() throws -> [HeldBatch] {
        reserves.forgetAll()
        return try database.write { db in
            try leases.reclaim(db)
            try database.requireLease(db)
            try ReserveRows.dissolveAll(db, of: database.process)
            return try hold(
                db,
                where: """
                    (owner IS NULL OR owner = ?1)
                        AND (EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id AND state < \(JobStates.firstEnded))
                            OR EXISTS (SELECT 1 FROM hookCall WHERE hookCall.batch = batch.id))
                    """, [database.process])
        }
    }

    private func hold(
        _ db: Database, where condition: String, _ arguments: StatementArguments
    ) throws -> [HeldBatch] {
        try Row.fetchAll(
            db, sql: "UPDATE batch SET owner = ?1 WHERE \(condition) RETURNING id, name, directory",
            arguments: arguments
        ).map { HeldBatch(id: $0[stored: 0], name: $0[stored: 1], directory: $0[stored: 2]) }
    }

    /// Makes the batch or finds it, and takes it for this process, in the caller's transaction.
    ///
    /// - Throws: ``StagingFailure/held(_:)`` where another process holds it.
    package func hold(_ db: Database, _ header: BatchHeader) throws -> HeldBatch {
        try leases.reclaim(db)
        try database.requireLease(db)
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT batch.id, batch.owner, batch.directory, process.pid FROM batch
                LEFT JOIN process ON process.id = batch.owner WHERE batch.name = ?
                """, arguments: [header.name])
        let now = WallClock.milliseconds
        guard let row else {
            try db.execute(
                sql: "INSERT INTO batch (name, source, directory, owner, updated, onFinish) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    header.name, header.source, header.directory, database.process, now, header.onFinish.text,
                ])
            return HeldBatch(id: db.lastInsertedRowID, name: header.name, directory: header.directory, isNew: true)
        }
        let id: Int64 = row[stored: "id"]
        if let owner: Int64 = row[stored: "owner"], owner != database.process {
            throw StagingFailure.held(BatchHeld(batch: header.name, pid: row[stored: "pid"] ?? 0))
        }
        reserves.takeBack(id)
        try ReserveRows.dissolve(db, batch: id)
        // Jobs of a pack that cannot be read come from their file again.
        try db.execute(sql: "DELETE FROM pack WHERE batch = ?", arguments: [id])
        // Jobs that are claimed without an owner belong to no process, even if the process that reserved them lives.
        try db.execute(sql: Self.orphaned.sql, arguments: Self.orphaned.arguments([id]))
        try db.execute(
            sql: "UPDATE batch SET source = ?, directory = ?, owner = ?, updated = ? WHERE id = ?",
            arguments: [header.source, header.directory, database.process, now, id])
        if case .set = header.onFinish {
            try db.execute(
                sql: "UPDATE batch SET onFinish = ? WHERE id = ? AND onFinish IS NOT ?1",
                arguments: [header.onFinish.text, id])
        }
        return HeldBatch(
            id: id, name: header.name, directory: header.directory,
            hasMoved: row[stored: "directory"] as String != header.directory)
    }

    // MARK: Giving up

    /// Gives the batch up, because its run is over.
    ///
    /// - Parameter end: The end that is reported to the batch's hook, if it has one.
    /// - Returns: The sockets of the processes that wait for that.
    package func release(batch: Int64, isComplete: Bool, end: BatchEnd?) throws -> [String] {
        defer { packed.forget(batch) }
        reserves.forget(batch)
        if isComplete { doubtful.runEnded(of: batch) }
        // Without a message the write needs no sync: after a loss of power the process is found to be gone, and the
        // pack holds only jobs that have rows.
        let isReported =
            try end != nil && database.read(leavesPacks: true) { try HookCalls.isReported($0, batch: batch) }
        func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
            try isReported
                ? database.write(leavesPacks: true, body) : database.writeRelaxed(leavesPacks: true, body)
        }
        return try write { db in
            if isReported, let end { try HookCalls.add(db, batch: batch, end) }
            if isComplete, try Packs.drop(db, batch: batch) {
                try ReserveRows.end(db, batch: batch)
            } else {
                try ReserveRows.dissolve(db, batch: batch)
            }
            try db.execute(
                sql:
                    """
                    UPDATE batch SET owner = NULL, rate = 0, eta = NULL, active = 0, underWay = '', waitingFor = NULL,
                        updated = ? WHERE id = ? AND owner = ?
                    """,
                arguments: [WallClock.milliseconds, batch, database.process])
            return try String.fetchAll(
                db, sql: "DELETE FROM listener WHERE batch = ? RETURNING socket", arguments: [batch])
        }
    }

    /// Notes that a process waits for the batch's end at this socket.
    package func listen(batch: String, socket: String) throws {
        try database.write(leavesPacks: true) { db in
            try db.execute(
                sql: "INSERT INTO listener (batch, socket) SELECT id, ? FROM batch WHERE name = ?",
                arguments: [socket, batch])
        }
    }

    /// Forgets batches that ended: the named one, or those whose last change is older than the given time (milliseconds
    /// since 1970).
    ///
    /// Without a time, the history of uploads from watched folders is forgotten with their batches.
    ///
    /// - Returns: The names of the forgotten batches.
    package func forget(name: String?, endedBefore: Int64?) throws -> [String] {
        try database.write { db in
            try leases.reclaim(db)
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM batch WHERE owner IS NULL AND (?1 IS NULL OR name = ?1)
                        AND (?2 IS NULL OR updated < ?2)
                        AND (?2 IS NULL OR NOT EXISTS (SELECT 1 FROM job WHERE batch = batch.id AND state < \(JobStates.firstEnded)))
                    """, arguments: [name, endedBefore])
            for name in names {
                if endedBefore == nil {
                    try WatchedJobs.forgetFolder(db, batch: name)
                } else {
                    try WatchedJobs.leaveAlone(db, batch: name)
                }
                try db.execute(sql: "DELETE FROM batch WHERE name = ?", arguments: [name])
            }
            return names
        }
    }

    /// The change that gives back jobs which are claimed without an owner.
    private static let orphaned = JobUpdate(.giveBack) { "batch = ?\($0) AND owner IS NULL" }
}

extension BatchHeader.Hook {
    /// The text for the database; `nil` without a hook.
    fileprivate var text: String? {
        guard case .set(let hook?) = self else { return nil }
        return HookRoute.text(hook.settings)
    }
}
