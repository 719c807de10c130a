import GRDB
import Synchronization
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore

/// The claims of ready jobs for this process: those of reserves are taken from memory, the others from their rows.
package final class Claims: Sendable {
    private let database: QueueDatabase
    private let reserves: ReservedJobs
    private let reserveClaims: ReserveClaims
    /// Batches of which an upload was claimed: further claims are durable when they are made.
    private let uploading = Mutex<Set<Int64>>([])

    package init(_ database: QueueDatabase, _ reserves: ReservedJobs) {
        self.database = database
        self.reserves = reserves
        reserveClaims = ReserveClaims(database: database, reserves: reserves)
    }

    /// A blanked query must never be sent in place of the real one.
    private static let lostSecret = TransferError(
        .secretMissing, "its URL or headers hold a secret that is never stored: run its job file again")

    package func claim(_ wants: [LaneWant], secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        var claimed = try claimAll(wants, secrets)
        for index in claimed.indices where reserves.wasTakenBack(claimed[index].lane.batch) {
            claimed[index].isNews = true
        }
        return claimed
    }

    private func claimAll(_ wants: [LaneWant], _ secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        guard wants.contains(where: { reserves.has($0.lane) }) else { return try claimRows(wants, secrets) }
        var claimed = wants.map { ClaimedJobs(lane: $0.lane, jobs: [], unreadable: []) }
        /// Claims the jobs that are still missing, from lanes that `isMeant` accepts.
        func fill(_ isMeant: (Lane) -> Bool, _ take: ([LaneWant]) throws -> [ClaimedJobs]) throws {
            let meant = wants.indices.filter { isMeant(wants[$0].lane) && claimed[$0].count < wants[$0].limit }
            guard !meant.isEmpty else { return }
            let left = meant.map { LaneWant(lane: wants[$0].lane, limit: wants[$0].limit - claimed[$0].count) }
            for (index, more) in zip(meant, try take(left)) { claimed[index].add(more) }
        }
        // Jobs that became ready again go first, and those beyond a reserve last.
        let reserved = Set(wants.map(\.lane).filter { reserves.has($0) })
        let returned = reserved.filter { reserves.mayHaveReturned($0.batch) }
        try fill({ !reserved.contains($0) || returned.contains($0) }) { try claimRows($0, secrets) }
        try fill({ reserved.contains($0) }) { try reserveClaims.claim($0) }
        try fill({ reserved.contains($0) && (reserves.isLonger($0) || reserves.wasTakenBack($0.batch)) }) {
            try claimRows($0, secrets)
        }
        return claimed
    }

    /// Claims jobs that have rows, in one transaction for all lanes.
    private func claimRows(_ wants: [LaneWant], _ secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        let batches = Set(wants.map(\.lane.batch))
        let isDurable = uploading.withLock { $0.isSuperset(of: batches) }
        let claimed = try database.writeFenced(isDurable: isDurable) { db in
            try wants.map { try claim($0, db, secrets: secrets) }
        }
        // The claim of an upload must survive a loss of power before its first byte leaves. One wait for the disk
        // covers all uploads of the page.
        let uploads = claimed.filter { $0.jobs.contains { $0.record.spec.isUpload } }.map(\.lane.batch)
        if !isDurable, !uploads.isEmpty {
            try database.makeDurable()
            uploading.withLock { $0.formUnion(uploads) }
        }
        return claimed
    }

    private func claim(_ want: LaneWant, _ db: Database, secrets: [Int64: JobSecrets]) throws -> ClaimedJobs {
        let lane = want.lane
        var jobs: [(record: JobRecord, rank: Int)] = []
        var unreadable: [(id: Int64, identity: String, error: TransferError)] = []
        let statement = try db.cachedStatement(sql: Self.claiming.sql)
        let arguments = Self.claiming.arguments([lane.batch, lane.origin, lane.network, want.limit]) { _ in
            JobValue(database.process)
        }
        // The rows are read in place, because a copy of each costs more than the job made from it.
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var watched: [(index: Int, history: Int64)] = []
        while let row = try rows.next() {
            let id: Int64 = row[stored: 0]
            if row[stored: 14] as Bool, secrets[id] == nil {
                unreadable.append((id, row[stored: 1], Self.lostSecret))
                continue
            }
            do {
                jobs.append((try JobRecord(row, batch: lane.batch, secrets: secrets[id]), row[stored: 3]))
                if let history = row[stored: 16] as Int64? { watched.append((jobs.count - 1, history)) }
            } catch {
                let reason = TransferError(.internalFault, "the record of this job can no longer be read: \(error)")
                unreadable.append((id, row[stored: 1], reason))
            }
        }
        for (index, history) in watched {
            jobs[index].record.watched = try WatchedVersion.find(db, history: history)
        }
        jobs.sort { ($1.rank, $0.record.id) < ($0.rank, $1.record.id) }
        return ClaimedJobs(lane: lane, jobs: jobs, unreadable: unreadable)
    }

    /// The search admits only ready jobs.
    private static let claiming = JobUpdate(
        .claim, guards: false,
        returning: """
            id, identity, spec, priority, attempts, mirror, resume, size, modified, digest,
            validator, wasInterrupted, mustRefresh, spentMirrors, hasSecrets, upload, ledger,
            claimed, askedWait, finalURL, CASE WHEN mustRefresh = \(DestinationRule.Recheck.repair.rawValue) THEN sums END
            """
    ) { next in
        """
        id IN (SELECT id FROM job
            WHERE batch = ?\(next) AND origin = ?\(next + 1) AND network = ?\(next + 2) AND state = \(JobStates.queued)
            ORDER BY priority DESC, id LIMIT ?\(next + 3))
        """
    }
}
