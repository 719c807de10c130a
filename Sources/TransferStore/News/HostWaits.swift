package import GRDB
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferScheduling

/// The origins that transfers of a running process wait for.
package struct HostWaits: Sendable {
    package let database: QueueDatabase

    /// Replaces what this process said of the origins that it waits for.
    package func save(_ waits: Set<OriginWait>) throws {
        try database.writeRelaxed(leavesPacks: true) { db in
            let known = try String.fetchAll(
                db, sql: "SELECT origin FROM hostWait WHERE process = ?", arguments: [database.process])
            let origins = Set(waits.map(\.origin))
            for origin in known where !origins.contains(origin) {
                try db.execute(
                    sql: "DELETE FROM hostWait WHERE process = ? AND origin = ?", arguments: [database.process, origin])
            }
            let statement = try db.cachedStatement(
                sql: """
                    INSERT INTO hostWait (process, origin, since, until, due, delay, status, message, proxy)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (process, origin) DO UPDATE SET until = excluded.until, due = excluded.due,
                        delay = excluded.delay, status = excluded.status, message = excluded.message,
                        proxy = excluded.proxy
                    """)
            for wait in waits {
                let end = wait.until.map { StoredWait(until: $0) }
                try statement.execute(arguments: [
                    database.process, wait.origin, WallClock.milliseconds, end?.wall, end?.boot, end?.length,
                    wait.status, wait.message, wait.proxy,
                ])
            }
        }
    }

    private static let hostColumns = """
        hostWait.origin, hostWait.status, hostWait.message, hostWait.since, hostWait.until, hostWait.due,
        hostWait.delay, hostWait.proxy
        """

    /// The origins that jobs of a batch wait for, those with the most of them first.
    ///
    /// - Returns: Each wait with the number of its jobs that are ready, or taken, but for it.
    package static func waits(_ db: Database, batch: Int64, process: Int64) throws -> [(wait: HostWait, ready: Int)] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT \(hostColumns), count(*) AS jobs, sum(job.state < \(JobStates.waiting)) AS ready
                -- In this order: mostly there is no such host, and there may be a million jobs.
                FROM hostWait CROSS JOIN job ON job.origin = hostWait.origin
                WHERE hostWait.process = ? AND job.batch = ? AND job.state < \(JobStates.blocked)
                GROUP BY hostWait.origin ORDER BY jobs DESC, hostWait.origin
                """, arguments: [process, batch]
        ).map { row in
            var wait = HostWait(row)
            wait.jobs = row["jobs"]
            return (wait, row["ready"])
        }
    }

    package static func wait(_ db: Database, origin: String, process: Int64) throws -> HostWait? {
        try Row.fetchOne(
            db, sql: "SELECT \(hostColumns) FROM hostWait WHERE process = ? AND origin = ?",
            arguments: [process, origin]
        ).map { HostWait($0) }
    }
}

extension HostWait {
    fileprivate init(_ row: Row) {
        self.init(
            origin: row["proxy"] ?? row["origin"], status: row["status"], message: row["message"], since: row["since"])
        if let until: Int64 = row["until"] {
            remaining = StoredWait(wall: until, boot: row["due"], length: row["delay"]).remaining()
        }
    }
}
