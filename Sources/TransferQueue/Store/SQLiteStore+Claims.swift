import FoundationEssentials
import GRDB
import Synchronization
import TransferCore
import TransferEngine
import TransferEventLoop

extension SQLiteStore {
    /// A blanked query must never be sent in place of the real one.
    private static let lostSecret = TransferError(
        .secretMissing, "its URL or headers hold a secret that is never stored: run its job file again")

    func claim(_ wants: [LaneWant], secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        var claimed = try claimAll(wants, secrets)
        for index in claimed.indices where reserves.wasTakenBack(claimed[index].lane.batch) {
            claimed[index].isNews = true
        }
        return claimed
    }

    private func claimAll(_ wants: [LaneWant], _ secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        guard wants.contains(where: { reserves.has($0.lane) }) else { return try claimRows(wants, secrets) }
        var claimed = wants.map { ClaimedJobs(lane: $0.lane, jobs: [], unreadable: []) }
        /// Takes what is wanting still, of those lanes.
        func fill(_ isMeant: (Lane) -> Bool, _ take: ([LaneWant]) throws -> [ClaimedJobs]) throws {
            let meant = wants.indices.filter { isMeant(wants[$0].lane) && claimed[$0].count < wants[$0].limit }
            guard !meant.isEmpty else { return }
            let left = meant.map { LaneWant(lane: wants[$0].lane, limit: wants[$0].limit - claimed[$0].count) }
            for (index, more) in zip(meant, try take(left)) { claimed[index].add(more) }
        }
        // What came back goes first, and what is beyond a reserve last.
        let reserved = Set(wants.map(\.lane).filter { reserves.has($0) })
        let returned = reserved.filter { reserves.mayHaveReturned($0.batch) }
        try fill({ !reserved.contains($0) || returned.contains($0) }) { try claimRows($0, secrets) }
        try fill({ reserved.contains($0) }) { try claimReserved($0) }
        try fill({ reserved.contains($0) && (reserves.isLonger($0) || reserves.wasTakenBack($0.batch)) }) {
            try claimRows($0, secrets)
        }
        return claimed
    }

    /// Claims what has rows: one transaction for all lanes.
    private func claimRows(_ wants: [LaneWant], _ secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        let batches = Set(wants.map(\.lane.batch))
        let isDurable = uploading.withLock { $0.isSuperset(of: batches) }
        let claimed = try write(isDurable: isDurable) { db in
            try requireLease(db)
            return try wants.map { try claim($0, db, secrets: secrets) }
        }
        // An upload is known to be on its way after a loss of power too, before its first byte leaves: one wait for the
        // disk for all uploads of the page.
        let uploads = claimed.filter { $0.jobs.contains { $0.record.spec.isUpload } }.map(\.lane.batch)
        if !isDurable, !uploads.isEmpty {
            try makeDurable()
            uploading.withLock { $0.formUnion(uploads) }
        }
        return claimed
    }

    private func claim(_ want: LaneWant, _ db: Database, secrets: [Int64: JobSecrets]) throws -> ClaimedJobs {
        let lane = want.lane
        var jobs: [(record: JobRecord, rank: Int)] = []
        var unreadable: [(id: Int64, identity: String, error: TransferError)] = []
        let statement = try db.cachedStatement(
            sql: """
                UPDATE job SET state = \(JobStates.claimed), owner = ?,
                    claimed = CASE WHEN wasInterrupted AND claimed NOT NULL THEN claimed ELSE ? END WHERE id IN (
                    SELECT id FROM job WHERE batch = ? AND origin = ? AND network = ? AND state = \(JobStates.queued)
                    ORDER BY priority DESC, id LIMIT ?)
                RETURNING id, identity, spec, priority, attempts, mirror, resume, size, modified, digest,
                    validator, wasInterrupted, mustRefresh, spentMirrors, hasSecrets, upload, ledger,
                    claimed, askedWait, finalURL
                """)
        let arguments: StatementArguments = [
            process, WallClock.milliseconds, lane.batch, lane.origin, lane.network, want.limit,
        ]
        // Read where they are: a copy of each row costs more than what is made of it.
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var watched: [(index: Int, ledger: Int64)] = []
        while let row = try rows.next() {
            let id: Int64 = row[0]
            if row[14] as Bool, secrets[id] == nil {
                unreadable.append((id, row[1], Self.lostSecret))
                continue
            }
            do {
                jobs.append((try Self.record(row, batch: lane.batch, secrets: secrets[id]), row[3]))
                if let ledger = row[16] as Int64? { watched.append((jobs.count - 1, ledger)) }
            } catch {
                let reason = TransferError(.internalFault, "this job can't be read any more: \(error)")
                unreadable.append((id, row[1], reason))
            }
        }
        for (index, ledger) in watched {
            jobs[index].record.watched = try Self.watchedVersion(db, ledger: ledger)
        }
        jobs.sort { ($1.rank, $0.record.id) < ($0.rank, $1.record.id) }
        return ClaimedJobs(lane: lane, jobs: jobs, unreadable: unreadable)
    }

