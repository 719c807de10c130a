import TransferCore
package import TransferJobs
package import TransferStore

/// Jobs that are ready, and those that become ready again.
package struct PostgresReadyJobs: Sendable {
    package let database: PostgresDatabase

    /// The jobs of the batch that this process may do.
    package func backlog(batch: Int64) throws -> Backlog {
        let own = PostgresArray(database.tags.names)
        return try database.read { db in
            var backlog = Backlog()
            let ready = try db.run(Self.readyCounts, [batch, own])
            for row in ready {
                let lane = PostgresLane.lane(row, batch: batch, from: 0)
                backlog.ready[lane] = row.int(3)
            }
            backlog.sleepers = try db.run(Self.sleepers, [batch, own]).map { row in
                // Why an earlier process put it to sleep isn't kept: it's left to it.
                SleepingJob(
                    id: row.number(0) ?? 0,
                    lane: PostgresLane.lane(row, batch: batch, from: 1),
                    due: PostgresClock.due(in: row.number(4) ?? 0), isAsked: true)
            }
            return backlog
        }
    }

    package func wake(_ ids: [Int64]) throws -> [Lane: Int] {
        try database.transactFenced(isDurable: false) { db in
            var lanes: [Lane: Int] = [:]
            let woken = try db.run(Self.waking, [PostgresArray(ids)])
            for row in woken {
                lanes[PostgresLane.lane(row, from: 0), default: 0] += 1
            }
            return PostgresOutcome(lanes.filter { database.mayDo($0.key) }) { db in
                try db.run(Self.sleeping, [PostgresArray(ids)]).first?.flag(0) != true
            }
        }
    }

    package func release(_ ids: [Int64]) throws {
        try database.writeFenced(isDurable: false, isRepeatable: true) { db in
            _ = try Self.releasing.run(db, [PostgresArray(ids), database.process])
        }
        database.holdings.left(ids)
    }

    package func redo(_ ids: [Int64], _ recheck: DestinationRule.Recheck) throws {
        try database.writeFenced { db in
            let batches = try db.run(Self.redoing, [PostgresArray(ids), recheck.rawValue]).compactMap { $0.number(0) }
            // Jobs that need them have to wait again.
            for batch in Set(batches).sorted() { try PostgresNeeds.recount(db, batch: batch) }
        }
    }

    // MARK: Statements

    private static let readyCounts = PostgresStatement(
        "count_ready", [.submit, .work],
        """
        SELECT origin, network, tags, count(*) FROM job WHERE batch = $1 AND state = \(JobStates.queued)
        GROUP BY origin, network, tags HAVING string_to_array(tags, ',') <@ $2::text[]
        """)

    private static let sleepers = PostgresStatement(
        "sleeping_jobs", [.submit, .work],
        """
        SELECT id, origin, network, tags, not_before - \(PostgresClock.now) FROM job
        WHERE batch = $1 AND state = \(JobStates.waiting) AND string_to_array(tags, ',') <@ $2::text[] ORDER BY id
        """)

    private static let waking = PostgresStatement(
        "wake_jobs", .work,
        """
        UPDATE job SET state = \(JobStates.queued), not_before = NULL
        WHERE id = ANY ($1::bigint[]) AND state = \(JobStates.waiting)
        RETURNING batch, origin, network, tags
        """)

    private static let sleeping = PostgresStatement(
        "are_waiting", .work,
        """
        SELECT EXISTS (SELECT FROM job WHERE id = ANY ($1::bigint[]) AND state = \(JobStates.waiting))
        """)

    private static let releasing = PostgresPendingCommands.Release(
        "release_jobs", .work, "is_sending = false", where: "id = ANY ($1::bigint[]) AND owner = $2")

    private static let redoing = PostgresStatement(
        "redo_jobs", .work,
        """
        UPDATE job SET state = \(JobStates.queued), attempts = 0, asked_wait = 0, mirror = 0, spent_mirrors = 0,
            recheck = $2, end_number = NULL, not_before = NULL
        WHERE id = ANY ($1::bigint[]) AND (state = \(JobStates.done)
            OR path IS NOT NULL AND state IN (\(JobStates.list(JobState.repairable)))) RETURNING batch
        """)

    package static let statements = [
        readyCounts, sleepers, waking, sleeping, releasing.statement, redoing,
    ]
}
