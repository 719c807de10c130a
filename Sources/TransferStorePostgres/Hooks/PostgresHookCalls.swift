import TransferCore
package import TransferJobs

/// Messages for hooks, until the hooks have received them.
package struct PostgresHookCalls: Sendable {
    package let database: PostgresDatabase

    /// Takes messages of a batch for this process; those that another live process has taken are left out.
    package func take(batch: Int64, revivesFailed: Bool, limit: Int) throws -> [HookCall] {
        try database.writeFenced(isDurable: false) { db in
            if revivesFailed {
                try db.post(Self.revival, [batch])
            }
            return try db.run(Self.taking, [database.process, batch, limit]).compactMap { row in
                guard let settings = HookRoute.settings(text: row.text(2) ?? "") else { return nil }
                return HookCall(
                    id: row.number(0) ?? 0, batch: batch, job: row.text(1), event: row.text(3) ?? "",
                    body: row.text(4) ?? "", settings: settings, attempts: row.int(5) ?? 0,
                    due: row.number(6).map { PostgresClock.due(in: $0) })
            }.sorted { $0.id < $1.id }
        }
    }

    /// Reads the hooks of a batch and of its jobs of which an attempt failed.
    package func troubles(batch name: String, limit: Int) throws -> [HookTrouble] {
        try database.read { db in
            try db.run(Self.troubled, [name, limit]).map { row in
                HookTrouble(
                    job: row.text(0), hook: HookRoute.settings(text: row.text(1) ?? "")?.onFinish?.shown ?? "",
                    attempts: row.int(2) ?? 0, message: row.text(3) ?? "", again: row.number(4))
            }
        }
    }

    /// Writes down the outcomes of messages. An outcome that is lost with the server's power leads to a second
    /// delivery.
    package func settle(_ outcomes: [HookOutcome]) throws {
        try database.writeFenced(isDurable: false, isRepeatable: true) { db in
            for outcome in outcomes { try settle(db, outcome) }
        }
    }

    private func settle(_ db: PostgresConnection, _ outcome: HookOutcome) throws {
        switch outcome.kind {
        case .reported: try db.post(Self.reportedCall, [outcome.id])
        case .again(let attempts, let due, let error):
            try db.post(Self.delay, [outcome.id, attempts, error.message, PostgresClock.wait(until: due)])
        case .failed(let attempts, let error):
            try db.post(Self.failure, [outcome.id, attempts, error.message])
        case .released: try db.post(Self.freeing, [outcome.id])
        }
    }

    // MARK: Statements

    private static let revival = PostgresStatement(
        "revive_hook_calls", .work,
        """
        UPDATE hook_call SET is_failed = false, attempts = 0, not_before = NULL
        WHERE batch = $1 AND is_failed
        """)

    private static let taking = PostgresStatement(
        "take_hook_calls", .work,
        """
        WITH free AS MATERIALIZED (
            SELECT id FROM hook_call WHERE batch = $2 AND NOT is_failed
                AND (owner IS NULL OR owner NOT IN (SELECT generation FROM process))
            ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED)
        UPDATE hook_call SET owner = $1 FROM free WHERE hook_call.id = free.id
        RETURNING hook_call.id, job, hook, event, body, attempts, not_before - \(PostgresClock.now)
        """)

    private static let troubled = PostgresStatement(
        "hook_troubles", .all,
        """
        SELECT job, hook_call.hook, attempts, error_message, CASE WHEN NOT is_failed THEN not_before END
        FROM hook_call JOIN batch ON batch.id = hook_call.batch
        WHERE name = $1 AND error_message IS NOT NULL ORDER BY hook_call.id LIMIT $2
        """)

    private static let reportedCall = PostgresStatement("hook_call_told", .work, "DELETE FROM hook_call WHERE id = $1")

    private static let delay = PostgresStatement(
        "delay_hook_call", .work,
        """
        UPDATE hook_call SET attempts = $2, error_message = $3, not_before = \(PostgresClock.now) + $4
        WHERE id = $1
        """)

    private static let failure = PostgresStatement(
        "fail_hook_call", .work,
        """
        UPDATE hook_call SET attempts = $2, error_message = $3, is_failed = true, owner = NULL, not_before = NULL
        WHERE id = $1
        """)

    private static let freeing = PostgresStatement(
        "free_hook_call", .work, "UPDATE hook_call SET owner = NULL WHERE id = $1")

    package static let statements = [
        revival, taking, troubled, reportedCall, delay, failure, freeing,
    ]
}
