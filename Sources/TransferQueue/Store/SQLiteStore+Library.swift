import GRDB
import TransferCore
import TransferEventLoop

extension SQLiteStore {
    func hold(_ selection: BatchSelection) throws -> [HeldBatch] {
        switch selection {
        case .unfinished: try holdUnfinished()
        case .named(let name): try hold(name)
        }
    }

    private func hold(_ name: String) throws -> [HeldBatch] {
        try write { db in
            try reclaim(db)
            try requireLease(db)
            return try Row.fetchAll(
                db,
                sql: """
                    UPDATE batch SET owner = ?1 WHERE name = ?2 AND (owner IS NULL OR owner = ?1)
                    RETURNING id, name, directory
                    """, arguments: [process, name]
            ).map { HeldBatch(id: $0[0], name: $0[1], directory: $0[2]) }
        }
    }

    private func holdUnfinished() throws -> [HeldBatch] {
        reserves.forgetAll()
        return try write { db in
            try reclaim(db)
            try requireLease(db)
            try Self.dissolveReserves(db, of: process)
            return try Row.fetchAll(
                db,
                sql: """
                    UPDATE batch SET owner = ?1 WHERE (owner IS NULL OR owner = ?1)
                        AND EXISTS (SELECT 1 FROM job WHERE job.batch = batch.id AND state < \(JobStates.firstEnded))
                    RETURNING id, name, directory
                    """, arguments: [process]
            ).map { HeldBatch(id: $0[0], name: $0[1], directory: $0[2]) }
        }
    }

    func submit(_ spec: JobSpec, batch: String, directory: String) throws -> StagedJobs {
        let known = try read { db in
            try Int64.fetchOne(
                db,
                sql: """
                    SELECT fingerprint FROM job JOIN batch ON batch.id = job.batch
                    WHERE batch.name = ? AND identity = ?
                    """, arguments: [batch, spec.identity])
        }
        if let known, known != spec.fingerprint {
            throw TransferError(
                .fileExists, "the batch \(batch) has another job \"\(spec.identity)\"; give this one an id of its own")
        }
        let header = BatchHeader(name: batch, source: nil, directory: directory)
        return try stage(header, StagingOptions(keepsWhatIsMissing: true)) { stager in
            if known == nil { try stager.add(spec, at: nil) }
            return true
        }
    }
}
