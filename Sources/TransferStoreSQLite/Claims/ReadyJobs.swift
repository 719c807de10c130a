import GRDB
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore

/// Jobs that are ready, and those that become ready again.
package struct ReadyJobs: Sendable {
    package let database: QueueDatabase
    package let reserves: ReservedJobs

    package func backlog(batch: Int64) throws -> Backlog {
        try database.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT origin, network, count(*) FROM job WHERE batch = ? AND state = \(JobStates.queued) GROUP BY origin, network
                    """, arguments: [batch])
            var backlog = Backlog()
            for row in rows {
                backlog.ready[Lane(batch: batch, origin: row[stored: 0], network: row[stored: 1])] = row[stored: 2]
            }
            let reserve = try ReserveRows.owner(db, batch: batch)
            if reserve == database.process { backlog.ready.merge(reserves.counts(of: batch)) { $0 + $1 } }
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
            // The reason of an earlier process for the wait is not stored, so the wait counts as one that a server
            // asked for.
            SleepingJob(
                id: row[stored: 0], lane: Lane(batch: batch, origin: row[stored: 1], network: row[stored: 2]),
                due: StoredWait(row)?.due() ?? .now, isAsked: true)
        }
    }

    package func wake(_ ids: [Int64]) throws -> [Lane: Int] {
        let lanes = try database.writeFenced(isDurable: false) { db in
            var lanes: [Lane: Int] = [:]
            let statement = try db.cachedStatement(sql: Self.waking.sql)
            for id in ids {
                if let row = try Row.fetchOne(statement, arguments: Self.waking.arguments([id])) {
                    lanes[Lane(batch: row[stored: 0], origin: row[stored: 1], network: row[stored: 2]), default: 0] += 1
                }
            }
            return lanes
        }
        for lane in lanes.keys { reserves.cameBack(lane.batch) }
        return lanes
    }

    package func release(_ ids: [Int64]) throws {
        reserves.cameBack()
        try database.writeFenced(isDurable: false) { db in
            let statement = try db.cachedStatement(sql: Self.releasing.sql)
            for id in ids { try statement.execute(arguments: Self.releasing.arguments([id])) }
        }
    }

    package func redo(_ ids: [Int64], _ recheck: DestinationRule.Recheck) throws {
        reserves.cameBack()
        try database.writeFenced { db in
            var batches = Set<Int64>()
            for id in ids {
                let row = try Row.fetchOne(
                    db, sql: Self.redoing.sql,
                    arguments: Self.redoing.arguments([id]) { _ in JobValue(recheck.rawValue) })
                if let row { batches.insert(row[stored: 0]) }
            }
            // Jobs that need these have to wait again.
            for batch in batches { try Needs.recount(db, batch: batch) }
        }
    }

    // MARK: Changes

    private static let waking = JobUpdate(.wake, returning: "batch, origin, network") { "id = ?\($0)" }

    private static let releasing = JobUpdate(.release) { "id = ?\($0)" }

    /// A job that is not complete is done again only where it has brought its file before.
    private static let redoing = JobUpdate(.redo, returning: "batch") {
        "id = ?\($0) AND (state = \(JobStates.done) OR path NOT NULL)"
    }
}
