import CTransferLinux
import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore

/// Records of ends and steps of claimed jobs, with their consequences for other jobs. Each row is changed only where
/// this process's generation has claimed it.
package struct PostgresRecords: Sendable {
    package let database: PostgresDatabase
    let history: PostgresHistory

    package func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup {
        let ended = ends.map(\.id) + steps.map(\.id)
        // After the record was committed, this process has claimed none of these jobs. Steps alone may be repeated.
        let isThere = { (db: PostgresConnection) in
            try !ended.isEmpty && !PostgresHoldings.has(db, database.process, oneOf: ended)
        }
        let recorded = try database.transactFenced { db in
            let notes = JobNote.uploads(ends, steps)
            if !ends.isEmpty || !notes.isEmpty {
                try db.post(Self.lock, [PostgresArray(ended), database.process])
            }
            for note in notes { try PostgresNotes.write(db, note, by: database.process) }
            var watched = try PostgresWatchedRecords(db, ends, steps, history)
            var recorded = try write(db, watched?.decide(ends, steps) ?? steps)
            guard !ends.isEmpty else {
                try watched?.write(db, &recorded)
                recorded.unblocked = recorded.unblocked.filter { database.mayDo($0.key) }
                return PostgresOutcome(recorded, isThere: isThere)
            }
            let batches = Set(ends.map(\.batch)).sorted()
            let needs = try batches.map { ($0, try PostgresNeeds.ask(db, batch: $0)) }
            let needing = try needs.filter { try PostgresNeeds.flag($1) }.map(\.0)
            var dependents = PostgresDependents()
            for batch in needing {
                let own = ends.filter { $0.batch == batch }
                let complete = own.filter { $0.completion != nil }.map(\.id)
                for (lane, count) in try PostgresNeeds.free(db, after: complete) {
                    recorded.unblocked[lane, default: 0] += count
                }
                try dependents.find(db, of: own.filter { $0.completion == nil }.map { ($0.id, $0.identity) })
            }
            // Other processes wait for the numbers, so that nothing is waited for from here on, unless hooks are called
            // for the ends.
            let all = ends.count + dependents.count
            let first = try PostgresEndNumbers.post(db, all)
            for (index, end) in ends.enumerated() { try write(db, end, behind: all - 1 - index) }
            try watched?.write(db, &recorded)
            Failpoint.reached(.recordUncommitted)
            guard !needing.isEmpty || ends.contains(where: \.tellsHook) else {
                var stepped = recorded
                stepped.unblocked = stepped.unblocked.filter { database.mayDo($0.key) }
                let known = stepped
                return PostgresOutcome(
                    value: { known.numbered(ends.count, from: try first.rows().first?.number(0) ?? 1) },
                    lookUp: { known.numbered(ends.count, from: try Self.first(of: ends, $0)) },
                    isThere: isThere)
            }
            recorded = recorded.numbered(ends.count, from: try first.rows().first?.number(0) ?? 1)
            let hooked = ends.filter { $0.tellsHook }
            if !hooked.isEmpty {
                recorded.hooked.formUnion(
                    try PostgresHookMessages.add(
                        db, ended: hooked.map(\.id), kept: Set(hooked.filter(\.wasKept).map(\.id))))
            }
            let cursor = (recorded.cursors.first ?? 1) + Int64(ends.count)
            recorded.skipped += try dependents.skip(db, from: cursor)
            if !recorded.unblocked.isEmpty { try PostgresNotice.work.tell(db) }
            recorded.unblocked = recorded.unblocked.filter { database.mayDo($0.key) }
            recorded.hooked.formUnion(recorded.skipped.lazy.filter(\.tellsHook).map(\.batch))
            return PostgresOutcome(recorded, isThere: isThere)
        }
        database.holdings.left(ended)
        return recorded
    }

    /// Returns the number of the first of the recorded ends, which have consecutive numbers. A job that was made ready
    /// again meanwhile has none.
    private static func first(of ends: [JobEnd], _ db: PostgresConnection) throws -> Int64 {
        let row = try db.run(Self.numbers, [PostgresArray(ends.map(\.id))]).first
        return row?.number(0) ?? 1
    }

    // MARK: Ends

    /// - Parameter place: The number of further numbers that were taken behind that of this end.
    private func write(_ db: PostgresConnection, _ end: JobEnd, behind place: Int) throws {
        // An end without a change takes the job out with its version.
        guard let (update, statement) = end.transition.flatMap({ Self.endings[$0] }) else { return }
        try db.post(statement, update.values([place, end.id, database.process]) { try end.value($0) })
    }

    // MARK: Steps

    /// - Returns: The jobs that are skipped because others were to be cancelled, and the batches whose hooks are called
    ///   for these.
    private func write(_ db: PostgresConnection, _ steps: [JobStep]) throws -> RecordedGroup {
        var recorded = RecordedGroup()
        for (step, answer) in try steps.map({ ($0, try post(db, $0)) }) {
            let asked = try Self.stepping.finish(db, answer)
            recorded.skipped += asked.skipped
            if asked.isHooked { recorded.hooked.insert(step.batch) }
        }
        return recorded
    }

    private func post(_ db: PostgresConnection, _ step: JobStep) throws -> PostgresAnswer {
        try Self.stepping.post(
            db,
            Self.stepping.values(state: step.state, [step.id, database.process, step.isForWatcher]) {
                try step.value($0)
            })
    }

    // MARK: Statements

    /// The changes by which claimed jobs end. A job that another process has claimed meanwhile is left alone.
    private static let endings: [JobTransition: (update: PostgresJobUpdate, statement: PostgresStatement)] = {
        let names: KeyValuePairs<JobTransition, String> = [
            .complete: "record_completion", .keep: "record_kept", .fail: "record_failure",
            .failOfChangedSource: "record_changed_source", .abort: "record_cancellation",
        ]
        return Dictionary(
            uniqueKeysWithValues: names.map { transition, name in
                let update = PostgresJobUpdate(
                    transition, guards: false, endNumber: { "\(PostgresEndNumbers.taken) - $\($0)" },
                    where: { "id = $\($0 + 1) AND owner = $\($0 + 2)" })
                return (transition, (update, PostgresStatement(name, .work, update.sql)))
            })
    }()

    private static let stepping = PostgresPendingCommands.Release(
        "record_step", .work, .step,
        also: {
            [
                """
                tags = CASE WHEN $\($0 + 2)::boolean THEN coalesce((SELECT '\(WatchTag.prefix)' || folder FROM upload_history
                    WHERE upload_history.id = job.history), tags) ELSE tags END
                """
            ]
        },
        where: { "id = $\($0) AND owner = $\($0 + 1)" })

    /// Jobs are locked before the counter, in the same order as by commands.
    private static let lock = PostgresStatement(
        "lock_ending_jobs", .work,
        """
        SELECT count(*) FROM (
            SELECT FROM job WHERE id = ANY ($1::bigint[]) AND owner = $2 ORDER BY id FOR NO KEY UPDATE) AS locked
        """)

    private static let numbers = PostgresStatement(
        "numbers_of_ends", .work,
        """
        SELECT end_number - position + 1 FROM unnest($1::bigint[]) WITH ORDINALITY AS ended(id, position)
        JOIN job ON job.id = ended.id WHERE end_number IS NOT NULL LIMIT 1
        """)

    package static let statements = endings.values.map(\.statement) + [stepping.statement, lock, numbers]
}

extension RecordedGroup {
    /// Returns the group with consecutive numbers of ends.
    fileprivate func numbered(_ count: Int, from first: Int64) -> RecordedGroup {
        var group = self
        group.cursors = Array(first..<first + Int64(count))
        return group
    }
}
