import FoundationEssentials
import GRDB
import Synchronization
import TransferCore
import TransferEngine
import TransferEventLoop

/// Jobs of one batch that speak to one origin under the same rules of the network: what is claimed together.
struct Lane: Sendable, Hashable {
    let batch: Int64
    let origin: String
    /// The rules (`NetworkPolicy.key`).
    let network: String

    init(batch: Int64, origin: String, network: String = "") {
        self.batch = batch
        self.origin = origin
        self.network = network
    }
}

extension SQLiteStore {
    /// A blanked query must never be sent in place of the real one.
    private static let lostSecret = TransferError(
        .secretMissing, "its URL or headers hold a secret that is never stored: run its job file again")

    /// Takes up to `limit` ready jobs of the lane for this process, the most urgent first.
    func claim(_ lane: Lane, limit: Int, secrets: [Int64: JobSecrets]) throws -> ClaimedJobs {
        try claim([LaneWant(lane: lane, limit: limit)], secrets: secrets).first
            ?? ClaimedJobs(lane: lane, jobs: [], unreadable: [])
    }

    /// The same of several lanes, in their order: one transaction for all of them.
    func claim(_ wants: [LaneWant], secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        let batches = Set(wants.map(\.lane.batch))
        let isDurable = uploading.withLock { $0.isSuperset(of: batches) }
        let claimed = try write(isDurable: isDurable) { db in
            try wants.map { try claim($0, db, secrets: secrets) }
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

    /// How many jobs are ready, by lane.
    func backlog(batch: Int64) throws -> [(lane: Lane, count: Int)] {
        try read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT origin, network, count(*) FROM job WHERE batch = ? AND state = \(JobStates.queued) GROUP BY origin, network
                    """, arguments: [batch]
            ).map { (Lane(batch: batch, origin: $0[0], network: $0[1]), $0[2]) }
        }
    }

    /// Jobs that wait for their next attempt.
    func sleepers(batch: Int64) throws -> [SleepingJob] {
        try read { db in
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
    }

    /// Makes waiting jobs ready; those that were paused or cancelled meanwhile stay as they are.
    func wake(_ ids: [Int64]) throws -> [Lane: Int] {
        try writeRelaxed { db in
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
    }

    /// Gives claimed jobs back unstarted.
    func release(_ ids: [Int64]) throws {
        try writeRelaxed { db in
            let statement = try db.cachedStatement(
                sql:
                    "UPDATE job SET state = \(JobStates.queued), owner = NULL, isSending = 0 WHERE id = ? AND state = \(JobStates.claimed)"
            )
            for id in ids { try statement.execute(arguments: [id]) }
        }
    }

    /// Jobs that were complete before, a page at a time.
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

    /// Makes complete jobs ready again.
    func redo(_ ids: [Int64], _ recheck: DestinationRule.Recheck) throws {
        try write { db in
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
