import GRDB
import TransferCore
import TransferJobs
import TransferStore

/// The state of a watched folder, from its upload history and the jobs of its batch.
enum FolderStatusQuery {
    /// - Returns: `nil` for a batch that belongs to no folder.
    static func status(_ db: Database, batch: Int64) throws -> FolderStatus? {
        guard
            let folder = try Row.fetchOne(
                db, sql: "SELECT path, url, id FROM watchedFolder WHERE batch = ?", arguments: [batch])
        else { return nil }
        var status = FolderStatus(path: folder[stored: 0], url: folder[stored: 1])
        // The upload history forgets files that are gone; some of the jobs that were complete last stay
        // (``UploadHistoryEnds``).
        let last = try Row.fetchOne(
            db,
            sql: """
                SELECT identity, ended FROM job
                WHERE batch = ? AND ledger IS NOT NULL AND state = \(JobStates.done) ORDER BY endSequence DESC LIMIT 1
                """, arguments: [batch])
        if let last, let time: Int64 = last[stored: 1] {
            status.last = FolderStatus.File(path: WatchedPath.path(ofJob: last[stored: 0]), time: time)
        }
        let open = try Row.fetchOne(
            db,
            sql: """
                SELECT count(*), ifnull(sum(ledger.size), 0), min(staged), ledger.path
                FROM job JOIN ledger ON ledger.id = job.ledger
                WHERE job.batch = ? AND job.ledger IS NOT NULL AND job.state < \(JobStates.done)
                """, arguments: [batch])
        if let open, let count: Int = open[stored: 0], count > 0 {
            (status.waiting, status.waitingBytes) = (count, open[stored: 1])
            // The path is that of the row with the least time (sqlite.org/lang_select.html#bareagg).
            status.oldest = (open[stored: 2] as Int64?).map { FolderStatus.File(path: open[stored: 3], time: $0) }
        }
        let due = try Row.fetchOne(
            db,
            sql: "SELECT count(*), min(due) FROM ledger WHERE folder = ? AND due IS NOT NULL AND gone IS NULL",
            arguments: [folder[2] as Int64])
        if let due { (status.unsettled, status.unsettledNext) = (due[0], due[1]) }
        status.error = try error(db, batch: batch)
        return status
    }

    /// Returns the last failure. Where no job has failed for good, it is that of the last upload which waits for its
    /// next attempt.
    private static func error(_ db: Database, batch: Int64) throws -> FolderStatus.Failure? {
        let columns = "identity, errorCode, errorMessage, ended, notBefore, due, delay"
        let row =
            try Row.fetchOne(
                db,
                sql: """
                    SELECT \(columns) FROM job WHERE batch = ? AND state = \(JobStates.failed)
                        AND state NOT IN (\(JobStates.list([.queued, .claimed, .done]))) ORDER BY ended DESC LIMIT 1
                    """, arguments: [batch])
            ?? Row.fetchOne(
                db,
                sql: """
                    SELECT \(columns) FROM job WHERE batch = ? AND state = \(JobStates.waiting)
                        AND state NOT IN (\(JobStates.list([.queued, .claimed, .done]))) AND errorMessage NOT NULL
                    ORDER BY notBefore - delay DESC LIMIT 1
                    """, arguments: [batch])
        guard let row else { return nil }
        let wait = StoredWait(row).flatMap { wait in wait.length.map { wait.wall - $0 } }
        return FolderStatus.Failure(
            job: row[stored: 0], code: row[stored: 1] ?? "", message: row[stored: 2] ?? "", time: row[stored: 3] ?? wait
        )
    }
}
