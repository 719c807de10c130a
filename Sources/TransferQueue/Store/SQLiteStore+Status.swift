import GRDB
import TransferCore
import TransferEngine
import TransferEventLoop

extension SQLiteStore {
    /// How the batches stand; all of them, or the one of that name. To look needs nothing written: what is packed is counted
    /// where it is.
    func statuses(name: String?) throws -> [BatchStatus] {
        try database.read { db in
            let batches = try Row.fetchAll(
                db,
                sql: """
                    SELECT batch.id, name, source, rate, eta, waitingFor, directory, owner, toldJobs, toldDone,
                        \(LeaseHolder.columns)
                    FROM batch
                    LEFT JOIN process ON process.id = batch.owner WHERE ?1 IS NULL OR name = ?1 ORDER BY batch.id
                    """, arguments: [name])
            return try batches.map { row in
                var status = BatchStatus(name: row[1], source: row[2], directory: row[6])
                if let holder = LeaseHolder(row), holder.holds(locks, own: process) {
                    status.pid = holder.identity.pid
                    status.rate = row[3]
                    status.eta = (row[4] as Int64?).map { .seconds($0) }
                    status.waitingFor = row[5]
                }
                try Self.count(db, row[0], jobs: row[8], done: row[9], &status)
                if status.pid != nil {
                    let hosts = try Self.hostWaits(db, batch: row[0], process: row[7])
                    status.hosts = hosts.map(\.wait)
                    status.waiting += hosts.reduce(0) { $0 + $1.ready }
                }
                if status.failed > 0, status.pid != nil {
                    let first = try Row.fetchOne(
                        db,
                        sql: """
                            SELECT notBefore, due, delay FROM job
                            WHERE batch = ? AND ledger IS NOT NULL AND state = \(JobStates.failed) AND notBefore IS NOT NULL
                            ORDER BY due LIMIT 1
                            """, arguments: [row[0] as Int64])
                    status.again = first.flatMap { StoredWait($0)?.shownEnd() }
                }
                let packed = try Int.fetchOne(
                    db, sql: "SELECT count FROM pack WHERE batch = ?", arguments: [row[0] as Int64])
                // Those that are complete have rows.
                if let packed { status.add(.queued, max(0, packed - status.total)) }
                return status
            }
        }
    }

    /// To count a million jobs takes most of a second: above this number those that are ready, taken or complete are
    /// counted by the process that runs the batch, once a second.
    private static let exactlyCounted = 20_000

    private static func count(
        _ db: Database, _ batch: Int64, jobs: Int, done: Int, _ status: inout BatchStatus
    ) throws {
        let isCounted = status.pid != nil && jobs > exactlyCounted
        let counts = try Row.fetchAll(
            db,
            sql: """
                SELECT state, count(*) FROM job WHERE batch = ? \(isCounted ? "AND state NOT IN (\(JobStates.list([.queued, .claimed, .done])))" : "")
                GROUP BY state
                """, arguments: [batch])
        for count in counts { status.add(JobState(rawValue: count[0]) ?? .queued, count[1]) }
        guard isCounted else { return }
        status.add(.done, done)
        status.add(.queued, max(0, jobs - status.total))
    }

