import GRDB
import TransferCore
import TransferEventLoop
import TransferJobs
package import TransferStore

/// Claims of jobs that this process took when it put them into the queue: they are in memory, and of a page only its last
/// job is written down.
package struct ReserveClaims: Sendable {
    package let database: QueueDatabase
    package let reserves: ReservedJobs

    /// Claims what the reserves have; nothing of one that somebody gave back: its jobs are claimed like others.
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

    /// Notes, before the first of them starts, that jobs of reserves go on their way: all of their lanes up to the last one.
    /// The note outlasts a loss of power where there are uploads among them.
    ///
    /// - Parameter since: Milliseconds since 1970.
    /// - Returns: For each lane whether there still is a reserve.
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
