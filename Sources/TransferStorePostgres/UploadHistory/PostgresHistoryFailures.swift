import TransferCore
import TransferEventLoop
import TransferJobs
import TransferStore

/// The failed files of watched folders, which are tried again later.
package struct PostgresHistoryFailures: Sendable {
    let database: PostgresDatabase
    let history: PostgresHistory

    func wake(batch: Int64, _ selection: FailedSelection, limit: Int) throws -> WokenFiles {
        try database.writeFenced { db in
            var woken = WokenFiles()
            let statement =
                switch selection {
                case .probe: Self.probe
                case .followers: Self.followers
                case .due: Self.due
                }
            for row in try db.run(statement, [batch, limit]) {
                woken.jobs.append(row.number(0) ?? 0)
                woken.changes.ready[PostgresLane.lane(row, from: 1), default: 0] += 1
            }
            if !woken.jobs.isEmpty {
                try db.post(Self.opening, [PostgresArray(woken.jobs)])
                try PostgresNotice.work.tell(db)
            }
            woken.next = try Self.next(db, batch: batch)
            woken.changes.revived = woken.jobs.count
            woken.changes.open = try history.openCount(db, batch: batch)
            woken.changes.stamp = history.nextStamp()
            return woken
        }
    }

    /// Returns the time until the next of a folder's failed files is tried again automatically; `nil` if there is none.
    static func next(_ db: PostgresConnection, batch: Int64) throws -> Duration? {
        try db.run(Self.nextTime, [batch]).first?.number(0).map { .milliseconds(max(0, $0)) }
    }

    // MARK: Statements

    private static let update = PostgresJobUpdate(
        .wakeFailed, guards: false, from: { _ in "chosen" }, returning: "job.id, batch, origin, network, tags",
        where: { _ in "job.id = chosen.id" })

    private static func waking(_ name: String, _ condition: String, order: String) -> PostgresStatement {
        PostgresStatement(
            name, [.submit, .work],
            """
            WITH chosen AS MATERIALIZED (
                SELECT job.id FROM job JOIN upload_history ON upload_history.id = job.history
                WHERE job.batch = $1 AND job.state = \(JobStates.failed) AND not_before IS NOT NULL AND \(condition)
                    AND NOT EXISTS (SELECT FROM watched_folder WHERE watched_folder.batch = $1 AND is_paused)
                ORDER BY \(order), job.id LIMIT $2 FOR UPDATE OF job SKIP LOCKED)
            \(update.sql)
            """)
    }

    /// The condition of failures that may concern all files of a server. A server that has other bytes than a file's,
    /// or does not show them, concerns that file alone: the success of another file says nothing about it.
    private static let isOfServer = "coalesce(error_code, '') NOT IN ('checksumMismatch', 'digestUnknown')"

    private static let probe = waking("probe_failed", isOfServer, order: "failures, priority DESC")
    private static let followers = waking("wake_failed", isOfServer, order: "priority DESC")
    private static let due = waking("wake_due_failed", "not_before <= \(PostgresClock.now)", order: "not_before")

    private static let opening = PostgresStatement(
        "open_history", [.submit, .work],
        "UPDATE upload_history SET state = \(HistoryStates.open) WHERE job = ANY ($1::bigint[])")

    private static let nextTime = PostgresStatement(
        "next_failed", [.submit, .work],
        """
        SELECT min(not_before) - \(PostgresClock.now) FROM job
        WHERE batch = $1 AND history IS NOT NULL AND state = \(JobStates.failed) AND not_before IS NOT NULL
        """)

    package static let statements = [
        probe, followers, due, opening, nextTime,
    ]
}
