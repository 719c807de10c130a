import Synchronization
import TransferCore

/// The jobs that this process has claimed, from its own memory. A standby that has taken the database's place may
/// differ: with asynchronous replication it may lack the last claims and the last ends.
package final class PostgresHoldings: Sendable {
    private struct State {
        var jobs: Set<Int64> = []
        /// The database's timeline on which the claims are known to hold.
        var timeline: Int64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    package func took(_ jobs: some Sequence<Int64>) { state.withLock { $0.jobs.formUnion(jobs) } }

    package func left(_ jobs: some Sequence<Int64>) { state.withLock { $0.jobs.subtract(jobs) } }

    /// Proves the claims anew where the database has another timeline than before. They hold where their rows have the
    /// generation of this process. No other process gets it on any timeline, and one that had taken a job over would
    /// have left its own. A job that only the database has as claimed is one whose end it lacks. That job would wait
    /// for as long as this process lives.
    ///
    /// - Throws: `TransferError` where the database lacks claims or ends; ``/TransferStore/LeaseLost``.
    package func prove(_ db: PostgresConnection, _ database: PostgresDatabase) throws {
        let known = state.withLock { state in
            if state.timeline == 0 { state.timeline = db.timeline }
            return state
        }
        guard known.timeline != db.timeline else { return }
        try PostgresTransaction.run(db) { db in
            try database.requireLease(db)
            let claimed = Set(try db.run(Self.claimed, [database.process]).compactMap { $0.number(0) })
            guard known.jobs == claimed else {
                throw TransferError(
                    .internalFault, "another server has taken the place of the queue's database, and lacks records")
            }
            return PostgresOutcome(())
        }
        state.withLock { $0.timeline = db.timeline }
    }

    // MARK: Statements

    private static let claimed = PostgresStatement(
        "own_claims", [.submit, .work], "SELECT id FROM job WHERE owner = $1 ORDER BY id FOR UPDATE")

    /// Returns whether a process has claimed one of the jobs.
    package static func has(_ db: PostgresConnection, _ process: Int64, oneOf jobs: [Int64]) throws -> Bool {
        try db.run(Self.holding, [process, PostgresArray(jobs)]).first?.flag(0) ?? false
    }

    private static let holding = PostgresStatement(
        "has_claimed", .work,
        "SELECT EXISTS (SELECT FROM job WHERE owner = $1 AND id = ANY ($2::bigint[]))")

    package static let statements = [
        claimed, holding,
    ]
}
