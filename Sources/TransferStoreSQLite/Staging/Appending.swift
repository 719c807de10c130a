import GRDB
import TransferCore
package import TransferJobs
package import TransferStore

/// Additions of new jobs to a batch that this process runs. Their cost does not grow with the batch, because its other
/// jobs are not read.
package struct Appending: Sendable {
    package let database: QueueDatabase

    /// Jobs that got rows of their own.
    package struct Appended: Sendable {
        package let staged: StagedJobs
        /// The numbers of the jobs, by their identities.
        package let numbers: [String: Int64]
    }

    /// Returns whether jobs can be added in this way: those with names or needs must be compared with the other jobs.
    package static func admits(_ jobs: [JobSpec]) -> Bool { jobs.allSatisfy { $0.id == nil && $0.needs.isEmpty } }

    /// - Returns: `nil` where another process holds the batch, or it is packed, or it has one of the jobs. The jobs
    ///   must be staged then.
    package func append(
        _ jobs: [JobSpec], to name: String, startsPaused: Bool, notes: [SubmissionNote] = []
    ) throws -> Appended? {
        try database.exclusively { db in
            try database.requireLease(db)
            guard let appended = try insert(db, jobs, name, startsPaused ? .paused : .queued) else {
                return (nil, .rollback)
            }
            try AnsweredSubmissions.write(db, notes, batch: appended.staged.batch, count: jobs.count)
            return (appended, .commit)
        }
    }

    private func insert(_ db: Database, _ jobs: [JobSpec], _ name: String, _ state: JobState) throws -> Appended? {
        let find = try db.cachedStatement(
            sql: """
                SELECT id, directory, generation FROM batch
                WHERE name = ? AND owner = ? AND reserve IS NULL AND NOT EXISTS (SELECT 1 FROM pack WHERE pack.batch = batch.id)
                """)
        guard let row = try Row.fetchOne(find, arguments: [name, database.process]) else { return nil }
        let batch = HeldBatch(id: row[stored: 0], name: name, directory: row[stored: 1])
        let generation: Int64 = row[stored: 2]
        let places = Array(repeating: "?", count: JobRow.columnCount).joined(separator: ", ")
        let insert = BoundStatement(
            try db.cachedStatement(sql: "INSERT INTO job (\(JobRow.columns)) VALUES (\(places)) ON CONFLICT DO NOTHING")
        )
        var origins = OriginMemory()
        var secrets: [Int64: JobSecrets] = [:]
        var numbers: [String: Int64] = [:]
        for spec in jobs {
            if let message = WorkerRefusal.message(spec) { throw TransferError(.invalidRequest, message) }
            let job = StagedJob(spec, at: nil, directory: batch.directory, origins: &origins)
            try insert.run { job.row.bind(batch: batch.id, generation: generation, state: state, to: &$0) }
            guard db.changesCount > 0 else { return nil }
            let number = db.lastInsertedRowID
            numbers[job.row.identity] = number
            if let secret = job.secrets { secrets[number] = secret }
        }
        return Appended(staged: StagedJobs(batch: batch, count: jobs.count, secrets: secrets), numbers: numbers)
    }
}
