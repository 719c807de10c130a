import FoundationEssentials
import TransferCore
import TransferJobs
package import TransferStore

/// The database's facts about one job, for `transfer why`.
package struct PostgresJobFacts: Sendable {
    package let database: PostgresDatabase

    private static let job =
        "job JOIN batch ON batch.id = job.batch WHERE name = $1 AND key = md5($2)::uuid AND identity = $2"

    /// - Returns: `nil` when there is no such job.
    package func facts(batch name: String, job: String) throws -> JobFacts? {
        try database.read { db in
            let row = try db.run(Self.jobRow, [name, job]).first
            return try row.map { try facts(db, $0, batch: name) }
        }
    }

    private func facts(_ db: PostgresConnection, _ row: PostgresRow, batch: String) throws -> JobFacts {
        var facts = JobFacts(
            batch: batch, identity: row.text(1) ?? "", state: JobState(stored: row.int(2) ?? 0),
            spec: try JobSpec(canonicalJSON: row.text(3) ?? ""),
            lack: try PostgresTags.lack(db, tags: row.text(21) ?? ""))
        facts.directory = row.text(18) ?? ""
        facts.source = row.text(17)
        facts.remaining = row.number(6).map { .milliseconds(max(0, $0)) }
        (facts.origin, facts.network) = (row.text(7) ?? "", row.text(8) ?? "")
        facts.places = NetworkPlaces(text: row.text(9) ?? "")
        facts.upload = row.text(11).flatMap { UploadRecord(text: $0) }
        facts.attempts = JobFacts.Attempts(
            count: row.int(4) ?? 0, mirror: row.int(5) ?? 0, path: row.text(10), errorCode: row.text(12),
            errorMessage: row.text(13), host: row.text(14), finalURL: row.text(15))
        facts.needs = try db.run(
            Self.openNeeds, [row.number(0)]
        ).map { JobExplanation.Need(job: $0.text(0) ?? "", state: JobState(stored: $0.int(1) ?? 0)) }
        if facts.state.hasEnded { facts.sources = [JobSource](text: row.text(16)) }
        facts.pause = try PostgresRunStatus.pause(db, origin: facts.origin)
        try addRun(db, row, to: &facts)
        return facts
    }

    /// Adds the run of the worker that has the job, or else of one that would take it.
    private func addRun(_ db: PostgresConnection, _ row: PostgresRow, to facts: inout JobFacts) throws {
        let run = try db.run(
            Self.runOfJob, [row.number(0), row.number(19), facts.origin, facts.network, row.number(20), row.text(21)]
        ).first
        guard let run else { return }
        var wait: HostWait?
        if let origin = run.text(5) {
            wait = HostWait(
                origin: run.text(10) ?? origin, status: run.int(6), message: run.text(7) ?? "",
                since: run.number(8) ?? 0, remaining: .milliseconds(max(0, run.number(9) ?? 0)))
        }
        facts.run = JobFacts.Run(
            pid: Int32(run.int(0) ?? 0), active: run.int(1) ?? 0, batchWait: run.text(2), isUnderWay: run.flag(3),
            hostWait: wait,
            networkWait: run.number(11).map { (WallTime(milliseconds: $0), run.text(12) ?? "") })
        if !facts.state.hasEnded { facts.sources = [JobSource](text: run.text(4)) }
    }

    /// Finds identities of jobs that a misspelt one may mean: those that contain it, and those of about its length.
    package func identities(batch name: String, like job: String, limit: Int) throws -> [String] {
        try database.read { db in
            try db.run(Self.similar, [name, job, limit]).compactMap { $0.text(0) }
        }
    }

    /// - Returns: `nil` when there is no such job.
    package func networkOrigin(batch: String, job: String) throws -> NetworkOrigin? {
        try database.read { db in
            try db.run(Self.origin, [batch, job]).first.map {
                NetworkOrigin(source: $0.text(0), places: NetworkPlaces(text: $0.text(1) ?? ""))
            }
        }
    }

    // MARK: Statements

    private static let jobRow = PostgresStatement(
        "facts_of_job", .all,
        """
        SELECT job.id, identity, state, spec, attempts, mirror, not_before - \(PostgresClock.now), origin, network,
            network_places, path, upload, error_code, error_message, host, final_url, job.sources, source,
            directory, job.batch, job.owner, job.tags
        FROM \(job)
        """)

    private static let openNeeds = PostgresStatement(
        "open_needs", .all,
        """
        SELECT identity, state FROM need JOIN job ON job.id = needed
        WHERE need.job = $1 AND state <> \(JobStates.done) ORDER BY job.id
        """)

    private static let runOfJob = PostgresStatement(
        "run_of_job", .all,
        """
        SELECT process.pid, run.active, run.waiting_for, $1 = ANY (run.under_way), run.sources -> ($1::text),
            host_wait.origin, host_wait.status, host_wait.message, host_wait.since,
            host_wait.until - \(PostgresClock.now), host_wait.proxy, network_wait.since, network_wait.reason
        FROM process JOIN run ON run.process = generation
        LEFT JOIN host_wait ON host_wait.process = generation AND host_wait.origin = $3
        LEFT JOIN network_wait ON network_wait.process = generation AND network_wait.network = $4
        WHERE run.batch = $2 AND \(PostgresStatus.alive)
            AND (generation = $5 OR string_to_array($6, ',') <@ string_to_array(process.tags, ','))
        ORDER BY generation = $5 DESC NULLS LAST, generation LIMIT 1
        """)

    private static let similar = PostgresStatement(
        "similar_identities", .all,
        """
        SELECT identity FROM job JOIN batch ON batch.id = job.batch
        WHERE name = $1 AND (strpos(identity, $2) > 0 OR abs(length(identity) - length($2)) <= 2)
        ORDER BY strpos(identity, $2) = 0, job.id LIMIT $3
        """)

    private static let origin = PostgresStatement("network_origin", .all, "SELECT source, network_places FROM \(job)")

    package static let statements = [
        jobRow, openNeeds, runOfJob, similar, origin,
    ]
}
