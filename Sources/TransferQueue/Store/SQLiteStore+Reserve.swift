import GRDB
import TransferCore
import TransferEventLoop

// Jobs that a process took when it put them into the queue. The database has them as claimed by nobody: the batch says by
// whom (`reserve`), and `opened` which of them may have started, and when.
extension SQLiteStore {
    /// The state of a row of `job`, as whoever asks is to see it: what of a reserve isn't opened only waits for its turn, like
    /// what nobody has taken.
    static let shownState = """
        CASE WHEN job.state = \(JobStates.claimed) AND job.owner IS NULL AND NOT EXISTS (SELECT 1 FROM opened
            WHERE opened.batch = job.batch AND opened.origin = job.origin AND opened.network = job.network
                AND opened.last >= job.id)
            THEN 0 ELSE job.state END
        """

    /// Claims what the reserves have; nothing of one that somebody gave back: its jobs are claimed like others.
    func claimReserved(_ wants: [LaneWant]) throws -> [ClaimedJobs] {
        let pages = wants.map { (lane: $0.lane, jobs: reserves.take($0.lane, atMost: $0.limit)) }
        let since = WallClock.milliseconds
        let areOpen = try open(pages, since: since)
        return zip(pages, areOpen).map { page, isOpen in
            if !isOpen { reserves.takeBack(page.lane.batch) }
            let jobs = isOpen ? page.jobs : []
            return ClaimedJobs(
                lane: page.lane,
                jobs: jobs.map { ($0.record(of: page.lane.batch, since: since), $0.spec.wrappedValue.priority) },
                unreadable: [])
        }
    }

    /// Notes, before the first of them starts, that jobs of reserves go on their way: all of their lanes up to the last one.
    /// Where there are uploads among them, that is known after a loss of power too.
    ///
    /// - Parameter since: Milliseconds since 1970.
    /// - Returns: For each lane whether there still is a reserve.
    private func open(_ pages: [(lane: Lane, jobs: [JobReserve.Job])], since: Int64) throws -> [Bool] {
        let isDurable = pages.contains { $0.jobs.contains { $0.spec.wrappedValue.isUpload } }
        let areOpen = try writeRelaxed(leavesPacks: true) { db in
            try requireLease(db)
            let statement = try db.cachedStatement(
                sql: """
                    INSERT INTO opened (batch, origin, network, last, since)
                    SELECT ?1, ?2, ?3, ?4, ?5 FROM batch WHERE id = ?1 AND reserve = ?6
                    """)
            return try pages.map { lane, jobs in
                guard let last = jobs.last?.id else { return false }
                try statement.execute(arguments: [lane.batch, lane.origin, lane.network, last, since, process])
                return db.changesCount > 0
            }
        }
        if isDurable, areOpen.contains(true) { try makeDurable() }
        return areOpen
    }

    /// Of a batch whose first jobs were put in as claimed.
    static func beginReserve(_ db: Database, batch: Int64, of process: Int64) throws {
        try db.execute(sql: "UPDATE batch SET reserve = ? WHERE id = ?", arguments: [process, batch])
    }

    /// Gives back what of the reserves of a process hasn't started; the rest is from then on claimed by it as others are.
    static func dissolveReserves(_ db: Database, of process: Int64) throws {
        let batches = try Int64.fetchAll(db, sql: "SELECT id FROM batch WHERE reserve = ?", arguments: [process])
        for batch in batches { try dissolveReserve(db, batch: batch) }
    }

    /// Those of processes that a version which knows of none took for dead.
    static func dissolveOrphans(_ db: Database) throws {
        let orphans = try Row.fetchAll(
            db, sql: "SELECT id, reserve FROM batch WHERE reserve NOT NULL AND reserve NOT IN (SELECT id FROM process)")
        for orphan in orphans {
            try dissolveReserve(db, batch: orphan[0])
            try db.execute(
                sql:
                    "UPDATE job SET state = \(JobStates.queued), owner = NULL, wasInterrupted = 1 WHERE batch = ? AND state = \(JobStates.claimed) AND owner = ?",
                arguments: [orphan[0] as Int64, orphan[1] as Int64])
        }
    }

    /// Gives back what of a batch's reserve hasn't started; nothing where it has none.
    static func dissolveReserve(_ db: Database, batch: Int64) throws {
        let reserve = try Int64.fetchOne(db, sql: "SELECT reserve FROM batch WHERE id = ?", arguments: [batch])
        try unpack(db, batch: batch)
        guard let reserve else { return }
        try db.execute(
            sql: """
                UPDATE job SET owner = ?2, claimed = (SELECT since FROM opened WHERE opened.batch = job.batch
                    AND opened.origin = job.origin AND opened.network = job.network AND opened.last >= job.id
                    ORDER BY last LIMIT 1)
                    WHERE batch = ?1 AND state = \(JobStates.claimed) AND owner IS NULL
                """, arguments: [batch, reserve])
        try db.execute(
            sql:
                "UPDATE job SET state = \(JobStates.queued), owner = NULL WHERE batch = ?1 AND state = \(JobStates.claimed) AND owner = ?2 AND claimed IS NULL",
            arguments: [batch, reserve])
        try endReserve(db, batch: batch)
    }

    /// All of its jobs have ended.
    static func endReserve(_ db: Database, batch: Int64) throws {
        try db.execute(sql: "DELETE FROM opened WHERE batch = ?", arguments: [batch])
        try db.execute(sql: "UPDATE batch SET reserve = NULL WHERE id = ?", arguments: [batch])
    }
}

extension JobReserve.Job {
    fileprivate func record(of batch: Int64, since: Int64) -> JobRecord {
        JobRecord(id: id, batch: batch, identity: identity, spec: spec, claimed: since)
    }
}