    /// The failed jobs of a batch, in the order they failed.
    func failures(batch name: String, limit: Int) throws -> [FailedJob] {
        try read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT batch.name, identity, errorCode, errorMessage, status, host, attempts, notBefore, due, delay
                    FROM job JOIN batch ON batch.id = job.batch
                    WHERE batch.name = ? AND state = \(JobStates.failed) ORDER BY endSequence LIMIT ?
                    """, arguments: [name, limit]
            ).map { row in
                FailedJob(
                    batch: row[0], job: row[1], code: row[2] ?? "", message: row[3] ?? "", status: row[4],
                    host: row[5], attempts: row[6], again: StoredWait(row)?.shownEnd())
            }
        }
    }

    /// Ends of jobs after the cursor, in order.
    func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent] {
        try read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT endSequence, ended, batch.name AS name, identity, state, isUpload, path, size, transferred,
                        seconds, digest, validator, finalURL, status, response, attempts, unproven, lengthUnproven,
                        errorCode, errorMessage, host, notBefore
                    FROM job JOIN batch ON batch.id = job.batch
                    WHERE endSequence > ? ORDER BY endSequence LIMIT ?
                    """, arguments: [cursor, limit]
            ).map(Self.event)
        }
    }

    private static func event(_ row: Row) -> QueueEvent {
        let (batch, job): (String, String) = (row["name"], row["identity"])
        let kind: QueueEvent.Kind
        switch JobState(rawValue: row["state"]) {
        case .failed:
            let status: Int? = row["status"]
            let error = TransferError(
                TransferError.Code(rawValue: row["errorCode"] ?? ""), row["errorMessage"] ?? "",
                cause: status.map { .http(status: $0) })
            var failure = JobFailure(
                batch: batch, job: job, error: error, attempts: row["attempts"], host: row["host"])
            if let again: Int64 = row["notBefore"] {
                failure.again = .milliseconds(max(0, again - (row["ended"] as Int64? ?? again)))
            }
            kind = .failed(failure)
        case .skipped:
            let message: String = row["errorMessage"] ?? ""
            kind = .skipped(job: job, need: String(message.dropFirst("needs ".count)))
        case .cancelled: kind = .cancelled(job: job)
        default: kind = .finished(receipt(row, batch: batch, job: job))
        }
        return QueueEvent(time: row["ended"] ?? 0, batch: batch, cursor: row["endSequence"], kind: kind)
    }

    private static func receipt(_ row: Row, batch: String, job: String) -> JobReceipt {
        let digest: String? = row["digest"]
        var receipt = JobReceipt(
            batch: batch, job: job, isUpload: row["isUpload"], bytes: row["size"] ?? 0,
            transferred: row["transferred"] ?? 0, seconds: row["seconds"] ?? 0,
            digest: digest.flatMap { Checksum($0) }, validator: row["validator"], finalURL: row["finalURL"] ?? "",
            path: row["path"] ?? "", status: row["status"] ?? 0, response: row["response"], attempts: row["attempts"],
            unproven: row["unproven"])
        receipt.isLengthUnproven = row["lengthUnproven"] as Int64? == 1
        return receipt
    }

    /// How one job ended, or `nil` while it goes on or when there is no such job.
    func end(batch: String, job: String) throws -> QueueEvent? {
        try read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT endSequence, ended, batch.name AS name, identity, state, isUpload, path, size, transferred,
                        seconds, digest, validator, finalURL, status, response, attempts, unproven, lengthUnproven,
                        errorCode, errorMessage, host, notBefore
                    FROM job JOIN batch ON batch.id = job.batch
                    WHERE batch.name = ? AND identity = ? AND state >= \(JobStates.firstEnded)
                    """, arguments: [batch, job]
            ).map(Self.event)
        }
    }

    func lastCursor() throws -> Int64 {
        try database.read { db in
            try Int64.fetchOne(db, sql: "SELECT value FROM counter WHERE name = 'end'") ?? 0
        }
    }

    /// Forgets batches that ended: the named one, or those whose last word is older than that.
    ///
    /// Without a time, what was uploaded from watched folders is forgotten with their batches.
    ///
    /// - Returns: The names of those forgotten.
    func forget(name: String?, endedBefore: Int64?) throws -> [String] {
        try write { db in
            try reclaim(db)
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM batch WHERE owner IS NULL AND (?1 IS NULL OR name = ?1)
                        AND (?2 IS NULL OR updated < ?2)
                        AND (?2 IS NULL OR NOT EXISTS (SELECT 1 FROM job WHERE batch = batch.id AND state < \(JobStates.firstEnded)))
                    """, arguments: [name, endedBefore])
            for name in names {
                if endedBefore == nil {
                    try Self.forgetLedger(db, batch: name)
                } else {
                    try Self.leaveAlone(db, batch: name)
                }
                try db.execute(sql: "DELETE FROM batch WHERE name = ?", arguments: [name])
            }
            return names
        }
    }
}

extension BatchStatus {
    mutating func add(_ state: JobState, _ count: Int) {
        total += count
        switch state {
        case .queued, .claimed: remaining += count
        case .waiting, .blocked:
            remaining += count
            waiting += count
        case .paused:
            remaining += count
            waiting += count
            paused += count
        case .done: done += count
        case .failed: failed += count
        case .skipped: skipped += count
        case .cancelled: cancelled += count
        }
    }
}
