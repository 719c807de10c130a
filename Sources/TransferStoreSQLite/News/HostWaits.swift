package import GRDB
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferScheduling
import TransferStore

/// The origins that transfers of a running process wait for.
package struct HostWaits: Sendable {
    package let database: QueueDatabase

    /// Replaces this process's last report of the origins that it waits for.
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

    /// Returns the origins that jobs of a batch wait for, those with the most jobs first.
    ///
    /// - Returns: Each wait with the number of its jobs that are ready or claimed, apart from the wait.
    package static func waits(_ db: Database, batch: Int64, process: Int64) throws -> [(wait: HostWait, ready: Int)] {
        let waits = try Row.fetchAll(
            db, sql: "SELECT \(hostColumns) FROM hostWait WHERE process = ?", arguments: [process])
        guard !waits.isEmpty else { return [] }
        let claimed = try ReserveRows.counts(db, batch: batch)
            .merging(try counts(db, of: .claimed, batch: batch, process: process), uniquingKeysWith: +)
        let waiting = try counts(db, of: .waiting, batch: batch, process: process)
        return try waits.compactMap { row in
            let origin: String = row[stored: "origin"]
            // There may be a million of these, so they are counted in the index that has no others.
            let queued = try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM job INDEXED BY jobReady
                    WHERE batch = ? AND origin = ? AND state = \(JobStates.queued)
                    """, arguments: [batch, origin])
            let ready = (queued ?? 0) + (claimed[origin] ?? 0)
            var wait = HostWait(row)
            wait.jobs = ready + (waiting[origin] ?? 0)
            return wait.jobs > 0 ? (wait, ready) : nil
        }
        .sorted { ($1.wait.jobs, $0.wait.origin) < ($0.wait.jobs, $1.wait.origin) }
    }

    /// Counts jobs of the batch by their origins, in a state that few of them have at a time.
    private static func counts(
        _ db: Database, of state: JobState, batch: Int64, process: Int64
    ) throws -> [String: Int] {
        // SQLite uses a partial index only where the query repeats the condition of the index.
        let (index, condition) =
            state == .claimed
            ? ("jobOwner", "owner = ?2")
            : ("jobRest", "?2 AND state NOT IN (\(JobStates.list([.queued, .claimed, .done])))")
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT origin, count(*) FROM job INDEXED BY \(index)
                WHERE \(condition) AND batch = ?1 AND state = \(state.rawValue) GROUP BY origin
                """, arguments: [batch, process])
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[stored: 0], $0[stored: 1]) })
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
            origin: row[stored: "proxy"] ?? row[stored: "origin"], status: row[stored: "status"],
            message: row[stored: "message"], since: row[stored: "since"])
        if let until: Int64 = row[stored: "until"] {
            remaining = StoredWait(wall: until, boot: row[stored: "due"], length: row[stored: "delay"]).remaining()
        }
    }
}
