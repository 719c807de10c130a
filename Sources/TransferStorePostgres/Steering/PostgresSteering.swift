import TransferCore
package import TransferJobs
package import TransferStore

/// Commands that pause, resume, cancel and retry jobs, carried out by the process that runs their batch, or here where
/// none does.
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
                // The command changes nothing in such a state, for the process that runs the batch either.
                guard verb.changes(JobState(stored: known)) else { return .applied(jobs: 0) }
            }
            guard let owner = row.number(1) else { return try deliver(db, verb, shared: batch, job) }
            let command = try hand(db, verb, batch, job, to: owner)
            return .handed(pid: Int32(row.int(2) ?? 0), socket: nil, command: command)
        }
    }

    /// Changes the unclaimed jobs of a batch that no process holds for itself, and hands the command to the processes
    /// that have claimed the others.
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

    /// Returns the commands for this process, each once.
    package func takeCommands() throws -> [QueueCommand] {
        // No other process takes these commands, so that any still there were not taken.
        try database.transact { db in
            let commands = try Self.commands(db, Self.takingCommands, [database.process])
            return PostgresOutcome(commands) { db in
                try db.run(Self.waitingCommands, [PostgresArray(commands.map(\.id))]).first?.flag(0) != true
            }
        }
    }

    /// Returns the commands that a statement gives, in the order in which they were sent.
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
            // A fresh start of the job clears this, so it is read before.
            let hadFailed = try command.job.map { try Self.hasFailed(db, batch: command.batch, job: $0) } ?? true
            var applied = try Self.apply(db, command.verb, batch: command.batch, job: command.job)
            applied.hadFailed = hadFailed
            return applied
        }
    }

    /// Carries out commands for a process that holds batches for itself while it adds jobs, and receives no commands.
    ///
    /// - Parameter batch: The batch; `nil` for all batches of the process.
    static func carryOutLeft(_ db: PostgresConnection, of process: Int64, batch: Int64? = nil) throws {
        for command in try commands(db, Self.leftCommands, [process, batch]) {
            _ = try ask(db, command.verb, batch: command.batch, job: command.job)
        }
    }

    /// Changes the jobs that no process has claimed, and writes down the command for the claimed ones. Locked rows keep
    /// each job in its group. A job that is claimed or given back at the same time is waited for.
    private static func ask(
        _ db: PostgresConnection, _ verb: QueueVerb, batch: Int64, job: String?
    ) throws -> AppliedCommand {
        let meant = try db.run(Self.meantJobs, [batch, job, PostgresArray((verb.states + [.claimed]).map(\.rawValue))])
        try PostgresPendingCommands.note(db, verb, of: meant.filter { $0.flag(3) }.compactMap { $0.number(0) })
        let applied = try change(db, verb, batch: batch, meant.filter { !$0.flag(3) })
        try PostgresHistory.follow(db, verb, batch: batch, job: job)
        return applied
    }

    /// Returns whether an attempt of the job failed, or a job that it needs did.
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
        try db.post(statement(verb), [PostgresArray(ids)])
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
    /// - Parameter meant: The rows with the numbers, identities and specifications of the jobs.
    static func cancel(_ db: PostgresConnection, _ meant: [PostgresRow]) throws -> AppliedCommand {
        var applied = AppliedCommand()
        guard !meant.isEmpty else { return applied }
        let ids = meant.compactMap { $0.number(0) }
        let dependents = try PostgresDependents.find(db, of: meant.map { ($0.number(0) ?? 0, $0.text(1) ?? "") })
        let first = try PostgresEndNumbers.take(db, ids.count + dependents.count)
        try db.post(Self.cancellation, [first, PostgresArray(ids)])
        for (cursor, row) in zip(first..., meant) {
            applied.jobs.append((row.text(1) ?? "", cursor, JobRoute(canonicalJSON: row.text(2) ?? "")))
        }
        let hooked = try PostgresHookMessages.add(db, ended: ids)
        applied.skipped = try dependents.skip(db, from: first + Int64(ids.count))
        applied.isHooked = !hooked.isEmpty || applied.skipped.contains(where: \.tellsHook)
        return applied
    }

    /// Returns the statement for a command that does not end the job.
    private static func statement(_ verb: QueueVerb) -> PostgresStatement {
        switch verb {
        case .pause: pausing
        case .resume: resumption
        case .cancel, .retry, .retryFailed: freshStart
        }
    }

    // MARK: Statements

    /// Makes the statement that changes jobs whose rows are locked, in states that the command is for.
    private static func changing(_ name: String, _ verb: QueueVerb) -> PostgresStatement {
        let update = PostgresJobUpdate(JobTransition(verb), guards: false) { "id = ANY ($\($0)::bigint[])" }
        return PostgresStatement(name, [.submit, .work], update.sql)
    }

    private static let pausing = changing("pause_jobs", .pause)

    private static let resumption = changing("resume_jobs", .resume)

    private static let freshStart = changing("retry_jobs", .retry)

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
        PostgresJobUpdate(
            .cancel, guards: false, endNumber: { "$\($0) + position - 1" },
            from: { "unnest($\($0 + 1)::bigint[]) WITH ORDINALITY AS ended_jobs(ended_id, position)" },
            where: { _ in "job.id = ended_id" }
        ).sql)

    package static let statements = [
        pausing, resumption, freshStart, search, jobState, claimants, handing, takingCommands, leftCommands,
        waitingCommands, failedBefore, meantJobs, cancellation,
    ]
}
