package import GRDB
import TransferCore
import TransferEventLoop
import TransferJobs
package import TransferStore

/// The failed files of watched folders, which are tried again.
package struct FailedFileRows: Sendable {
    package let database: QueueDatabase
    package let stamps: HistoryStamps

    private static let waking = JobUpdate(.wakeFailed, guards: false) { "id = ?\($0)" }

    /// Makes failed files of a watched folder ready again; none while its batch is paused.
    package func wake(batch: Int64, _ selection: FailedSelection, limit: Int) throws -> WokenFiles {
        try database.write { db in
            var woken = WokenFiles()
            let now = StoredWait.Now.system.bootMilliseconds
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT job.id, origin, network FROM job JOIN ledger ON ledger.id = job.ledger
                    WHERE job.batch = ?1 AND job.ledger IS NOT NULL AND job.state = \(JobStates.failed)
                        AND job.notBefore IS NOT NULL AND job.due <= ?2
                        \(selection.condition)
                        AND NOT EXISTS (SELECT 1 FROM watchedFolder WHERE watchedFolder.batch = ?1 AND isPaused)
                    ORDER BY \(selection.order), job.id LIMIT ?3
                    """, arguments: [batch, selection == .due ? now : Int64.max, limit])
            for row in rows {
                let id: Int64 = row[stored: 0]
                try db.cachedStatement(sql: Self.waking.sql).execute(arguments: Self.waking.arguments([id]))
                try db.cachedStatement(sql: "UPDATE ledger SET state = \(HistoryStates.open) WHERE job = ?").execute(
                    arguments: [id])
                woken.jobs.append(id)
                woken.changes.ready[Lane(batch: batch, origin: row[stored: 1], network: row[stored: 2]), default: 0] +=
                    1
            }
            woken.next = try FailedFileRows.next(db, batch: batch)
            woken.changes.revived = rows.count
            woken.changes.open = try WatchedJobs.countOpen(db, batch: batch)
            woken.changes.stamp = stamps.next()
            return woken
        }
    }

    /// Returns the time until the next failed file of a watched folder is tried again automatically; `nil` when there
    /// is none.
    package static func next(_ db: Database, batch: Int64) throws -> Duration? {
        let next = try Int64.fetchOne(
            db,
            sql: """
                SELECT min(due) FROM job WHERE batch = ? AND ledger IS NOT NULL AND state = \(JobStates.failed) AND notBefore IS NOT NULL
                """, arguments: [batch])
        let now = StoredWait.Now.system.bootMilliseconds
        return next.map { .milliseconds(max(0, $0 - now)) }
    }
}

extension FailedSelection {
    /// A server that has other bytes than the file, or hides its digest, concerns that file alone. The success of
    /// another file says nothing about it.
    fileprivate var condition: String {
        self == .due ? "" : "AND coalesce(job.errorCode, '') NOT IN ('checksumMismatch', 'digestUnknown')"
    }

    fileprivate var order: String {
        switch self {
        case .probe: "ledger.failures, job.priority DESC"
        case .followers: "job.priority DESC"
        case .due: "job.due"
        }
    }
}
