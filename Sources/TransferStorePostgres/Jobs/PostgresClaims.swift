import FoundationEssentials
import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore

/// The claims of ready jobs for this process. Jobs that another process is claiming at the same time are skipped, not
/// waited for.
package struct PostgresClaims: Sendable {
    package let database: PostgresDatabase

    /// A blanked query must never be sent in place of the real one.
    private static let lostSecret = TransferError(
        .secretMissing, "its URL or headers hold a secret that is never stored: run its job file again")

    package func claim(_ wants: [LaneWant], secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        let claimed = try database.transactFenced { db in
            let answers = try wants.map { ($0.lane, try ask(db, $0)) }
            let claimed = try answers.map { try read($1, of: $0, secrets) }
            // The claim of an upload must survive a loss of power before its first byte leaves. A worker outlives a
            // crash of the database, so a claim that the database forgot would be given to another worker, too.
            let hasUploads = claimed.contains { $0.jobs.contains { $0.record.spec.isUpload } }
            if !hasUploads, !database.role.sharesBatches { try PostgresTransaction.relax(db) }
            let own = claimed.flatMap(Self.numbers)
            return PostgresOutcome(claimed) { db in
                try own.isEmpty || PostgresHoldings.has(db, database.process, oneOf: own)
            }
        }
        database.holdings.took(claimed.flatMap(Self.numbers))
        return claimed
    }

    private static func numbers(_ claimed: ClaimedJobs) -> [Int64] {
        claimed.jobs.map(\.record.id) + claimed.unreadable.map(\.id)
    }

    private func ask(_ db: PostgresConnection, _ want: LaneWant) throws -> PostgresAnswer {
        let lane = want.lane
        return try db.post(
            Self.claiming,
            [database.process, lane.batch, lane.origin, lane.network, want.limit, lane.tags, partOwner?.text])
    }

    private func read(
        _ answer: PostgresAnswer, of lane: Lane, _ secrets: [Int64: JobSecrets]
    ) throws -> ClaimedJobs {
        let own = partOwner
        var claimed = ClaimedJobs(lane: lane, jobs: [], unreadable: [])
        for row in try answer.rows() {
            let (id, identity) = (row.number(0) ?? 0, row.text(1) ?? "")
            guard !row.flag(14) || secrets[id] != nil else {
                claimed.unreadable.append((id, identity, Self.lostSecret))
                continue
            }
            do {
                let record = try Self.record(row, batch: lane.batch, secrets: secrets[id], own: own)
                claimed.jobs.append((record, row.int(3) ?? 0))
            } catch {
                let reason = TransferError(.internalFault, "the record of this job can no longer be read: \(error)")
                claimed.unreadable.append((id, identity, reason))
            }
        }
        claimed.jobs.sort { ($1.rank, $0.record.id) < ($0.rank, $1.record.id) }
        return claimed
    }

    /// The mark of this process on partial files, where other processes may have some in the same folders.
    private var partOwner: PartOwner? {
        guard database.role.sharesBatches else { return nil }
        return PartOwner(generation: database.process, bootID: BootID.current)
    }

    private static func owners(_ row: PostgresRow, own: PartOwner) -> PartOwners {
        let all = (row.text(19) ?? "").split(separator: ",").map { PartOwner(text: String($0)) }
        return PartOwners(own: own, earlier: all.filter { $0 != own })
    }

    private static func record(
        _ row: PostgresRow, batch: Int64, secrets: JobSecrets?, own: PartOwner?
    ) throws -> JobRecord {
        var spec = try JobSpec(canonicalJSON: row.text(2) ?? "")
        if let secrets { spec = secrets.restore(spec) }
        var facts: FileStamp?
        if let size = row.number(7), let modified = row.number(8) { facts = FileStamp(size: size, modified: modified) }
        return JobRecord(
            id: row.number(0) ?? 0, batch: batch, identity: row.text(1) ?? "", spec: spec, attempts: row.int(4) ?? 0,
            askedWait: .milliseconds(row.number(17) ?? 0), mirror: row.int(5) ?? 0,
            spentMirrors: UInt64(bitPattern: row.number(13) ?? 0),
            resume: row.text(6).flatMap { try? JSONDecoder().decode(ResumeData.self, from: Data($0.utf8)) },
            upload: row.text(15).flatMap { UploadRecord(text: $0) }, facts: facts,
            digest: row.text(9).flatMap { Checksum($0) }, validator: row.text(10),
            sums: row.bytes(21).flatMap { PieceSumList(encoded: $0) },
            place: row.text(18).map { AnsweredPlace(url: $0, takesCredentials: false) }, wasInterrupted: row.flag(11),
            claimed: PostgresClock.time(ago: row.number(16) ?? 0),
            recheck: DestinationRule.Recheck(rawValue: row.int(12) ?? 0) ?? .ask,
            watched: row.text(20).map { WatchedVersion($0) },
            partOwners: own.map { owners(row, own: $0) })
    }

    // MARK: Statements

    /// The version of a watched file, as ``WatchedVersion/init(_:)`` reads it. A version that is no longer known has
    /// the size -1, which no file has.
    private static let watched = """
        CASE WHEN job.history IS NOT NULL THEN coalesce((SELECT concat_ws(',', upload_history.id, inode,
                upload_history.size, upload_history.modified, verifies::integer, failures,
                coalesce(changed::text, '-'), coalesce(upload_history.fingerprint::text, '-'), upload_history.digest)
            FROM upload_history JOIN watched_folder ON watched_folder.id = upload_history.folder
            WHERE upload_history.id = job.history), job.history || ',0,-1,0,0,0,-,-') END
        """

    /// The search admits only ready jobs, and locks them.
    private static let claiming = PostgresStatement(
        "claim_jobs", .work,
        """
        WITH ready AS MATERIALIZED (
            SELECT id AS ready_id FROM job
            WHERE batch = $2 AND origin = $3 AND network = $4 AND tags = $6 AND state = \(JobStates.queued)
            ORDER BY priority DESC, id LIMIT $5 FOR UPDATE SKIP LOCKED)
        """ + " "
            + PostgresJobUpdate(
                .claim, guards: false,
                also: { _ in
                    [
                        """
                        part_owners = CASE WHEN $7::text IS NULL OR $7 = ANY (part_owners) THEN part_owners
                            ELSE (part_owners || $7::text)[greatest(1, cardinality(part_owners) - 30):] END
                        """
                    ]
                },
                from: { _ in "ready" },
                returning: """
                    job.id, identity, spec, priority, attempts, mirror, resume, size, modified, digest, validator,
                    was_interrupted, recheck, spent_mirrors, has_secrets, upload, \(PostgresClock.now) - claimed, asked_wait, final_url,
                    array_to_string(part_owners, ','), \(watched),
                    CASE WHEN recheck = \(DestinationRule.Recheck.repair.rawValue) THEN sums END
                    """, where: { _ in "job.id = ready_id" }
            ).sql)

    package static let statements = [
        claiming
    ]
}

extension WatchedVersion {
    /// Reads a version.
    ///
    /// - Parameter text: The row's number, inode, size, time, whether it is verified, failures, time of its last
    ///   change, fingerprint and digest, separated by commas.
    fileprivate init(_ text: String) {
        let parts = text.split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false)
        func number(_ index: Int) -> Int64? { index < parts.count ? Int64(parts[index]) : nil }
        let stamp = FileStamp(
            inode: UInt64(bitPattern: number(1) ?? 0), size: number(2) ?? -1, modified: number(3) ?? 0,
            changed: number(6))
        self.init(
            history: number(0) ?? 0, stamp: stamp, digest: parts.count > 8 ? Checksum(String(parts[8])) : nil,
            verifies: number(4) == 1, failures: Int(number(5) ?? 0),
            fingerprint: number(7).map { UInt64(bitPattern: $0) })
    }
}
