import GRDB
import TransferCore
import TransferEngine
import TransferEventLoop
package import TransferJobs
import TransferStore

/// The state of batches, for processes that read the queue.
package struct StatusQueries: Sendable {
    package let database: QueueDatabase

    /// Reads the status of all batches, or of the named one. The query writes nothing: packed jobs are counted in their
    /// packs.
    package func statuses(name: String?) throws -> [BatchStatus] {
        try database.read(leavesPacks: true) { db in
            let batches = try Row.fetchAll(
                db,
                sql: """
                    SELECT batch.id, name, source, rate, eta, waitingFor, directory, owner, toldJobs, toldDone,
                        \(LeaseHolder.columns)
                    FROM batch
                    LEFT JOIN process ON process.id = batch.owner WHERE ?1 IS NULL OR name = ?1 ORDER BY batch.id
                    """, arguments: [name])
            return try batches.map { row in
                var status = BatchStatus(name: row[stored: 1], source: row[stored: 2], directory: row[stored: 6])
                if let holder = LeaseHolder(row), holder.holds(database.locks, own: database.process) {
                    status.pid = holder.identity.pid
                    status.rate = row[stored: 3]
                    status.eta = (row[stored: 4] as Int64?).map { .seconds($0) }
                    status.waitingFor = row[stored: 5]
                }
                try Self.count(db, row[stored: 0], jobs: row[stored: 8], done: row[stored: 9], &status)
                if status.pid != nil {
                    let hosts = try HostWaits.waits(db, batch: row[stored: 0], process: row[stored: 7])
                    status.hosts = hosts.map(\.wait)
                    status.waiting += hosts.reduce(0) { $0 + $1.ready }
                }
                if status.waiting > 0, status.pid != nil {
                    let next = try Row.fetchOne(
                        db,
                        sql: """
                            SELECT notBefore, due, delay FROM job
                            WHERE batch = ? AND state = \(JobStates.waiting) AND notBefore IS NOT NULL
                            ORDER BY due LIMIT 1
                            """, arguments: [row[stored: 0] as Int64])
                    status.nextAttempt = next.flatMap { StoredWait($0)?.shownEnd() }
                }
                if status.failed > 0, status.pid != nil {
                    let first = try Row.fetchOne(
                        db,
                        sql: """
                            SELECT notBefore, due, delay FROM job
                            WHERE batch = ? AND ledger IS NOT NULL AND state = \(JobStates.failed) AND notBefore IS NOT NULL
                            ORDER BY due LIMIT 1
                            """, arguments: [row[stored: 0] as Int64])
                    status.again = first.flatMap { StoredWait($0)?.shownEnd() }
                }
                status.folder = try FolderStatusQuery.status(db, batch: row[stored: 0])
                let packed = try Int.fetchOne(
                    db, sql: "SELECT count FROM pack WHERE batch = ?", arguments: [row[stored: 0] as Int64])
                // Packed jobs that are complete have rows.
                if let packed { status.add(.queued, max(0, packed - status.total)) }
                return status
            }
        }
    }

    /// Returns whether another live process, or another queue of this process, holds the batch.
    package func isHeldElsewhere(batch name: String) throws -> Bool {
        try database.read(leavesPacks: true) { db in
            let row = try Row.fetchOne(
                db,
                sql: "SELECT \(LeaseHolder.columns) FROM batch JOIN process ON process.id = batch.owner WHERE name = ?",
                arguments: [name])
            guard let holder = row.flatMap(LeaseHolder.init), holder.generation != database.process else {
                return false
            }
            return holder.holds(database.locks, own: database.process)
        }
    }

    /// The number of jobs above which counts are not exact, as counting a million jobs takes most of a second. Above
    /// it, the process that runs the batch counts ready, claimed and complete jobs once a second.
    private static let exactlyCounted = 20_000

    private static func count(
        _ db: Database, _ batch: Int64, jobs: Int, done: Int, _ status: inout BatchStatus
    ) throws {
        let isCounted = status.pid != nil && jobs > exactlyCounted
        let counts = try Row.fetchAll(
            db,
            sql: """
                SELECT state, count(*) FROM job WHERE batch = ? \(isCounted ? "AND state NOT IN (\(JobStates.list([.queued, .claimed, .done])))" : "")
                GROUP BY state
                """, arguments: [batch])
        for count in counts { status.add(JobState(stored: count[stored: 0]), count[stored: 1]) }
        guard isCounted else { return }
        status.add(.done, done)
        status.add(.queued, max(0, jobs - status.total))
    }
}
