import GRDB
import TransferCore
import TransferJobs
import TransferScheduling
package import TransferStore

/// The database's facts about one job, for `transfer why`.
package struct JobFactsQuery: Sendable {
    package let database: QueueDatabase
    package let links: LinkReports

    /// - Returns: `nil` when there is no such job.
    package func facts(batch name: String, job: String) throws -> JobFacts? {
        var facts = try database.read { db -> JobFacts? in
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT job.id, identity, \(ReserveRows.shownState) AS state, spec, attempts, mirror, notBefore, due, delay, origin,
                        network, networkPlaces, path, upload, errorCode, errorMessage, host, finalURL, sources, source, directory, active, waitingFor,
                        instr(underWay, ' ' || job.id || ' ') > 0 AS isUnderWay,
                        \(LeaseHolder.columns), job.batch, batch.owner AS runner
                    FROM job JOIN batch ON batch.id = job.batch LEFT JOIN process ON process.id = batch.owner
                    WHERE name = ? AND identity = ?
                    """, arguments: [name, job])
            return try row.map { try makeFacts(db, $0, batch: name) }
        }
        facts?.links = JobFacts.Links(
            usage: MeteredUsage(try links.meteredUsage()), silent: try links.silentLinks())
        return facts
    }

    private func makeFacts(_ db: Database, _ row: Row, batch: String) throws -> JobFacts {
        var facts = JobFacts(
            batch: batch, identity: row[stored: "identity"], state: JobState(stored: row[stored: "state"]),
            spec: try JobSpec(canonicalJSON: row[stored: "spec"]))
        facts.directory = row[stored: "directory"]
        facts.source = row[stored: "source"]
        facts.remaining = StoredWait(row)?.remaining()
        facts.origin = row[stored: "origin"]
        facts.network = row[stored: "network"]
        facts.places = NetworkPlaces(text: row[stored: "networkPlaces"] ?? "")
        facts.upload = (row[stored: "upload"] as String?).flatMap { UploadRecord(text: $0) }
        facts.attempts = JobFacts.Attempts(
            count: row[stored: "attempts"], mirror: row[stored: "mirror"], path: row[stored: "path"],
            errorCode: row[stored: "errorCode"],
            errorMessage: row[stored: "errorMessage"], host: row[stored: "host"], finalURL: row[stored: "finalURL"])
        facts.needs = try Row.fetchAll(
            db,
            sql: """
                SELECT identity, state FROM need JOIN job ON job.id = need.needed
                WHERE need.job = ? AND state <> \(JobStates.done) ORDER BY job.id
                """, arguments: [row[stored: "id"] as Int64]
        ).map { JobExplanation.Need(job: $0[stored: 0], state: JobState(stored: $0[stored: 1])) }
        if facts.state.hasEnded { facts.sources = [JobSource](text: row[stored: "sources"]) }
        if facts.state == .done {
            facts.attempts.settles = try Int64.fetchOne(
                db,
                sql: """
                    SELECT ledger.due FROM ledger JOIN job ON job.ledger = ledger.id
                    WHERE job.id = ? AND ledger.due NOT NULL AND ledger.gone IS NULL
                    """, arguments: [row[stored: "id"] as Int64])
        }
        facts.pause = try Pauses.pause(db, origin: facts.origin)
        guard let holder = LeaseHolder(row), holder.holds(database.locks, own: database.process) else { return facts }
        facts.run = JobFacts.Run(
            pid: holder.identity.pid, active: row[stored: "active"], batchWait: row[stored: "waitingFor"],
            isUnderWay: row[stored: "isUnderWay"],
            hostWait: try HostWaits.wait(db, origin: facts.origin, process: row[stored: "runner"]),
            networkWait: try LinkReports.networkWait(db, network: facts.network, process: row[stored: "runner"]))
        if !facts.state.hasEnded {
            let reported = try String.fetchOne(
                db, sql: "SELECT sources FROM runningSources WHERE job = ?", arguments: [row[stored: "id"] as Int64])
            facts.sources = [JobSource](text: reported)
        }
        return facts
    }

    /// Finds identities of jobs that a misspelt one may mean: those that contain it, and those of about its length.
    package func identities(batch name: String, like job: String, limit: Int) throws -> [String] {
        try database.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT identity FROM job JOIN batch ON batch.id = job.batch
                    WHERE name = ?1 AND (instr(identity, ?2) > 0 OR abs(length(identity) - length(?2)) <= 2)
                    ORDER BY instr(identity, ?2) = 0, job.id LIMIT ?3
                    """, arguments: [name, job, limit])
        }
    }

    /// - Returns: `nil` when there is no such job.
    package func networkOrigin(batch: String, job: String) throws -> NetworkOrigin? {
        try database.read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT source, networkPlaces FROM job JOIN batch ON batch.id = job.batch
                    WHERE batch.name = ? AND identity = ?
                    """, arguments: [batch, job]
            ).map { NetworkOrigin(source: $0[stored: 0], places: NetworkPlaces(text: $0[stored: 1] ?? "")) }
        }
    }
}
