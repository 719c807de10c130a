import GRDB
import TransferCore

extension SQLiteStore {
    /// - Returns: `nil` when there is no such job.
    func facts(batch name: String, job: String) throws -> JobFacts? {
        var facts = try read { db -> JobFacts? in
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT job.id, identity, \(Self.shownState) AS state, spec, attempts, mirror, notBefore, due, delay, origin,
                        network, networkPlaces, path, upload, errorCode, errorMessage, host, source, directory, active, waitingFor,
                        instr(underWay, ' ' || job.id || ' ') > 0 AS isUnderWay,
                        \(LeaseHolder.columns), job.batch, batch.owner AS runner
                    FROM job JOIN batch ON batch.id = job.batch LEFT JOIN process ON process.id = batch.owner
                    WHERE name = ? AND identity = ?
                    """, arguments: [name, job])
            return try row.map { try self.facts(db, $0, batch: name) }
        }
        facts?.usage = MeteredUsage(try meteredUsage())
        facts?.silentLinks = try silentLinks()
        return facts
    }

    private func facts(_ db: Database, _ row: Row, batch: String) throws -> JobFacts {
        var facts = JobFacts(
            batch: batch, identity: row["identity"], state: JobState(rawValue: row["state"]) ?? .queued,
            spec: try JobSpec(canonicalJSON: row["spec"]))
        facts.directory = row["directory"]
        facts.source = row["source"]
        facts.attempts = row["attempts"]
        facts.mirror = row["mirror"]
        facts.remaining = StoredWait(row)?.remaining()
        facts.origin = row["origin"]
        facts.network = row["network"]
        facts.places = NetworkPlaces(text: row["networkPlaces"] ?? "")
        facts.path = row["path"]
        facts.upload = (row["upload"] as String?).flatMap { UploadRecord(text: $0) }
        facts.errorCode = row["errorCode"]
        facts.errorMessage = row["errorMessage"]
        facts.host = row["host"]
        facts.needs = try Row.fetchAll(
            db,
            sql: """
                SELECT identity, state FROM need JOIN job ON job.id = need.needed
                WHERE need.job = ? AND state <> \(JobStates.done) ORDER BY job.id
                """, arguments: [row["id"] as Int64]
        ).map { JobExplanation.Need(job: $0[0], state: JobState(rawValue: $0[1]) ?? .queued) }
        if let pause = try Row.fetchOne(
            db, sql: "SELECT \(StoredPause.columns) FROM pause WHERE origin = ?", arguments: [facts.origin])
        {
            facts.pause = StoredPause(pause)
        }
        guard let holder = LeaseHolder(row), holder.holds(locks, own: process) else { return facts }
        facts.pid = holder.identity.pid
        facts.active = row["active"]
        facts.isUnderWay = row["isUnderWay"]
        facts.batchWait = row["waitingFor"]
        facts.hostWait = try Self.hostWait(db, origin: facts.origin, process: row["runner"])
        if let wait = try Row.fetchOne(
            db, sql: "SELECT since, reason FROM networkWait WHERE process = ? AND network = ?",
            arguments: [row["runner"] as Int64, facts.network])
        {
            facts.networkWait = (WallTime(milliseconds: wait[0]), wait[1])
        }
        return facts
    }

    /// Names of jobs that a misspelt one may mean: those that it's a part of, and those of about its length.
    func identities(batch name: String, like job: String, limit: Int) throws -> [String] {
        try read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT identity FROM job JOIN batch ON batch.id = job.batch
                    WHERE name = ?1 AND (instr(identity, ?2) > 0 OR abs(length(identity) - length(?2)) <= 2)
                    ORDER BY instr(identity, ?2) = 0, job.id LIMIT ?3
                    """, arguments: [name, job, limit])
        }
    }
}
