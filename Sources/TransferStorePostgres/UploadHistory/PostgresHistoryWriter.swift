import TransferCore
import TransferEngine
import TransferJobs
import TransferStore
import TransferWatch

/// Writes the decisions of rules about the upload history, in the transaction that read it.
package enum PostgresHistoryWriter {
    /// Writes changes and removals. New versions and jobs are written by ``stage(_:_:folder:batch:plan:)``.
    ///
    /// - Parameter plan: The rules by which jobs are changed; `nil` if no job is changed.
    static func write(_ db: PostgresConnection, _ graph: UploadHistoryGraph, plan: WatchPlan?) throws {
        let removed = graph.removedJobs
        let (abandoned, others) = (removed.filter(\.abandons), removed.filter { !$0.abandons })
        if !abandoned.isEmpty { try db.post(Self.abandonment, [PostgresArray(abandoned.map(\.id))]) }
        if !others.isEmpty { try db.post(Self.jobRemoval, [PostgresArray(others.map(\.id))]) }
        if !graph.removedEntries.isEmpty { try db.post(Self.removal, [PostgresArray(graph.removedEntries)]) }
        for entry in graph.updatedEntries { try db.post(Self.update, values(entry) + [entry.id]) }
        for (job, change) in graph.updatedJobs {
            guard change != .order, let plan, let entry = graph.entries[job.entry] else {
                try order(db, job)
                continue
            }
            let spec = plan.job(entry.version, digest: entry.digest, identity: job.identity)
            let rank = plan.rank(entry.version)
            let values: [(any PostgresValue)?] = change.columns.map { job.value($0, spec, rank: rank) } + [job.id]
            switch change {
            case .order: break
            case .ranked: try db.post(Self.rank, values)
            case .renamed: try db.post(Self.renaming, values)
            case .renewed(let keepsUpload):
                if !keepsUpload { try db.post(Self.replacement, [job.id]) }
                let (update, statement) = keepsUpload ? Self.renewalOfSame : Self.renewal
                try db.post(statement, update.values(state: job.state, [job.id]) { job.value($0, spec, rank: rank) })
            }
        }
    }

    private static func order(_ db: PostgresConnection, _ job: UploadHistoryJob) throws {
        if let follows = job.follows {
            try db.post(Self.order, [follows, job.id])
        } else {
            try db.post(Self.release, [job.id])
        }
    }

    /// Stores new versions and jobs.
    ///
    /// - Returns: The secrets of the jobs, by their numbers.
    static func stage(
        _ db: PostgresConnection, _ graph: UploadHistoryGraph, folder: Int64, batch: Int64, plan: WatchPlan
    ) throws -> [Int64: JobSecrets] {
        let answers = try graph.newEntries.map { entry in
            // The number of the job is known only after the job is stored.
            var entry = entry
            entry.job = nil
            return (entry.id, try db.post(Self.insertion, values(entry) + [folder]))
        }
        var entries: [Int64: Int64] = [:]
        for (id, answer) in answers { entries[id] = try answer.rows().first?.number(0) }
        var (stored, secrets): ([Int64: Int64], [Int64: JobSecrets]) = ([:], [:])
        var open: [(job: UploadHistoryJob, answer: PostgresAnswer, secrets: JobSecrets?)] = []
        func settle() throws {
            for (job, answer, secret) in open {
                guard let id = try answer.rows().first?.number(0) else { continue }
                stored[job.id] = id
                secrets[id] = secret
                guard graph.entries[job.entry]?.job == job.id else { continue }
                try db.post(Self.naming, [entries[job.entry] ?? job.entry, id])
            }
            open = []
        }
        for job in graph.newJobs {
            guard let entry = graph.entries[job.entry] else { continue }
            let number = entries[job.entry] ?? job.entry
            if let followed = job.follows, UploadHistoryGraph.isNew(followed) { try settle() }
            var job = job
            job.follows = job.follows.map { stored[$0] ?? $0 }
            var identity = WatchedPath.identity(entry.version.path, history: number)
            if number == job.entry { identity = try free(db, identity, entry.version.path, number, batch: batch) }
            let spec = plan.job(entry.version, digest: entry.digest, identity: identity)
            let (staged, rank) = (job, plan.rank(entry.version))
            let values: [(any PostgresValue)?] = UploadHistoryJob.stagedColumns.map {
                staged.value($0, spec, rank: rank)
            }
            let answer = try db.post(Self.staging, values + [batch, spec.tellsHook, number])
            open.append((job, answer, JobSecrets(spec)))
        }
        try settle()
        return secrets
    }

    /// Returns an identity that no job of the batch has. A version with an earlier job may already have used the first
    /// one.
    private static func free(
        _ db: PostgresConnection, _ first: String, _ path: String, _ entry: Int64, batch: Int64
    ) throws -> String {
        var (identity, number) = (first, 1)
        while try db.run(Self.known, [batch, identity]).first?.flag(0) == true {
            number += 1
            identity = WatchedPath.identity(path, history: entry, number: number)
        }
        return identity
    }

    /// Returns the values of all columns except the number and the folder, in the order in which they are written.
    private static func values(_ entry: UploadHistoryEntry) -> [(any PostgresValue)?] {
        HistoryColumn.written.map { entry.value($0) }
    }

    // MARK: Statements

    private static let abandonment = PostgresStatement(
        "abandon_watched_jobs", [.submit, .work],
        """
        WITH gone AS (
            DELETE FROM job WHERE id = ANY ($1::bigint[])
            RETURNING spec, upload, tags, \(PostgresReplacedUploads.areHeld) AS is_dropped)
        \(PostgresReplacedUploads.insertion)
        SELECT spec, upload, tags, \(PostgresReplacedUploads.times) FROM gone WHERE is_dropped AND upload IS NOT NULL
        """)

    private static let jobRemoval = PostgresStatement(
        "remove_watched_jobs", [.submit, .work], "DELETE FROM job WHERE id = ANY ($1::bigint[])")

    private static let removal = PostgresStatement(
        "remove_history", [.submit, .work], "DELETE FROM upload_history WHERE id = ANY ($1::bigint[])")

    private static let columns = HistoryColumn.written.map(\.rawValue)
    /// The parameter behind those of the columns.
    private static let last = "$\(columns.count + 1)"

    private static let update = PostgresStatement(
        "change_history", [.submit, .work],
        """
        UPDATE upload_history SET \(columns.enumerated().map { "\($1) = $\($0 + 1)" }.joined(separator: ", "))
        WHERE id = \(last)
        """)

    private static let insertion = PostgresStatement(
        "add_history", .submit,
        """
        INSERT INTO upload_history (\(columns.joined(separator: ", ")), folder)
        VALUES (\(columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")), \(last)) RETURNING id
        """)

    private static let naming = PostgresStatement(
        "name_job_of_history", .submit, "UPDATE upload_history SET job = $2 WHERE id = $1")

    private static let known = PostgresStatement(
        "is_watched_job", .submit,
        "SELECT EXISTS (SELECT FROM job WHERE batch = $1 AND key = md5($2)::uuid AND identity = $2)")

    private static let order = PostgresStatement(
        "order_watched_job", [.submit, .work], JobColumn.update(UploadHistoryJob.Change.order.columns))

    /// A job that follows no other one any longer. A blocked job becomes ready.
    private static let release = PostgresStatement(
        "release_watched_job", [.submit, .work],
        "UPDATE job SET \(PostgresJobUpdate.state(.unblock)), needs_left = 0, follows = NULL WHERE id = $1")

    private static let rank = PostgresStatement(
        "rank_watched_job", .submit, JobColumn.update(UploadHistoryJob.Change.ranked.columns))

    private static let renaming = PostgresStatement(
        "rename_watched_job", .submit, JobColumn.update(UploadHistoryJob.Change.renamed.columns))

    private static let replacement = PostgresStatement(
        "replace_watched_upload", .submit,
        """
        \(PostgresReplacedUploads.insertion)
        SELECT spec, upload, tags, \(PostgresReplacedUploads.times) FROM job
        WHERE id = $1 AND \(PostgresReplacedUploads.areHeld) AND upload IS NOT NULL
        """)

    private static let renewal = renewal(.renew, "renew_watched_job")
    private static let renewalOfSame = renewal(.renewSame, "renew_same_watched_job")

    /// The tags of a job that was left to its watchers are removed.
    private static func renewal(
        _ transition: JobTransition, _ name: String
    ) -> (update: PostgresJobUpdate, statement: PostgresStatement) {
        let update = PostgresJobUpdate(transition, also: { _ in ["tags = ''"] }, where: { "id = $\($0)" })
        return (update, PostgresStatement(name, .submit, update.sql))
    }

    private static let staging = {
        let columns = UploadHistoryJob.stagedColumns.map(\.rawValue) + ["batch", "tells_hook", "history"]
        return PostgresStatement(
            "stage_watched_job", .submit,
            """
            INSERT INTO job (\(columns.joined(separator: ", ")), tags)
            VALUES (\(columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")), '') RETURNING id
            """)
    }()

    package static let statements = [
        abandonment, jobRemoval, removal, update, insertion, naming, known, order, release, rank, renaming, replacement,
        renewal.statement, renewalOfSame.statement, staging,
    ]
}
