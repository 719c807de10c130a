import GRDB
import TransferCore
import TransferJobs
import TransferStore
import TransferWatch

// The adaptation of unconfirmed files when a folder is watched anew.
extension HistoryWriter {
    /// Stages the unconfirmed files anew, by the present rules.
    package func renewAll() throws {
        // Earlier versions left some jobs blocked that wait for no other job.
        try db.execute(
            sql:
                "UPDATE job SET follows = 0 WHERE +batch = ? AND ledger IS NOT NULL AND state = \(JobStates.blocked) AND follows IS NULL",
            arguments: [batch])
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT \(HistoryRow.columns) FROM ledger WHERE folder = ? AND job IS NOT NULL ORDER BY id DESC",
            arguments: [folder]
        ).map(HistoryRow.init)
        var paths = Set<PathKey>()
        for row in rows {
            let jobs = try jobs(ofHistory: row.id)
            guard paths.insert(PathKey(row.version.path)).inserted else {
                // A newer version of the file is in the history.
                for job in jobs where !job.isClaimed { try remove(job) }
                continue
            }
            guard plan.spec.rules.takes(file: row.version.path) || jobs.last?.isLeftAlone == true else {
                for job in jobs where !job.isClaimed { try remove(job) }
                if jobs.isEmpty { try db.execute(sql: "DELETE FROM ledger WHERE id = ?", arguments: [row.id]) }
                continue
            }
            guard let job = jobs.last else {
                // The row's batch was forgotten.
                try stage(row.version, digest: row.digest, history: row.id)
                continue
            }
            if job.isClaimed || job.isLeftAlone { continue }
            try renew(job, row)
        }
    }

    /// Keeps the time of a refused upload, because a service may be started often and must not ask for all files each
    /// time. A file that has arrived and is only to be verified costs one question, so a start asks it.
    private func keepsTime(_ job: OpenJob, _ row: HistoryRow) throws -> Bool {
        guard job.state == .failed else { return false }
        try db.execute(
            sql: """
                UPDATE job SET priority = ? WHERE id = ? AND state = \(JobStates.failed) AND notBefore IS NOT NULL
                    AND coalesce(errorCode, '') NOT IN ('checksumMismatch', 'digestUnknown')
                """,
            arguments: [plan.rank(row.version), job.id])
        return db.changesCount > 0
    }

    private func renew(_ job: OpenJob, _ row: HistoryRow) throws {
        let url = Redaction.url(plan.url(row.version, digest: row.digest))
        let spec = plan.job(row.version, digest: row.digest, identity: job.identity)
        let secrets = JobSecrets(spec)
        let isSame = spec.fingerprint == job.fingerprint
        if isSame, try keepsTime(job, row) {
            changes.secrets[job.id] = secrets
            return
        }
        if !isSame { abandon(job) }
        let state: JobState = job.state == .paused || job.state == .blocked ? job.state : .queued
        let lane = Lane(batch: batch, origin: spec.origin(mirror: 0), network: spec.settings.network.key)
        try db.execute(
            sql: """
                UPDATE job SET state = ?, priority = ?, origin = ?, destination = ?, spec = ?, fingerprint = ?,
                    hasSecrets = ?, network = ?, attempts = 0, askedWait = 0, notBefore = NULL, endSequence = NULL,
                    errorCode = NULL, errorMessage = NULL, upload = CASE WHEN ? THEN upload END WHERE id = ?
                """,
            arguments: [
                state.rawValue, plan.rank(row.version), lane.origin, spec.destinationKey(directory: "/"),
                spec.redacted.canonicalJSON,
                spec.fingerprint, secrets != nil, lane.network, isSame, job.id,
            ])
        try db.execute(
            sql: "UPDATE ledger SET job = ?, url = ?, state = \(HistoryStates.open) WHERE id = ?",
            arguments: [job.id, url, row.id])
        changes.secrets[job.id] = secrets
        if state == .queued, job.state != .queued { changes.ready[lane, default: 0] += 1 }
    }
}
