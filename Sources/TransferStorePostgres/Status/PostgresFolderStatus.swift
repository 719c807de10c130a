import TransferJobs
import TransferStore
import TransferWatch

/// The status of watched folders, by the upload history and the jobs of their batches.
package enum PostgresFolderStatus {
    /// Returns the status of the batches' folders.
    ///
    /// - Returns: The statuses, by the numbers of the batches.
    static func statuses(
        _ db: PostgresConnection, of batches: PostgresArray<Int64>
    ) throws -> [Int64: FolderStatus] {
        var statuses: [Int64: FolderStatus] = [:]
        for row in try db.run(Self.folders, [batches]) {
            var status = FolderStatus(path: row.text(1) ?? "", url: row.text(2))
            (status.waiting, status.waitingBytes) = (row.int(3) ?? 0, row.number(4) ?? 0)
            if let path = row.text(5), let time = row.number(6) { status.oldest = .init(path: path, time: time) }
            (status.unsettled, status.unsettledNext) = (row.int(7) ?? 0, row.number(8))
            if let job = row.text(9), let time = row.number(10) {
                status.last = .init(path: WatchedPath.path(ofJob: job), time: time)
            }
            if let job = row.text(11) {
                status.error = .init(
                    job: job, code: row.text(12) ?? "", message: row.text(13) ?? "", time: row.number(14))
            }
            statuses[row.number(0) ?? 0] = status
        }
        return statuses
    }

    // MARK: Statements

    private static let folders = PostgresStatement(
        "folders_of_batches", .all,
        """
        SELECT folder.batch, folder.path, folder.url, waiting.count, waiting.bytes, oldest.path, oldest.staged,
            kept.count, kept.next, last.identity, last.ended, failure.identity, failure.error_code,
            failure.error_message, failure.ended
        FROM watched_folder AS folder
        CROSS JOIN LATERAL (
            SELECT count(*), coalesce(sum(version.size), 0)::bigint AS bytes
            FROM job JOIN upload_history AS version ON version.id = job.history
            WHERE job.batch = folder.batch AND job.state < \(JobStates.firstEnded)) AS waiting
        CROSS JOIN LATERAL (
            SELECT count(*), min(version.due) AS next FROM upload_history AS version
            WHERE version.folder = folder.id AND version.due IS NOT NULL AND version.gone IS NULL) AS kept
        LEFT JOIN LATERAL (
            SELECT version.path, version.staged FROM job JOIN upload_history AS version ON version.id = job.history
            WHERE job.batch = folder.batch AND job.state < \(JobStates.firstEnded)
            ORDER BY version.staged LIMIT 1) AS oldest ON true
        LEFT JOIN LATERAL (
            SELECT job.identity, job.ended FROM job
            WHERE job.batch = folder.batch AND job.history IS NOT NULL AND job.state = \(JobStates.done)
            ORDER BY job.end_number DESC LIMIT 1) AS last ON true
        LEFT JOIN LATERAL (
            SELECT job.identity, job.error_code, job.error_message, job.ended FROM job
            WHERE job.batch = folder.batch AND job.error_message IS NOT NULL
                AND job.state IN (\(JobStates.list([.waiting, .failed])))
            ORDER BY job.state = \(JobStates.failed) DESC, job.ended DESC LIMIT 1) AS failure ON true
        WHERE folder.batch = ANY ($1::bigint[])
        """)

    package static let statements = [
        folders
    ]
}
