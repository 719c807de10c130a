package import TransferStore

/// Submissions that had a key, for as long as their callers may ask for the answer again.
package struct PostgresAnswers: Sendable {
    package let database: PostgresDatabase

    package init(database: PostgresDatabase) { self.database = database }

    package func find(_ name: String) throws -> AnsweredSubmission? {
        try database.read { db in
            let row = try db.run(Self.search, [name]).first
            guard let row, let digest = row.text(0), let batch = row.number(1) else { return nil }
            return AnsweredSubmission(
                key: SubmissionKey(name, digest: digest), batch: batch, isNewBatch: row.flag(2), added: row.int(3) ?? 0,
                numbers: NumberRuns.numbers(row.text(4) ?? ""))
        }
    }

    /// Remembers submissions in the transaction that has taken their jobs, and forgets those whose time is over.
    ///
    /// - Parameter count: The number of jobs that were taken with the batch.
    /// - Throws: ``/TransferStore/SubmissionKeyTaken``.
    package static func write(
        _ db: PostgresConnection, _ notes: [SubmissionNote], batch: HeldBatch, count: Int
    ) throws {
        guard !notes.isEmpty else { return }
        try db.post(Self.oldAnswers)
        for note in notes {
            let answer = try note.answer(batch: batch, count: count) { identity in
                try db.run(Self.jobNumber, [batch.id, identity]).first?.number(0)
            }
            let isNew =
                try db.run(
                    Self.insertion,
                    [
                        note.key.name, note.key.digest, answer.batch, answer.isNewBatch, Int64(answer.added),
                        NumberRuns.text(answer.numbers),
                    ]
                ).first != nil
            guard isNew else { throw SubmissionKeyTaken(name: note.key.name) }
        }
    }

    // MARK: Statements

    private static let search = PostgresStatement(
        "find_answer", .submit,
        """
        SELECT digest, batch, is_new_batch, added, numbers FROM submission
        WHERE key = $1 AND time > \(PostgresClock.now) - \(SubmissionKey.lifetime)
        """)

    private static let oldAnswers = PostgresStatement(
        "drop_answers", .submit,
        """
        DELETE FROM submission WHERE time <= \(PostgresClock.now) - \(SubmissionKey.lifetime)
        """)

    private static let jobNumber = PostgresStatement(
        "number_of_job", .submit, "SELECT id FROM job WHERE batch = $1 AND key = md5($2)::uuid AND identity = $2")

    private static let insertion = PostgresStatement(
        "save_answer", .submit,
        """
        INSERT INTO submission (key, digest, batch, is_new_batch, added, numbers, time)
        VALUES ($1, $2, $3, $4, $5, $6, \(PostgresClock.now)) ON CONFLICT DO NOTHING RETURNING 1
        """)

    package static let statements = [
        search, oldAnswers, jobNumber, insertion,
    ]
}
