package import GRDB
import TransferEventLoop
package import TransferStore

/// Submissions that had a key, for as long as their callers may ask for the answer again.
package struct AnsweredSubmissions: Sendable {
    package let database: QueueDatabase

    /// The table of submissions with a key (Idempotency-Key), and of their answers (``AnsweredSubmission``).
    package static let table = """
        CREATE TABLE submission (
            key TEXT PRIMARY KEY,
            -- Of all that was asked.
            digest TEXT NOT NULL,
            -- The batch may be forgotten before the answer is.
            batch INTEGER NOT NULL,
            isNewBatch INTEGER NOT NULL,
            added INTEGER NOT NULL,
            -- The jobs' numbers (NumberRuns).
            numbers TEXT NOT NULL,
            -- Milliseconds since 1970.
            time INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX submissionTime ON submission(time);
        """

    package func find(_ name: String) throws -> AnsweredSubmission? {
        let oldest = WallClock.milliseconds - SubmissionKey.lifetime
        return try database.read(leavesPacks: true) { db in
            let statement = try db.cachedStatement(
                sql: "SELECT digest, batch, isNewBatch, added, numbers FROM submission WHERE key = ? AND time > ?")
            return try Row.fetchOne(statement, arguments: [name, oldest]).map { row in
                AnsweredSubmission(
                    key: SubmissionKey(name, digest: row[stored: 0]), batch: row[stored: 1], isNewBatch: row[stored: 2],
                    added: row[stored: 3],
                    numbers: NumberRuns.numbers(row[stored: 4]))
            }
        }
    }

    /// Remembers submissions in the transaction that has taken their jobs, and forgets those whose time is over.
    ///
    /// - Parameter count: The number of jobs that were taken with the batch.
    /// - Throws: ``SubmissionKeyTaken``.
    package static func write(_ db: Database, _ notes: [SubmissionNote], batch: HeldBatch, count: Int) throws {
        guard !notes.isEmpty else { return }
        let now = WallClock.milliseconds
        try db.execute(
            sql: "DELETE FROM submission WHERE time <= ?", arguments: [now - SubmissionKey.lifetime])
        let find = try db.cachedStatement(sql: "SELECT id FROM job WHERE batch = ? AND identity = ?")
        for note in notes {
            let answer = try note.answer(batch: batch, count: count) { identity in
                try Int64.fetchOne(find, arguments: [batch.id, identity])
            }
            try db.execute(
                sql: """
                    INSERT INTO submission (key, digest, batch, isNewBatch, added, numbers, time)
                        VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                    """,
                arguments: [
                    note.key.name, note.key.digest, answer.batch, answer.isNewBatch, answer.added,
                    NumberRuns.text(answer.numbers), now,
                ])
            guard db.changesCount > 0 else { throw SubmissionKeyTaken(name: note.key.name) }
        }
    }
}
