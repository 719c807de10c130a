import TransferCore
import TransferEventLoop
package import TransferJobs
import TransferStore

/// Messages for hooks, written with the ends that they report.
package enum PostgresHookMessages {
    /// - Parameters:
    ///   - ended: The numbers of jobs whose rows say that they have ended.
    ///   - kept: The jobs among them whose file was complete already, so that no byte was transferred.
    /// - Returns: The batches that have new messages.
    package static func add(_ db: PostgresConnection, ended: [Int64], kept: Set<Int64> = []) throws -> Set<Int64> {
        var batches: Set<Int64> = []
        for (id, batch, text, event) in try PostgresEnds.hooked(db, ended) {
            guard let spec = try? JobSpec(canonicalJSON: text), let hook = spec.settings.onFinish else { continue }
            let settings = HookRoute.settings(spec.settings, for: hook, job: spec.urls.first)
            let message = HookMessage.newID()
            try insert(
                db, batch: batch, job: spec.identity, hook: HookRoute.text(settings), event: message,
                body: HookMessage.job(event, id: message, isKept: kept.contains(id)))
            batches.insert(batch)
        }
        return batches
    }

    /// Writes the message about a batch whose jobs have all ended, where one of them has ended since the last message.
    package static func add(_ db: PostgresConnection, batch: Int64, _ end: BatchEnd) throws {
        let row = try db.run(Self.batchHook, [batch]).first
        guard let row, let last = row.number(3), last > row.number(2) ?? 0 else { return }
        let event = HookMessage.newID()
        let body = HookMessage.batch(row.text(0) ?? "", end, id: event, time: WallClock.milliseconds)
        try insert(db, batch: batch, job: nil, hook: row.text(1) ?? "", event: event, body: body)
        try db.post(Self.reportedEnd, [batch, last])
    }

    private static func insert(
        _ db: PostgresConnection, batch: Int64, job: String?, hook: String, event: String, body: String
    ) throws {
        try db.post(Self.insertion, [batch, job, hook, event, body])
    }

    // MARK: Statements

    private static let batchHook = PostgresStatement(
        "batch_hook", [.submit, .work],
        """
        SELECT name, hook, told_end, (SELECT max(end_number) FROM job WHERE job.batch = batch.id)
        FROM batch WHERE id = $1 AND hook IS NOT NULL FOR UPDATE
        """)

    private static let reportedEnd = PostgresStatement(
        "set_told_end", [.submit, .work], "UPDATE batch SET told_end = $2 WHERE id = $1")

    private static let insertion = PostgresStatement(
        "insert_hook_call", [.submit, .work],
        """
        INSERT INTO hook_call (batch, job, hook, event, body) VALUES ($1, $2, $3, $4, $5)
        """)

    package static let statements = [
        batchHook, reportedEnd, insertion,
    ]
}
