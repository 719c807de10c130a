import Glibc
import TransferCore
import TransferEventLoop
import TransferJobs
package import TransferStore

/// The leases by which processes hold batches and jobs, on the database's clock, and the release of these when a lease
/// is over.
package struct PostgresLeases: Sendable {
    package let database: PostgresDatabase
    package let doubtful: DoubtfulBatches

    /// The timeline of the database in SQL, which changes when a standby is promoted (PostgreSQL's manual,
    /// `pg_walfile_name`).
    package static let timeline = "('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::bigint"

    /// The timeline is in the bits above those of the counter. A number that a promoted standby had not received is
    /// given again with another timeline.
    private static let token = "\(timeline) << 40 | nextval('generation')"

    package static func register(_ db: PostgresConnection, _ role: PostgresRole) throws -> Int64 {
        let row = try db.run(
            Self.registration,
            [
                MachineName.current, Int(getpid()), role.term.inMilliseconds, role.sharesBatches, role.tags.text,
                !role.takesCommands,
            ]
        ).first
        return row?.number(0) ?? 0
    }

    /// Adds a tag to this process.
    static func add(_ db: PostgresConnection, tag: String, _ database: PostgresDatabase) throws {
        try db.post(Self.tagging, [database.process, database.tags(adding: [tag]).text])
    }

    /// - Returns: The lease, whose end is counted from the request for it; the database's end is never earlier.
    package func renew() throws -> Lease {
        let (asked, term) = (MonotonicTime.now, database.role.term)
        // The renewal is durable: a crash of the database that forgot it would end the lease sooner than this process
        // assumes.
        try database.write(isRepeatable: true) { db in try Self.renew(db, database.process, term) }
        database.lease.renewed(until: asked + term)
        try Self.unlessInTheWay {
            try database.write(isRepeatable: true) { db in try Self.takeOver(db, own: database.process) }
        }
        return Lease(generation: database.process, until: asked + term)
    }

    /// - Throws: ``/TransferStore/LeaseLost``.
    package static func renew(_ db: PostgresConnection, _ process: Int64, _ term: Duration) throws {
        guard try db.run(Self.renewal, [process, term.inMilliseconds]).count > 0 else { throw LeaseLost() }
    }

    /// Takes over the claims of processes that lost their lease, as workers that run for days must. A renewal never
    /// waits for rows of other processes. While one of them holds a needed lock nothing is taken over, and the next
    /// renewal tries again.
    package static func takeOver(in db: PostgresConnection, own: Int64) throws {
        try unlessInTheWay { try PostgresTransaction.run(db) { PostgresOutcome(try takeOver($0, own: own)) } }
    }

    private static func takeOver(_ db: PostgresConnection, own: Int64) throws {
        try db.post(Self.haste)
        try reclaim(db, own: own)
    }

    private static func unlessInTheWay(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let fault as PostgresFault where fault.isConflict {
            return
        }
    }

    /// Frees the batches and jobs of processes whose leases are over. A process that is in a transaction right now is
    /// left alone.
    package func reclaim(_ db: PostgresConnection) throws { try Self.reclaim(db, own: database.process) }

    package static func reclaim(_ db: PostgresConnection, own: Int64) throws {
        try reclaim(db, db.run(Self.lostLeases, [own]))
    }

    private static func reclaim(_ db: PostgresConnection, _ lost: PostgresResult) throws {
        for process in lost.compactMap({ $0.number(0) }) {
            try endWhatMayHaveArrived(db, of: process)
            try Self.recovery.run(db, [process])
            try forget(db, process)
        }
        if lost.count > 0 { try PostgresNotice.work.tell(db) }
    }

    /// Fails uploads whose body may have left and must not be sent again automatically, such as a POST. All jobs of the
    /// process are locked first, because the numbers of ends are taken here.
    private static func endWhatMayHaveArrived(_ db: PostgresConnection, of process: Int64) throws {
        let sent = try db.run(Self.sending, [process])
        guard sent.count > 0 else { return }
        let ids = sent.compactMap { $0.number(0) }
        let dependents = try PostgresDependents.find(db, of: sent.map { ($0.number(0) ?? 0, $0.text(1) ?? "") })
        let first = try PostgresEndNumbers.take(db, ids.count + dependents.count)
        try db.post(Self.doubt, Self.interruption.values([first, PostgresArray(ids)]) { UploadRules.value($0) })
        _ = try PostgresHookMessages.add(db, ended: ids)
        _ = try dependents.skip(db, from: first + Int64(ids.count))
    }

    package func retire() throws {
        let wasCutShort = database.areWaitsCancelled
        try database.write(isRepeatable: true) { db in
            for batch in doubtful.reported {
                try db.post(Self.reportedDoubt, [batch, UploadRules.interrupted.code.rawValue])
            }
            // A run may end without waiting for its transfers.
            try Self.endWhatMayHaveArrived(db, of: database.process)
            // The last steps of some jobs were not recorded where the database was away, so their files may be
            // complete.
            try (wasCutShort ? Self.recovery : Self.handingBack).run(db, [database.process])
            try Self.forget(db, database.process)
            try PostgresNotice.work.tell(db)
        }
    }

    private static func forget(_ db: PostgresConnection, _ process: Int64) throws {
        try PostgresSteering.carryOutLeft(db, of: process)
        try db.post(Self.batchesLeft, [process])
        try db.post(Self.commandsLeft, [process])
        try db.post(Self.departure, [process])
    }

    // MARK: Statements

    private static let haste = PostgresStatement(direct: "SET LOCAL lock_timeout = '200ms'")

    private static let registration = PostgresStatement(
        "register_process", [.submit, .work],
        """
        INSERT INTO process (generation, host, pid, until, is_worker, tags, is_submitter)
        VALUES (\(token), $1, $2, \(PostgresClock.now) + $3, $4, $5, $6) RETURNING generation
        """)

    private static let tagging = PostgresStatement(
        "tag_process", [.submit, .work], "UPDATE process SET tags = $2 WHERE generation = $1")

    private static let renewal = PostgresStatement(
        "renew_lease", [.submit, .work],
        "UPDATE process SET until = \(PostgresClock.now) + $2 WHERE generation = $1 RETURNING 1")

    private static let lostLeases = PostgresStatement(
        "lost_leases", [.submit, .work],
        """
        SELECT generation FROM process WHERE until <= \(PostgresClock.now) AND generation <> $1
        ORDER BY generation FOR UPDATE SKIP LOCKED
        """)

    private static let recovery = PostgresPendingCommands.Release(
        "recover_jobs", [.submit, .work], .recover, where: { "owner = $\($0)" })

    private static let sending = PostgresStatement(
        "sending_jobs", [.submit, .work],
        """
        WITH held AS MATERIALIZED (
            SELECT id, identity, is_sending FROM job WHERE owner = $1 AND state = \(JobStates.claimed)
            ORDER BY id FOR UPDATE)
        SELECT id, identity FROM held WHERE is_sending ORDER BY id
        """)

    private static let interruption = PostgresJobUpdate(
        .interrupt, guards: false, endNumber: { "$\($0) + position - 1" },
        from: { "unnest($\($0 + 1)::bigint[]) WITH ORDINALITY AS ended_jobs(ended_id, position)" },
        where: { _ in "job.id = ended_id" })

    private static let doubt = PostgresStatement("doubt_jobs", [.submit, .work], interruption.sql)

    private static let reportedDoubt = PostgresStatement(
        "doubt_told", [.submit, .work],
        """
        UPDATE job SET was_interrupted = false
        WHERE batch = $1 AND state = \(JobStates.failed) AND error_code = $2
        """)

    private static let handingBack = PostgresPendingCommands.Release(
        "return_jobs", [.submit, .work], .giveBack, where: { "owner = $\($0)" })

    private static let batchesLeft = PostgresStatement(
        "leave_batches", [.submit, .work], "UPDATE batch SET owner = NULL WHERE owner = $1")

    private static let commandsLeft = PostgresStatement(
        "drop_commands", [.submit, .work], "DELETE FROM command WHERE process = $1")

    private static let departure = PostgresStatement(
        "drop_process", [.submit, .work], "DELETE FROM process WHERE generation = $1")

    package static let statements = [
        registration, tagging, renewal, lostLeases, recovery.statement, sending, doubt, reportedDoubt,
        handingBack.statement,
        batchesLeft, commandsLeft, departure,
    ]
}
