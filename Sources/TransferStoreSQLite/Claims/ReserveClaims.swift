import GRDB
import TransferCore
import TransferEventLoop
import TransferJobs
package import TransferStore

/// Claims of jobs that this process reserved when it inserted them. They are in memory, and only the last job of each
/// page is written down.
package struct ReserveClaims: Sendable {
    package let database: QueueDatabase
    package let reserves: ReservedJobs

    /// Claims jobs from the reserves. A reserve that was given back yields none, because its jobs are claimed like all
    /// others.
    package func claim(_ wants: [LaneWant]) throws -> [ClaimedJobs] {
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

    /// Writes down, before the first job starts, that jobs of reserves may start: in each lane all up to the last job
    /// of the page. The note survives a loss of power where there are uploads among them.
    ///
    /// - Parameter since: The present time in milliseconds since 1970.
    /// - Returns: Whether there still is a reserve, for each lane.
    private func open(_ pages: [(lane: Lane, jobs: [JobReserve.Job])], since: Int64) throws -> [Bool] {
        let isDurable = pages.contains { $0.jobs.contains { $0.spec.wrappedValue.isUpload } }
        let areOpen = try database.writeFenced(isDurable: false, leavesPacks: true) { db in
            let statement = try db.cachedStatement(
                sql: """
                    INSERT INTO opened (batch, origin, network, last, since)
                    SELECT ?1, ?2, ?3, ?4, ?5 FROM batch WHERE id = ?1 AND reserve = ?6
                    """)
            return try pages.map { lane, jobs in
                guard let last = jobs.last?.id else { return false }
                try statement.execute(arguments: [lane.batch, lane.origin, lane.network, last, since, database.process])
                return db.changesCount > 0
            }
        }
        if isDurable, areOpen.contains(true) { try database.makeDurable() }
        return areOpen
    }
}

extension JobReserve.Job {
    fileprivate func record(of batch: Int64, since: Int64) -> JobRecord {
        JobRecord(id: id, batch: batch, identity: identity, spec: spec, claimed: since)
    }
}
