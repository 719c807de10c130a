import TransferCore
package import TransferJobs
import TransferStore

/// The ends of jobs, for processes that read the queue.
package struct PostgresEnds: Sendable {
    package let database: PostgresDatabase

    private static let tables = "job JOIN batch ON batch.id = job.batch"

    /// The columns that ``event(_:)`` reads.
    private static let selection = """
        SELECT end_number, ended, batch.name, identity, state, is_upload, path, size, transferred, seconds, digest,
            validator, final_url, status, response, attempts, unproven, length_unproven, proofs, sums, job.sources,
            error_code, error_message, host, not_before, spec, job.id, job.batch
        """

    package func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent] {
        try database.read { db in
            try db.run(Self.page, [cursor, limit]).map(Self.event)
        }
    }

    package func end(batch: String, job: String) throws -> QueueEvent? {
        try database.read { db in
            try db.run(Self.single, [batch, job]).first.map(Self.event)
        }
    }

    /// Returns the ends of those among the jobs that call a hook, with their rows.
    package static func hooked(
        _ db: PostgresConnection, _ ids: [Int64]
    ) throws -> [(id: Int64, batch: Int64, spec: String, event: QueueEvent)] {
        try db.run(
            Self.hookedEnds, [PostgresArray(ids)]
        ).map { ($0.number(26) ?? 0, $0.number(27) ?? 0, $0.text(25) ?? "", event($0)) }
    }

    package func lastCursor() throws -> Int64 { try database.read { try PostgresEndNumbers.last($0) } }

    package func failures(batch name: String, limit: Int) throws -> [FailedJob] {
        try database.read { db in
            try db.run(Self.failedJobs, [name, limit]).map { row in
                var job = FailedJob(
                    batch: name, job: row.text(0) ?? "", code: row.text(1) ?? "", message: row.text(2) ?? "",
                    status: row.int(3), host: row.text(4), attempts: row.int(5) ?? 0, again: row.number(6),
                    route: Self.route(row.text(7)))
                job.finalURL = row.text(8)
                return job
            }
        }
    }

    private static func route(_ spec: String?) -> JobRoute? {
        spec.flatMap { try? JobSpec(canonicalJSON: $0) }.map { JobRoute($0) }
    }

    private static func event(_ row: PostgresRow) -> QueueEvent {
        let (batch, job, route) = (row.text(2) ?? "", row.text(3) ?? "", route(row.text(25)))
        let kind: QueueEvent.Kind
        switch JobState(stored: row.int(4) ?? 0) {
        case .failed:
            let error = TransferError(
                TransferError.Code(rawValue: row.text(21) ?? ""), row.text(22) ?? "",
                cause: row.int(13).map { .http(status: $0) })
            var failure = JobFailure(
                batch: batch, job: job, error: error, attempts: row.int(15) ?? 0, host: row.text(23),
                finalURL: row.text(12), route: route)
            failure.sources = [JobSource](text: row.text(20))
            if let again = row.number(24) {
                failure.again = .milliseconds(max(0, again - (row.number(1) ?? again)))
            }
            kind = .failed(failure)
        case .skipped: kind = .skipped(job: job, need: String((row.text(22) ?? "").dropFirst("needs ".count)))
        case .cancelled: kind = .cancelled(job: job)
        default: kind = .finished(receipt(row, batch: batch, job: job, route))
        }
        return QueueEvent(time: row.number(1) ?? 0, batch: batch, cursor: row.number(0), kind: kind, route: route)
    }

    private static func receipt(_ row: PostgresRow, batch: String, job: String, _ route: JobRoute?) -> JobReceipt {
        var receipt = JobReceipt(
            batch: batch, job: job, isUpload: row.flag(5), bytes: row.number(7) ?? 0, transferred: row.number(8) ?? 0,
            seconds: row.real(9) ?? 0, digest: row.text(10).flatMap { Checksum($0) }, validator: row.text(11),
            finalURL: row.text(12) ?? "", path: row.text(6) ?? "", status: row.int(13) ?? 0, response: row.text(14),
            attempts: row.int(15) ?? 0, unproven: row.number(16), route: route)
        receipt.sums = row.bytes(19).flatMap { PieceSumList(encoded: $0) }
        receipt.isLengthUnproven = row.flag(17)
        receipt.proofs = [JobProof](text: row.text(18))
        receipt.sources = [JobSource](text: row.text(20))
        return receipt
    }

    // MARK: Statements

    private static let page = PostgresStatement(
        "ends_after", .all, "\(selection) FROM \(tables) WHERE end_number > $1 ORDER BY end_number LIMIT $2")

    private static let single = PostgresStatement(
        "end_of_job", .all,
        """
        \(selection) FROM \(tables)
        WHERE batch.name = $1 AND key = md5($2)::uuid AND identity = $2 AND state >= \(JobStates.firstEnded)
        """)

    private static let hookedEnds = PostgresStatement(
        "hooked_ends", [.submit, .work],
        """
        \(selection) FROM \(tables) WHERE job.id = ANY ($1::bigint[]) AND tells_hook
        ORDER BY array_position($1::bigint[], job.id)
        """)

    private static let failedJobs = PostgresStatement(
        "failed_jobs", .all,
        """
        SELECT identity, error_code, error_message, status, host, attempts, not_before, spec, final_url
        FROM \(tables) WHERE batch.name = $1 AND state = \(JobStates.failed) ORDER BY end_number LIMIT $2
        """)

    package static let statements = [
        page, single, hookedEnds, failedJobs,
    ]
}
