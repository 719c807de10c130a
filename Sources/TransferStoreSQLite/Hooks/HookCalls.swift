package import GRDB
import TransferCore
import TransferEngine
import TransferEventLoop
package import TransferJobs
import TransferStore

/// Messages for hooks, from the end that they report until the hook has received them.
package struct HookCalls: Sendable {
    package let database: QueueDatabase

    /// The condition that a job's text mentions a hook, by which jobs without one are skipped unparsed.
    package static let mark = "instr(spec, '\"onFinish\"') > 0"

    /// Writes the messages about ends that are written in this transaction.
    ///
    /// - Parameters:
    ///   - ended: The numbers of jobs whose rows say that they have ended.
    ///   - kept: The jobs among them whose file was complete already, so that no byte was transferred.
    /// - Returns: The batches that have new messages.
    package static func add(_ db: Database, ended: [Int64], kept: Set<Int64> = []) throws -> Set<Int64> {
        var batches: Set<Int64> = []
        for id in ended {
            let statement = try db.cachedStatement(
                sql: "\(EndQueries.selection), job.batch FROM \(EndQueries.tables) WHERE job.id = ? AND \(mark)")
            guard let row = try Row.fetchOne(statement, arguments: [id]),
                let spec = try? JobSpec(canonicalJSON: row[stored: "spec"] as String), let hook = spec.settings.onFinish
            else { continue }
            let settings = HookRoute.settings(spec.settings, for: hook, job: spec.urls.first)
            let event = HookMessage.newID()
            let body = HookMessage.job(EndQueries.event(row), id: event, isKept: kept.contains(id))
            try insert(
                db, batch: row[stored: "batch"], job: row[stored: "identity"], hook: HookRoute.text(settings),
                event: event, body: body)
            batches.insert(row[stored: "batch"])
        }
        return batches
    }

    /// Writes the message about a batch whose jobs have all ended, where one of them has ended since the last message.
    package static func add(_ db: Database, batch: Int64, _ end: BatchEnd) throws {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT name, onFinish, toldEnd, (SELECT max(endSequence) FROM job WHERE batch = batch.id) AS last
                FROM batch WHERE id = ? AND onFinish NOT NULL
                """, arguments: [batch])
        guard let row, let last: Int64 = row[stored: "last"], last > (row[stored: "toldEnd"] as Int64) else { return }
        let event = HookMessage.newID()
        let body = HookMessage.batch(row[stored: "name"], end, id: event, time: WallClock.milliseconds)
        try insert(db, batch: batch, job: nil, hook: row[stored: "onFinish"], event: event, body: body)
        try db.execute(sql: "UPDATE batch SET toldEnd = ? WHERE id = ?", arguments: [last, batch])
    }

    /// Returns whether the batch has a hook for its own end.
    package static func isReported(_ db: Database, batch: Int64) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT onFinish NOT NULL FROM batch WHERE id = ?")
        return try Bool.fetchOne(statement, arguments: [batch]) ?? false
    }

    private static func insert(
        _ db: Database, batch: Int64, job: String?, hook: String, event: String, body: String
    ) throws {
        try db.cachedStatement(sql: "INSERT INTO hookCall (batch, job, hook, event, body) VALUES (?, ?, ?, ?, ?)")
            .execute(arguments: [batch, job, hook, event, body])
    }

    /// Takes messages of a batch for this process; those that another live process has taken are left out.
    package func take(batch: Int64, revivesFailed: Bool, limit: Int) throws -> [HookCall] {
        try database.writeFenced(isDurable: false, leavesPacks: true) { db in
            try StoredWait.follow(db)
            if revivesFailed {
                try db.execute(
                    sql: """
                        UPDATE hookCall SET isFailed = 0, attempts = 0, notBefore = NULL, due = NULL, delay = NULL
                        WHERE batch = ? AND isFailed
                        """, arguments: [batch])
            }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    UPDATE hookCall SET owner = ?1 WHERE id IN (SELECT id FROM hookCall
                        WHERE batch = ?2 AND NOT isFailed
                            AND (owner IS NULL OR owner NOT IN (SELECT id FROM process)) ORDER BY id LIMIT ?3)
                    RETURNING id, job, hook, event, body, attempts, notBefore, due, delay
                    """, arguments: [database.process, batch, limit])
            return rows.compactMap { row in
                guard let settings = HookRoute.settings(text: row[stored: "hook"]) else { return nil }
                return HookCall(
                    id: row[stored: "id"], batch: batch, job: row[stored: "job"], event: row[stored: "event"],
                    body: row[stored: "body"],
                    settings: settings, attempts: row[stored: "attempts"], due: StoredWait(row)?.due())
            }.sorted { $0.id < $1.id }
        }
    }

    /// Writes down the outcomes of messages. An outcome that is lost with the machine's power leads to a second
    /// delivery.
    package func settle(_ outcomes: [HookOutcome]) throws {
        try database.writeFenced(isDurable: false, leavesPacks: true) { db in
            for outcome in outcomes {
                switch outcome.kind {
                case .reported:
                    try db.cachedStatement(sql: "DELETE FROM hookCall WHERE id = ?").execute(arguments: [outcome.id])
                case .again(let attempts, let due, let error):
                    let wait = StoredWait(until: due)
                    try db.execute(
                        sql: """
                            UPDATE hookCall SET attempts = ?, errorMessage = ?, notBefore = ?, due = ?, delay = ?
                            WHERE id = ?
                            """, arguments: [attempts, error.message, wait.wall, wait.boot, wait.length, outcome.id])
                case .failed(let attempts, let error):
                    try db.execute(
                        sql: """
                            UPDATE hookCall SET attempts = ?, errorMessage = ?, isFailed = 1, owner = NULL,
                                notBefore = NULL, due = NULL, delay = NULL WHERE id = ?
                            """, arguments: [attempts, error.message, outcome.id])
                case .released:
                    try db.execute(sql: "UPDATE hookCall SET owner = NULL WHERE id = ?", arguments: [outcome.id])
                }
            }
        }
    }

    /// Reads the hooks of a batch and of its jobs of which an attempt failed.
    package func troubles(batch name: String, limit: Int) throws -> [HookTrouble] {
        try database.read(leavesPacks: true) { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT job, hook, attempts, errorMessage, isFailed, notBefore, due, delay FROM hookCall
                    JOIN batch ON batch.id = hookCall.batch
                    WHERE batch.name = ? AND errorMessage NOT NULL ORDER BY hookCall.id LIMIT ?
                    """, arguments: [name, limit]
            ).map { row in
                HookTrouble(
                    job: row[stored: "job"], hook: HookRoute.settings(text: row[stored: "hook"])?.onFinish?.shown ?? "",
                    attempts: row[stored: "attempts"], message: row[stored: "errorMessage"] ?? "",
                    again: row[stored: "isFailed"] ? nil : StoredWait(row)?.shownEnd())
            }
        }
    }
}
