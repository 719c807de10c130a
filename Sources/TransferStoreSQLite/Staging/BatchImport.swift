import GRDB
import TransferCore
package import TransferJobs
package import TransferStore

/// The taking of jobs into batches, all of them or none.
package struct BatchImport: Sendable {
    package let database: QueueDatabase
    package let batches: Batches
    package let reserves: ReservedJobs
    package let packed: PackedJobs
    package let doubtful: DoubtfulBatches

    /// A batch that was filled, and the facts about it that stay in memory.
    private struct Filled {
        let staged: StagedJobs
        let reserve: JobReserve?
        let packing: Packing?
        let isInDoubt: Bool
    }

    package func stage(
        _ header: BatchHeader, _ options: StagingOptions, _ body: (any JobSubmissionBatcher) throws -> Bool
    ) throws -> StagedJobs {
        let filled = try database.exclusively { db in
            let filled = try fill(db, header, options, body)
            return (filled, filled.staged.underWay.isEmpty ? .commit : .rollback)
        }
        let batch = filled.staged.batch.id
        if filled.isInDoubt { doubtful.found(in: batch) }
        if let reserve = filled.reserve { reserves.keep(reserve) }
        if let packing = filled.packing { packed.keep(packing.jobs, first: packing.first, of: batch) }
        return filled.staged
    }

    private func fill(
        _ db: Database, _ header: BatchHeader, _ options: StagingOptions,
        _ body: (any JobSubmissionBatcher) throws -> Bool
    ) throws -> Filled {
        let batch = try batches.hold(db, header)
        let generation =
            try Int64.fetchOne(
                db, sql: "UPDATE batch SET generation = generation + 1 WHERE id = ? RETURNING generation",
                arguments: [batch.id]) ?? 1
        let stager = try BatchImporter(
            db, batch: batch, generation: generation, options, isReported: doubtful.isReported(batch.id),
            owner: database.process)
        guard try body(stager) else { throw StagingFailure.refused }
        try stager.finish()
        if options.startsPaused {
            // Jobs that were in the batch before keep their generation, and are not paused.
            try db.execute(sql: Self.pausing.sql, arguments: Self.pausing.arguments([batch.id, generation]))
        }
        guard stager.report.isEmpty else {
            var report = stager.report
            report.jobCount = stager.count
            throw StagingFailure.faults(report)
        }
        try AnsweredSubmissions.write(db, options.notes, batch: batch, count: stager.count)
        let staged = StagedJobs(
            batch: batch, count: stager.count, secrets: stager.secrets, underWay: stager.underWay,
            abandoned: stager.abandoned, ready: stager.reserve?.lanes.mapValues(\.count))
        return Filled(
            staged: staged, reserve: stager.reserve, packing: stager.packing, isInDoubt: stager.isInDoubt)
    }

    package func submit(_ spec: JobSpec, batch: String, directory: String) throws -> StagedJobs {
        let known = try database.read { db in
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

    private static let pausing = JobUpdate(.pauseStaged) { "batch = ?\($0) AND generation = ?\($0 + 1)" }
}
