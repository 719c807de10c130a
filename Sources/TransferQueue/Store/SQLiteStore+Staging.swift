import GRDB
import TransferCore
import TransferEventLoop

extension SQLiteStore {
    func stage(
        _ header: BatchHeader, _ options: StagingOptions, _ body: (any JobIntake) throws -> Bool
    ) throws -> StagedJobs {
        var staged: StagedJobs?
        var packing: Packing?
        var reserve: JobReserve?
        var isInDoubt = false
        try database.writeWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                let batch = try hold(db, header)
                let generation =
                    try Int64.fetchOne(
                        db, sql: "UPDATE batch SET generation = generation + 1 WHERE id = ? RETURNING generation",
                        arguments: [batch.id]) ?? 1
                let stager = try Stager(
                    db, batch: batch, generation: generation, options, isTold: doubtful.isTold(batch.id),
                    owner: process)
                guard try body(stager) else { throw StagingFailure.refused }
                try stager.finish()
                guard stager.report.isEmpty else {
                    var report = stager.report
                    report.jobCount = stager.count
                    throw StagingFailure.faults(report)
                }
                staged = StagedJobs(
                    batch: batch, count: stager.count, secrets: stager.secrets, underWay: stager.underWay,
                    abandoned: stager.abandoned, ready: stager.reserve?.lanes.mapValues(\.count))
                reserve = stager.reserve
                packing = stager.packing
                isInDoubt = stager.isInDoubt
                return stager.underWay.isEmpty ? .commit : .rollback
            }
        }
        guard let staged else { throw TransferError(.internalFault, "staging ended without a batch") }
        if isInDoubt { doubtful.found(in: staged.batch.id) }
        if let reserve { reserves.keep(reserve) }
        if let packing { packed.keep(packing.jobs, first: packing.first, of: staged.batch.id) }
        return staged
    }

    func hold(_ db: Database, _ header: BatchHeader) throws -> HeldBatch {
        try reclaim(db)
        try requireLease(db)
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT batch.id, batch.owner, batch.directory, process.pid FROM batch
                LEFT JOIN process ON process.id = batch.owner WHERE batch.name = ?
                """, arguments: [header.name])
        let now = WallClock.milliseconds
        guard let row else {
            try db.execute(
                sql: "INSERT INTO batch (name, source, directory, owner, updated) VALUES (?, ?, ?, ?, ?)",
                arguments: [header.name, header.source, header.directory, process, now])
            return HeldBatch(id: db.lastInsertedRowID, name: header.name, directory: header.directory, isNew: true)
        }
        let id: Int64 = row["id"]
        if let owner: Int64 = row["owner"], owner != process {
            throw StagingFailure.held(BatchHeld(batch: header.name, pid: row["pid"] ?? 0))
        }
        reserves.takeBack(id)
        try Self.dissolveReserve(db, batch: id)
        // What can't be read comes from its file again.
        try db.execute(sql: "DELETE FROM pack WHERE batch = ?", arguments: [id])
        // Whatever became of whoever reserved them: nobody has them.
        try db.execute(
            sql:
                "UPDATE job SET state = \(JobStates.queued) WHERE batch = ? AND state = \(JobStates.claimed) AND owner IS NULL",
            arguments: [id])
        try db.execute(
            sql: "UPDATE batch SET source = ?, directory = ?, owner = ?, updated = ? WHERE id = ?",
            arguments: [header.source, header.directory, process, now, id])
        return HeldBatch(
            id: id, name: header.name, directory: header.directory,
            hasMoved: row["directory"] as String != header.directory)
    }
}