    private static func record(_ row: Row, batch: Int64, secrets: JobSecrets?) throws -> JobRecord {
        let text: String = row[2]
        var spec = try JobSpec(canonicalJSON: text)
        if let secrets { spec = secrets.restore(spec) }
        var facts: FileStamp?
        if let size: Int64 = row[7], let modified: Int64 = row[8] { facts = FileStamp(size: size, modified: modified) }
        let resume: String? = row[6]
        let digest: String? = row[9]
        let upload: String? = row[15]
        let place: String? = row[19]
        return JobRecord(
            id: row[0], batch: batch, identity: row[1], spec: spec, attempts: row[4],
            askedWait: .milliseconds(row[18] as Int64), mirror: row[5],
            spentMirrors: UInt64(bitPattern: row[13] as Int64),
            resume: resume.flatMap { try? JSONDecoder().decode(ResumeData.self, from: Data($0.utf8)) },
            upload: upload.flatMap { UploadRecord(text: $0) }, facts: facts, digest: digest.flatMap { Checksum($0) },
            validator: row[10], place: place.map { AnsweredPlace(url: $0, takesCredentials: false) },
            wasInterrupted: row[11], claimed: row[17],
            recheck: DestinationRule.Recheck(rawValue: row[12]) ?? .ask)
    }

    func backlog(batch: Int64) throws -> Backlog {
        try read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT origin, network, count(*) FROM job WHERE batch = ? AND state = \(JobStates.queued) GROUP BY origin, network
                    """, arguments: [batch])
            var backlog = Backlog()
            for row in rows { backlog.ready[Lane(batch: batch, origin: row[0], network: row[1])] = row[2] }
            let reserve = try Int64.fetchOne(db, sql: "SELECT reserve FROM batch WHERE id = ?", arguments: [batch])
            if reserve == process { backlog.ready.merge(reserves.counts(of: batch)) { $0 + $1 } }
            backlog.sleepers = try sleepers(db, batch)
            return backlog
        }
    }

    /// Jobs that wait for their next attempt.
    private func sleepers(_ db: Database, _ batch: Int64) throws -> [SleepingJob] {
        try Row.fetchAll(
            db,
            sql:
                "SELECT id, origin, network, notBefore, due, delay FROM job WHERE batch = ? AND state = \(JobStates.waiting)",
            arguments: [batch]
        ).map { row in
            // Why an earlier process put it to sleep isn't kept: it's left to it.
            SleepingJob(
                id: row[0], lane: Lane(batch: batch, origin: row[1], network: row[2]),
                due: StoredWait(row)?.due() ?? .now, isAsked: true)
        }
    }

    func wake(_ ids: [Int64]) throws -> [Lane: Int] {
        let lanes = try writeRelaxed { db in
            try requireLease(db)
            var lanes: [Lane: Int] = [:]
            let statement = try db.cachedStatement(
                sql: """
                    UPDATE job SET state = \(JobStates.queued), notBefore = NULL WHERE id = ? AND state = \(JobStates.waiting)
                    RETURNING batch, origin, network
                    """)
            for id in ids {
                if let row = try Row.fetchOne(statement, arguments: [id]) {
                    lanes[Lane(batch: row[0], origin: row[1], network: row[2]), default: 0] += 1
                }
            }
            return lanes
        }
        for lane in lanes.keys { reserves.cameBack(lane.batch) }
        return lanes
    }

    func release(_ ids: [Int64]) throws {
        reserves.cameBack()
        try writeRelaxed { db in
            try requireLease(db)
            let statement = try db.cachedStatement(
                sql:
                    "UPDATE job SET state = \(JobStates.queued), owner = NULL, isSending = 0 WHERE id = ? AND state = \(JobStates.claimed)"
            )
            for id in ids { try statement.execute(arguments: [id]) }
        }
    }

    func completed(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob] {
        try read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, identity, isUpload, path, size, modified, digest, validator, finalURL, status, attempts,
                        lengthUnproven, CASE WHEN lengthUnproven THEN spec END
                    FROM job WHERE batch = ? AND state = \(JobStates.done) AND id > ? AND ledger IS NULL ORDER BY id LIMIT ?
                    """, arguments: [batch, id, limit]
            ).map { row in
                let digest: String? = row[6]
                let spec: String? = row[12]
                return CompletedJob(
                    id: row[0], batch: batch, identity: row[1], isUpload: row[2], path: row[3] ?? "",
                    facts: FileStamp(size: row[4] ?? -1, modified: row[5] ?? 0),
                    digest: digest.flatMap { Checksum($0) }, validator: row[7], finalURL: row[8] ?? "",
                    status: row[9] ?? 0, attempts: row[10], isLengthUnproven: row[11] as Int64? == 1,
                    isStrict: spec.flatMap { try? JobSpec(canonicalJSON: $0) }?.isStrict ?? false)
            }
        }
    }

    func completedIdentities(batch name: String) throws -> Set<String> {
        try read { db in
            try String.fetchSet(
                db,
                sql:
                    "SELECT identity FROM job JOIN batch ON batch.id = job.batch WHERE name = ? AND state = \(JobStates.done)",
                arguments: [name])
        }
    }

    func redo(_ ids: [Int64], _ recheck: DestinationRule.Recheck) throws {
        reserves.cameBack()
        try write { db in
            try requireLease(db)
            var batches = Set<Int64>()
            for id in ids {
                let row = try Row.fetchOne(
                    db,
                    sql: """
                        UPDATE job SET state = \(JobStates.queued), attempts = 0, askedWait = 0, mirror = 0, spentMirrors = 0, mustRefresh = ?,
                            endSequence = NULL
                        WHERE id = ? AND state = \(JobStates.done) RETURNING batch
                        """, arguments: [recheck.rawValue, id])
                if let row { batches.insert(row[0]) }
            }
            // What needs them has to wait again.
            for batch in batches { try Self.recountNeeds(db, batch: batch) }
        }
    }
}
