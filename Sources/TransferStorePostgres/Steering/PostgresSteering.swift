import TransferCore
package import TransferJobs
package import TransferStore

/// Commands: pausing, resuming, cancelling and retrying jobs, by the process that runs their batch or where nobody does.
package struct PostgresSteering: Sendable {
    package let database: PostgresDatabase
    package let leases: PostgresLeases

    package func deliver(_ verb: QueueVerb, batch name: String, job: String?) throws -> CommandDelivery {
        try database.write { db in
            try leases.reclaim(db)
            let row = try db.run(Self.search, [name]).first
            guard let row, let batch = row.number(0) else { return .noSuchBatch }
            if let job {
                let known = try db.run(Self.jobState, [batch, job]).first?.int(0)
                guard let known else { return .noSuchJob }
                // A job that has ended or isn't held is nothing to the process that runs the batch either.
                guard verb.changes(JobState(stored: known)) else { return .applied(jobs: 0) }
            }
            guard let owner = row.number(1) else { return try deliver(db, verb, shared: batch, job) }
            let command = try hand(db, verb, batch, job, to: owner)
            return .handed(pid: Int32(row.int(2) ?? 0), socket: nil, command: command)
        }
    }

    /// Changes what nobody has claimed of a batch that no process has for itself, and hands the command to those that have
    /// claimed the rest.
    private func deliver(
        _ db: PostgresConnection, _ verb: QueueVerb, shared batch: Int64, _ job: String?
    ) throws -> CommandDelivery {
        let applied = try Self.ask(db, verb, batch: batch, job: job)
        let workers = try db.run(
            Self.claimants, [batch, job]
        ).map { (process: $0.number(0) ?? 0, pid: Int32($0.int(1) ?? 0)) }
        let commands = try workers.map { try hand(db, verb, batch, job, to: $0.process) }
        if applied.count > 0 { try PostgresNotice.work.tell(db) }
        guard let first = workers.first, let command = commands.first else { return .applied(jobs: applied.count) }
        return .handed(pid: first.pid, socket: nil, command: command)
    }

    private func hand(
        _ db: PostgresConnection, _ verb: QueueVerb, _ batch: Int64, _ job: String?, to process: Int64
    ) throws -> Int64 {
        try PostgresNotice.commands.tell(db)
        return try db.run(Self.handing, [process, verb.rawValue, batch, job]).first?.number(0) ?? 0
    }

    /// The commands for this process, each once.
    package func takeCommands() throws -> [QueueCommand] {
        // No other process takes them: commands that are there still weren't taken.
        try database.transact { db in
            let commands = try Self.commands(db, Self.takingCommands, [database.process])
            return PostgresOutcome(commands) { db in
                try db.run(Self.waitingCommands, [PostgresArray(commands.map(\.id))]).first?.flag(0) != true
            }
        }
    }

    /// Commands by a statement that gives them, in the order in which they were asked.
    private static func commands(
        _ db: PostgresConnection, _ statement: PostgresStatement, _ values: [(any PostgresValue)?]
    ) throws -> [QueueCommand] {
        try db.run(statement, values).compactMap { row in
            QueueVerb(rawValue: row.text(1) ?? "").map {
                QueueCommand(id: row.number(0) ?? 0, verb: $0, batch: row.number(2) ?? 0, job: row.text(3))
            }
        }.sorted { $0.id < $1.id }
    }

    package func apply(_ command: QueueCommand) throws -> AppliedCommand {
        try database.writeFenced { db in
            // A fresh start forgets it, so it's asked before.
            let hadFailed = try command.job.map { try Self.hasFailed(db, batch: command.batch, job: $0) } ?? true
            var applied = try Self.apply(db, command.verb, batch: command.batch, job: command.job)
            applied.hadFailed = hadFailed
            return applied
        }
    }

    /// Carries out what was asked of a process that has batches for itself while it brings jobs, and hears of nothing.
    ///
    /// - Parameter batch: `nil` means all that it has.
    static func carryOutLeft(_ db: PostgresConnection, of process: Int64, batch: Int64? = nil) throws {
        for command in try commands(db, Self.leftCommands, [process, batch]) {
            _ = try ask(db, command.verb, batch: command.batch, job: command.job)
        }
    }

    /// Changes the jobs that no process has claimed, and writes down what is asked of the others. Each is one or the other as
    /// long as its row is locked: a job that is claimed or given back at the same time is waited for.
    private static func ask(
        _ db: PostgresConnection, _ verb: QueueVerb, batch: Int64, job: String?
    ) throws -> AppliedCommand {
        let meant = try db.run(Self.meantJobs, [batch, job, PostgresArray((verb.states + [.claimed]).map(\.rawValue))])
        try PostgresPendingCommands.note(db, verb, of: meant.filter { $0.flag(3) }.compactMap { $0.number(0) })
        let applied = try change(db, verb, batch: batch, meant.filter { !$0.flag(3) })
        try PostgresHistory.follow(db, verb, batch: batch, job: job)
        return applied
    }

    /// Whether an attempt of the job came to nothing, or a job that it needs did.
    private static func hasFailed(_ db: PostgresConnection, batch: Int64, job: String) throws -> Bool {
        try db.run(Self.failedBefore, [batch, job]).first?.flag(0) ?? false
    }

    /// Changes the jobs that no process has claimed.
    private static func apply(
        _ db: PostgresConnection, _ verb: QueueVerb, batch: Int64, job: String?
    ) throws -> AppliedCommand {
        let meant = try db.run(Self.meantJobs, [batch, job, PostgresArray(verb.states.map(\.rawValue))])
        let applied = try change(db, verb, batch: batch, Array(meant))
        try PostgresHistory.follow(db, verb, batch: batch, job: job)
        return applied
    }

    private static func change(
        _ db: PostgresConnection, _ verb: QueueVerb, batch: Int64, _ meant: [PostgresRow]
    ) throws -> AppliedCommand {
        if verb == .cancel { return try cancel(db, meant) }
        var applied = AppliedCommand()
        guard !meant.isEmpty else { return applied }
        let ids = meant.compactMap { $0.number(0) }
        try db.post(change(verb), [PostgresArray(ids)])
        applied.jobs = meant.map { ($0.text(1) ?? "", nil, nil) }
        if verb == .retry || verb == .retryFailed {
            try PostgresNeeds.recount(db, batch: batch)
            applied.skipped = try PostgresNeeds.skipWhatCannotStart(db, batch: batch)
            applied.isHooked = applied.skipped.contains(where: \.tellsHook)
        }
        return applied
    }

    /// Cancels jobs that no process has claimed.
    ///
    /// - Parameter meant: Their numbers, identities and specifications.
    static func cancel(_ db: PostgresConnection, _ meant: [PostgresRow]) throws -> AppliedCommand {
        var applied = AppliedCommand()
        guard !meant.isEmpty else { return applied }
        let ids = meant.compactMap { $0.number(0) }
        let dependents = try PostgresDependents.find(db, of: meant.map { ($0.number(0) ?? 0, $0.text(1) ?? "") })
        let first = try PostgresEndNumbers.take(db, ids.count + dependents.count)
        try db.post(Self.cancellation, [PostgresArray(ids), first])
        for (cursor, row) in zip(first..., meant) {
            applied.jobs.append((row.text(1) ?? "", cursor, JobRoute(canonicalJSON: row.text(2) ?? "")))
        }
        let hooked = try PostgresHookMessages.add(db, ended: ids)
        applied.skipped = try dependents.skip(db, from: first + Int64(ids.count))
        applied.isHooked = !hooked.isEmpty || applied.skipped.contains(where: \.tellsHook)
        return applied
    }

    /// The change of a job that doesn't end.
    private static func change(_ verb: QueueVerb) -> PostgresStatement {
        switch verb {
        case .pause: pausing
        case .resume: resumption
        case .cancel, .retry, .retryFailed: freshStart
        }
    }

    // MARK: Statements

    private static let ready = "state = CASE WHEN needs_left > 0 THEN \(JobStates.blocked) ELSE \(JobStates.queued) END"

    private static let pausing = PostgresStatement(
        "pause_jobs", [.submit, .work], "UPDATE job SET state = \(JobStates.paused) WHERE id = ANY ($1::bigint[])")

    private static let resumption = PostgresStatement(
        "resume_jobs", [.submit, .work], "UPDATE job SET \(ready), not_before = NULL WHERE id = ANY ($1::bigint[])")

    private static let freshStart = PostgresStatement(
        "retry_jobs", [.submit, .work],
        """
        UPDATE job SET \(ready), attempts = 0, asked_wait = 0, mirror = 0, spent_mirrors = 0, not_before = NULL,
            end_number = NULL, error_code = NULL, error_message = NULL, drop_after = NULL
        WHERE id = ANY ($1::bigint[])
        """)

    private static let search = PostgresStatement(
        "batch_to_steer", .submit,
        """
        SELECT batch.id, owner, pid FROM batch LEFT JOIN process ON process.generation = owner
        WHERE name = $1 FOR UPDATE OF batch
        """)

    private static let jobState = PostgresStatement(
        "state_of_job", .submit, "SELECT state FROM job WHERE batch = $1 AND key = md5($2)::uuid AND identity = $2")

    private static let claimants = PostgresStatement(
        "claimants", .submit,
        """
        SELECT DISTINCT generation, pid FROM job JOIN process ON process.generation = job.owner
        WHERE batch = $1 AND ($2::text IS NULL OR key = md5($2)::uuid AND identity = $2) ORDER BY generation
        """)

    private static let handing = PostgresStatement(
        "hand_command", .submit,
        """
        INSERT INTO command (process, verb, batch, job) VALUES ($1, $2, $3, $4) RETURNING id
        """)

    private static let takingCommands = PostgresStatement(
        "take_commands", [.submit, .work], "DELETE FROM command WHERE process = $1 RETURNING id, verb, batch, job")

    private static let leftCommands = PostgresStatement(
        "commands_left", [.submit, .work],
        """
        DELETE FROM command USING batch, process
        WHERE command.process = $1 AND generation = $1 AND is_submitter
            AND batch.id = command.batch AND batch.owner = $1 AND ($2::bigint IS NULL OR batch.id = $2)
        RETURNING command.id, verb, command.batch, job
        """)

    private static let waitingCommands = PostgresStatement(
        "commands_wait", [.submit, .work], "SELECT EXISTS (SELECT FROM command WHERE id = ANY ($1::bigint[]))")

    private static let failedBefore = PostgresStatement(
        "had_failed", [.submit, .work],
        """
        SELECT state IN (\(JobStates.list([.waiting, .failed, .skipped])))
            OR state <> \(JobStates.done) AND (attempts > 0 OR spent_mirrors <> 0)
        FROM job WHERE batch = $1 AND key = md5($2)::uuid AND identity = $2
        """)

    private static let meantJobs = PostgresStatement(
        "jobs_to_steer", [.submit, .work],
        """
        SELECT id, identity, spec, state = \(JobStates.claimed) FROM job
        WHERE batch = $1 AND ($2::text IS NULL OR key = md5($2)::uuid AND identity = $2)
            AND state = ANY ($3::integer[]) ORDER BY id FOR UPDATE
        """)

    private static let cancellation = PostgresStatement(
        "cancel_jobs", [.submit, .work],
        """
        UPDATE job SET state = \(JobStates.cancelled), ended = \(PostgresClock.now), not_before = NULL,
            end_number = $2 + ended.position - 1, upload = CASE WHEN upload_goes_on THEN upload END,
            upload_is_held = upload_goes_on AND upload_is_held, drop_after = CASE WHEN upload_goes_on THEN \(PostgresClock.now) END
        FROM unnest($1::bigint[]) WITH ORDINALITY AS ended(id, position) WHERE job.id = ended.id
        """)

    package static let statements = [
        pausing, resumption, freshStart, search, jobState, claimants, handing, takingCommands, leftCommands,
        waitingCommands, failedBefore, meantJobs, cancellation,
    ]
}
