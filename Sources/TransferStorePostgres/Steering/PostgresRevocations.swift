import TransferJobs
import TransferStore

/// The claims that other processes are asked to release, because their jobs are to be staged with other content. A
/// pending pause or cancellation of a job has the same effect, and stays.
package struct PostgresRevocations: Sendable {
    let database: PostgresDatabase
    let leases: PostgresLeases

    /// - Returns: The number of jobs that other processes have claimed. A process whose lease is over no longer has
    ///   any.
    func ask(for ids: Set<Int64>) throws -> Int {
        try database.write { db in
            try leases.reclaim(db)
            let values: [(any PostgresValue)?] = [PostgresArray(ids.sorted()), database.process]
            let asked = try db.run(Self.asking, values)
            if asked.count > 0 { try PostgresNotice.recalls.tell(db) }
            return try db.run(Self.claimedByOthers, values).first?.int(0) ?? 0
        }
    }

    /// Returns the jobs of this process that other processes asked for.
    func asked() throws -> Set<Int64> {
        try database.read { db in
            Set(try db.run(Self.askedOfThis, [database.process]).compactMap { $0.number(0) })
        }
    }

    // MARK: Statements

    private static let revoke = "recall"

    private static let asking = PostgresStatement(
        "recall_jobs", .submit,
        """
        UPDATE job SET asked = '\(revoke)'
        WHERE id = ANY ($1::bigint[]) AND state = \(JobStates.claimed) AND owner <> $2 AND asked IS NULL RETURNING id
        """)

    private static let claimedByOthers = PostgresStatement(
        "claimed_by_others", .submit,
        "SELECT count(*) FROM job WHERE id = ANY ($1::bigint[]) AND state = \(JobStates.claimed) AND owner <> $2")

    private static let askedOfThis = PostgresStatement(
        "recalled_jobs", [.submit, .work],
        "SELECT id FROM job WHERE owner = $1 AND state = \(JobStates.claimed) AND asked = '\(revoke)'")

    package static let statements = [
        asking, claimedByOthers, askedOfThis,
    ]
}
