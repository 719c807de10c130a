import TransferCore
package import TransferJobs
package import TransferStore

/// Jobs that are ready, and those that become ready again.
package struct PostgresReadyJobs: Sendable {
    package let database: PostgresDatabase

    /// Reads the jobs of the batch that this process may do.
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
                // The reason of an earlier process for the wait is not stored, so the wait counts as one that a server
                // asked for.
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
            let batches = try db.run(Self.redoing, [recheck.rawValue, PostgresArray(ids)]).compactMap { $0.number(0) }
            // Jobs that need these have to wait again.
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
        PostgresJobUpdate(.wake, returning: "batch, origin, network, tags") { "id = ANY ($\($0)::bigint[])" }.sql)

    private static let sleeping = PostgresStatement(
        "are_waiting", .work,
        """
        SELECT EXISTS (SELECT FROM job WHERE id = ANY ($1::bigint[]) AND state = \(JobStates.waiting))
        """)

    private static let releasing = PostgresPendingCommands.Release("release_jobs", .work, .release) {
        "id = ANY ($\($0)::bigint[]) AND owner = $\($0 + 1)"
    }

    /// A job that is not complete is done again only where it has brought its file before.
    private static let redoing = PostgresStatement(
        "redo_jobs", .work,
        PostgresJobUpdate(.redo, returning: "batch") {
            "id = ANY ($\($0)::bigint[]) AND (state = \(JobStates.done) OR path IS NOT NULL)"
        }.sql)

    package static let statements = [
        readyCounts, sleepers, waking, sleeping, releasing.statement, redoing,
    ]
}
