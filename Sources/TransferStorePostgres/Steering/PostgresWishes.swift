import TransferJobs
import TransferStore

/// The pauses and cancellations that are asked of jobs while a worker has them claimed. They stand beside the jobs until that
/// worker has done them, so that they hold, too, where it's lost or gives its jobs back before it has.
package enum PostgresWishes {
    /// Writes down what is asked of claimed jobs. A cancelled one isn't given up for anything less.
    static func note(_ db: PostgresConnection, _ verb: QueueVerb, batch: Int64, job: String?) throws {
        switch verb {
        case .pause: try db.run(Self.asking, [batch, job, Self.pause])
        case .cancel: try db.run(Self.asking, [batch, job, Self.cancel])
        case .resume: try db.run(Self.asking, [batch, job, nil as String?])
        case .retry, .retryFailed: break
        }
    }

    /// The claimed jobs of a process that are to be cancelled. To be asked before they are given back.
    static func cancellations(_ db: PostgresConnection, of process: Int64) throws -> PostgresResult {
        try db.run(Self.cancelled, [process])
    }

    /// The state of a claimed job that is given back.
    static let stateGivenBack = "CASE asked WHEN '\(pause)' THEN \(JobStates.paused) ELSE \(JobStates.queued) END"

    private static let pause = QueueVerb.pause.rawValue
    private static let cancel = QueueVerb.cancel.rawValue

    // MARK: Statements

    private static let asking = PostgresStatement(
        "ask_of_claimed", .submit,
        """
        UPDATE job SET asked = $3
        WHERE batch = $1 AND ($2::text IS NULL OR key = md5($2)::uuid AND identity = $2)
            AND state = \(JobStates.claimed) AND asked IS DISTINCT FROM '\(cancel)' AND asked IS DISTINCT FROM $3
        """)

    private static let cancelled = PostgresStatement(
        "cancelled_claims", [.submit, .work],
        """
        SELECT id, identity, spec FROM job
        WHERE owner = $1 AND state = \(JobStates.claimed) AND asked = '\(cancel)' ORDER BY id FOR UPDATE
        """)

    package static let statements = [
        asking, cancelled,
    ]
}
