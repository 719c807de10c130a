import TransferCore
import TransferJobs
import TransferStore

/// Uploads of which servers hold parts that will not be continued, because their jobs were changed, dropped from their
/// file or forgotten. They outlive the process that added the new jobs, until a worker has asked their servers to drop
/// the parts.
package enum PostgresReplacedUploads {
    /// The beginning of a statement that inserts uploads; the query behind it gives their specifications, records and
    /// tags.
    static let insertion = "INSERT INTO replaced_upload (spec, upload, tags, since, drop_after)"

    /// The last two columns of that query, by which the servers are asked at once.
    static let times = "\(PostgresClock.now), \(PostgresClock.now)"

    /// The condition of the jobs whose parts are dropped. Servers of jobs whose secrets were never stored cannot be
    /// asked.
    static let areHeld = "is_upload AND NOT has_secrets AND upload_is_held"

    /// The expressions of a statement that removes jobs, for what stays of them: uploads that their servers hold, and
    /// files that are not tried again by themselves.
    ///
    /// The statement names its removed jobs `jobs` (id, state, error_code, spec, upload, tags, is_dropped).
    ///
    /// - Parameter condition: The condition for leaving files alone.
    static func leavings(where condition: String = "true") -> String {
        """
        left_uploads AS (
            \(insertion)
            SELECT spec, upload, tags, \(times) FROM jobs WHERE is_dropped),
        left_files AS (
            UPDATE upload_history SET state = \(HistoryStates.leftAlone), job = NULL FROM jobs
            WHERE \(condition) AND upload_history.job = jobs.id AND (jobs.state = \(JobStates.cancelled)
                OR jobs.state = \(JobStates.failed) AND jobs.error_code = 'mayHaveBeenSent'))
        """
    }

    /// Takes uploads whose servers this process asks now, as cancelled uploads are taken.
    static func take(_ db: PostgresConnection, tags: PostgresArray<String>, limit: Int) throws -> [AbandonedUpload] {
        try db.run(Self.taking, [tags, limit]).compactMap { row in
            AbandonedUpload(id: row.number(0) ?? 0, spec: row.text(1) ?? "", upload: row.text(2))
        }
    }

    /// Forgets an upload of which the server holds nothing any longer.
    static func forget(_ db: PostgresConnection, _ id: Int64) throws {
        try db.post(Self.removal, [id])
    }

    // MARK: Statements

    private static let taking = PostgresStatement(
        "take_replaced_uploads", .work,
        """
        UPDATE replaced_upload SET drop_after = \(PostgresUploads.nextTurn(since: "since"))
        WHERE id IN (SELECT id FROM replaced_upload
            WHERE drop_after <= \(PostgresClock.now) AND string_to_array(tags, ',') <@ $1::text[]
            ORDER BY drop_after LIMIT $2 FOR UPDATE SKIP LOCKED)
        RETURNING id, spec, upload
        """)

    private static let removal = PostgresStatement(
        "forget_replaced_upload", .work, "DELETE FROM replaced_upload WHERE id = $1")

    package static let statements = [
        taking, removal,
    ]
}
