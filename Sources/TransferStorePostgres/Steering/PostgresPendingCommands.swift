import TransferJobs
import TransferStore

/// The pauses and cancellations of jobs that a worker has claimed. They stand beside the jobs until that worker has
/// carried them out. Every ``Release`` carries out a pending one. So it takes effect even where the worker has not
/// received it before it is lost, or gives its jobs back or delays them.
package enum PostgresPendingCommands {
    /// Writes down commands for claimed jobs. A pending cancellation is not replaced by another command.
    static func note(_ db: PostgresConnection, _ verb: QueueVerb, of claimed: [Int64]) throws {
        guard !claimed.isEmpty else { return }
        let ids = PostgresArray(claimed)
        switch verb {
        case .pause: try db.post(Self.asking, [ids, Self.pause])
        case .cancel: try db.post(Self.asking, [ids, Self.cancel])
        case .resume: try db.post(Self.asking, [ids, nil as String?])
        case .retry, .retryFailed: break
        }
    }

    private static let pause = QueueVerb.pause.rawValue
    private static let cancel = QueueVerb.cancel.rawValue

    /// A statement by which unfinished jobs leave the process that has claimed them. There is no other way. It pauses a
    /// job with a pending pause. A job with a pending cancellation is cancelled in the same transaction.
    package struct Release: Sendable {
        package let statement: PostgresStatement
        private let update: PostgresJobUpdate

        /// - Parameters:
        ///   - transition: The change of jobs without a pending command.
        ///   - also: Further assignments. Their parameters begin with the number of the condition's first one.
        ///   - condition: The jobs, in SQL; of these the claimed ones are meant. Its parameters begin with the number
        ///     that it is called with.
        init(
            _ name: String, _ access: PostgresAccess, _ transition: JobTransition,
            also: (Int) -> [String] = { _ in [] },
            where condition: (Int) -> String
        ) {
            update = PostgresJobUpdate(
                transition,
                state: { "CASE asked WHEN '\(PostgresPendingCommands.pause)' THEN \(JobStates.paused) ELSE \($0) END" },
                also: also, returning: "id, identity, spec, asked", where: condition)
            statement = PostgresStatement(
                name, access,
                """
                WITH gone AS (
                    \(update.sql))
                SELECT id, identity, spec FROM gone WHERE asked = '\(PostgresPendingCommands.cancel)' ORDER BY id
                """)
        }

        /// - Returns: The jobs that were cancelled, and those that are skipped for that reason.
        @discardableResult
        func run(_ db: PostgresConnection, _ values: [(any PostgresValue)?]) throws -> AppliedCommand {
            try finish(db, post(db, values))
        }

        /// Sends the statement without a wait.
        ///
        /// - Returns: The answer, for ``finish(_:_:)`` in the same transaction.
        func post(_ db: PostgresConnection, _ values: [(any PostgresValue)?]) throws -> PostgresAnswer {
            try db.post(statement, values)
        }

        /// Returns the values of the statement's parameters.
        func values(
            state: JobState, _ condition: [(any PostgresValue)?], given: (JobColumn) throws -> JobValue
        ) rethrows -> [(any PostgresValue)?] {
            try update.values(state: state, condition, given: given)
        }

        /// Cancels the jobs with a pending cancellation.
        ///
        /// - Returns: The jobs that were cancelled, and those that are skipped for that reason.
        func finish(_ db: PostgresConnection, _ answer: PostgresAnswer) throws -> AppliedCommand {
            let applied = try PostgresSteering.cancel(db, Array(answer.rows()))
            // Workers may have to ask servers to drop the uploads, and to call hooks.
            if applied.count > 0 { try PostgresNotice.work.tell(db) }
            return applied
        }
    }

    // MARK: Statements

    private static let asking = PostgresStatement(
        "ask_of_claimed", [.submit, .work],
        """
        UPDATE job SET asked = $2
        WHERE id = ANY ($1::bigint[]) AND asked IS DISTINCT FROM '\(cancel)' AND asked IS DISTINCT FROM $2
        """)

    package static let statements = [
        asking
    ]
}
