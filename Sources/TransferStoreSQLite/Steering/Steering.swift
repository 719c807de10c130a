import GRDB
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore

/// Commands that pause, resume, cancel and retry jobs, carried out by the process that runs their batch, or here where
/// none does.
package struct Steering: Sendable {
    package let database: QueueDatabase
    package let leases: Leases
    package let reserves: ReservedJobs

    package func deliver(_ verb: QueueVerb, batch name: String, job: String?) throws -> CommandDelivery {
        try database.write { db in
            try leases.reclaim(db)
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT batch.id, owner, pid, socket FROM batch LEFT JOIN process ON process.id = owner
                    WHERE name = ?
                    """, arguments: [name])
            guard let row else { return .noSuchBatch }
            let batch: Int64 = row[stored: 0]
            if let job {
                let known = try Int.fetchOne(
                    db, sql: "SELECT \(ReserveRows.shownState) FROM job WHERE batch = ? AND identity = ?",
                    arguments: [batch, job])
                guard let known else { return .noSuchJob }
                // The command changes nothing in such a state, for the process that runs the batch either.
                guard verb.changes(JobState(stored: known)) else { return .applied(jobs: 0) }
            }
            guard let owner: Int64 = row[stored: 1] else {
                return .applied(jobs: try Self.apply(db, verb, batch: batch, job: job).count)
            }
            try db.execute(
                sql: "INSERT INTO command (process, verb, batch, job) VALUES (?, ?, ?, ?)",
                arguments: [owner, verb.rawValue, batch, job])
            return .handed(pid: row[stored: 2] ?? 0, socket: row[stored: 3], command: db.lastInsertedRowID)
        }
    }

    /// Returns the commands for this process, each once.
    package func takeCommands() throws -> [QueueCommand] {
        try database.write(leavesPacks: true) { db in
            let rows = try Row.fetchAll(
                db, sql: "DELETE FROM command WHERE process = ? RETURNING id, verb, batch, job",
                arguments: [database.process])
            return rows.compactMap { row in
                QueueVerb(rawValue: row[stored: 1]).map {
                    QueueCommand(id: row[stored: 0], verb: $0, batch: row[stored: 2], job: row[stored: 3])
                }
            }.sorted { $0.id < $1.id }
        }
    }

    package func apply(_ command: QueueCommand) throws -> AppliedCommand {
        reserves.takeBack(command.batch)
        return try database.writeFenced { db in
            // A fresh start of the job clears this, so it is read before.
            let hadFailed = try command.job.map { try Self.hasFailed(db, batch: command.batch, job: $0) } ?? true
            try ReserveRows.dissolve(db, batch: command.batch)
            var applied = try Self.apply(db, command.verb, batch: command.batch, job: command.job)
            applied.hadFailed = hadFailed
            return applied
        }
    }

    /// Returns whether an attempt of the job failed, or a job that it needs did.
    private static func hasFailed(_ db: Database, batch: Int64, job: String) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT state IN (\(JobStates.list([.waiting, .failed, .skipped]))) OR state <> \(JobStates.done) AND (attempts > 0 OR spentMirrors <> 0)
                FROM job WHERE batch = ? AND identity = ?
                """, arguments: [batch, job]) ?? false
    }

    /// Changes the jobs that no process has claimed.
    private static func apply(_ db: Database, _ verb: QueueVerb, batch: Int64, job: String?) throws -> AppliedCommand {
        let changed = try Row.fetchAll(
            db, sql: update(verb).sql, arguments: update(verb).arguments([batch, job]))
        if job == nil, verb == .pause || verb == .resume {
            try db.execute(
                sql: "UPDATE watchedFolder SET isPaused = ? WHERE batch = ?", arguments: [verb == .pause, batch])
        }
        var applied = AppliedCommand()
        if verb == .cancel, !changed.isEmpty {
            try EndNumbers.number(db)
            for row in changed {
                let cursor = try Int64.fetchOne(
                    db, sql: "SELECT endSequence FROM job WHERE id = ?", arguments: [row[stored: 0] as Int64])
                applied.jobs.append((row[stored: 1], cursor, JobRoute(canonicalJSON: row[stored: 2])))
            }
            let hooked = try HookCalls.add(db, ended: changed.filter { $0[stored: 3] }.map { $0[stored: 0] })
            applied.skipped = try Needs.skipDependents(db, of: changed.map { ($0[stored: 0], $0[stored: 1]) })
            applied.isHooked = !hooked.isEmpty || applied.skipped.contains(where: \.tellsHook)
            _ = try WatchedJobs.releaseFollowers(db, batch: batch)
        } else {
            applied.jobs = changed.map { ($0[stored: 1], nil, nil) }
        }
        if verb == .retry || verb == .retryFailed {
            try Needs.recount(db, batch: batch)
            applied.skipped = try Needs.skipWhatCannotStart(db, batch: batch)
            applied.isHooked = applied.skipped.contains(where: \.tellsHook)
        }
        return applied
    }

    private static func update(_ verb: QueueVerb) -> JobUpdate { updates[verb] ?? makeUpdate(verb) }

    private static let updates = Dictionary(uniqueKeysWithValues: QueueVerb.allCases.map { ($0, makeUpdate($0)) })

    private static func makeUpdate(_ verb: QueueVerb) -> JobUpdate {
        let transition = JobTransition(verb)
        // A failed file of a watched folder that is tried again automatically can be cancelled too.
        let takesFailed = verb == .cancel
        // Only jobs that end are returned with their descriptions.
        let reported = verb == .cancel ? "id, identity, spec, \(HookCalls.mark)" : "id, identity"
        return JobUpdate(transition, guards: !takesFailed, returning: reported) { next in
            let target = "batch = ?\(next) AND (?\(next + 1) IS NULL OR identity = ?\(next + 1))"
            guard takesFailed else { return target }
            let states = JobStates.list(transition.change.from)
            return "\(target) AND (state IN (\(states)) OR state = \(JobStates.failed) AND notBefore IS NOT NULL)"
        }
    }
}
