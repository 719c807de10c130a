import CTransferFailpoint
import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore

/// Records ends and steps of claimed jobs, with what follows for other jobs. Each row is changed only where this process's
/// generation has claimed it.
package struct PostgresRecords: Sendable {
    package let database: PostgresDatabase
    let history: PostgresHistory

    package func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup {
        let ended = ends.map(\.id) + steps.map(\.id)
        // A record that is there leaves none of them to this process. Steps alone may be taken twice.
        let isThere = { (db: PostgresConnection) in
            try !ended.isEmpty && !PostgresHoldings.has(db, database.process, oneOf: ended)
        }
        let recorded = try database.transactFenced { db in
            if !ends.isEmpty { try db.post(Self.lock, [PostgresArray(ends.map(\.id)), database.process]) }
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
            // Other processes wait for the numbers: from here on nothing is waited for, unless hooks are told of the ends.
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

    /// The number of the first of the ends, which are recorded: they have numbers that follow each other. A job that got a
    /// new start meanwhile has none.
    private static func first(of ends: [JobEnd], _ db: PostgresConnection) throws -> Int64 {
        let row = try db.run(Self.numbers, [PostgresArray(ends.map(\.id))]).first
        return row?.number(0) ?? 1
    }

    // MARK: Ends

    /// - Parameter place: How many of the numbers that were taken are behind the end's.
    private func write(_ db: PostgresConnection, _ end: JobEnd, behind place: Int) throws {
        switch end.outcome {
        case .done(let receipt, let facts), .kept(let receipt, let facts):
            try complete(db, end, receipt, facts, behind: place)
        case .failed(let error, let attempts, let host):
            try db.post(
                Self.failure,
                [
                    end.id, database.process, error.code.rawValue, error.message, error.status, host, attempts,
                    end.finalURL, place, end.again?.inMilliseconds, try ResumeData.text(end.resume), end.sources.text,
                    error.code == .sourceChanged,
                ])
        case .cancelled:
            try db.post(Self.cancellation, [end.id, database.process, place, try ResumeData.text(end.resume)])
        // The job is taken out with its version.
        case .dropped: break
        }
    }

    private func complete(
        _ db: PostgresConnection, _ end: JobEnd, _ receipt: JobReceipt, _ facts: FileStamp?,
        behind place: Int
    ) throws {
        // The sums and the sources of a file that was kept as it was are those of its download.
        try db.post(
            Self.completion,
            [
                end.id, database.process, receipt.path, facts?.size ?? receipt.bytes, facts?.modified,
                receipt.digest?.description, receipt.validator, receipt.transferred, receipt.seconds, receipt.finalURL,
                receipt.status, receipt.response, receipt.attempts, receipt.unproven, receipt.isLengthUnproven,
                receipt.proofs.text, place, receipt.sums.map { PostgresBytes($0.encoded) }, end.wasKept,
                receipt.sources.text,
            ])
    }

    // MARK: Steps

    /// - Returns: The jobs that are skipped as others were to be cancelled, and the batches whose hooks are told of these.
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
            [
                step.id, database.process, step.state.rawValue, step.attempts, step.mirror,
                Int64(bitPattern: step.spentMirrors), step.due.map { PostgresClock.wait(until: $0) },
                step.askedWait.inMilliseconds, step.origin, try ResumeData.text(step.resume),
                step.error?.code.rawValue, step.error?.message, step.isForWatcher,
            ])
    }

    // MARK: Statements

    private static let failure = PostgresStatement(
        "record_failure", .work,
        """
        UPDATE job SET state = \(JobStates.failed), owner = NULL, is_sending = false, was_interrupted = false,
            error_code = $3, error_message = $4, status = $5, host = $6, attempts = $7, final_url = $8,
            end_number = \(PostgresEndNumbers.taken) - $9, ended = \(PostgresClock.now), not_before = \(PostgresClock.now) + $10, resume = $11,
            sources = $12, upload = CASE WHEN $13::boolean OR upload_goes_on THEN upload END,
            upload_is_held = ($13 OR upload_goes_on) AND upload_is_held
        WHERE id = $1 AND owner = $2
        """)

    private static let cancellation = PostgresStatement(
        "record_cancellation", .work,
        """
        UPDATE job SET state = \(JobStates.cancelled), owner = NULL, is_sending = false, end_number = \(PostgresEndNumbers.taken) - $3,
            ended = \(PostgresClock.now), resume = coalesce($4, resume),
            upload = CASE WHEN upload_goes_on THEN upload END, upload_is_held = upload_goes_on AND upload_is_held,
            drop_after = CASE WHEN upload_goes_on THEN \(PostgresClock.now) END
        WHERE id = $1 AND owner = $2
        """)

    private static let completion = PostgresStatement(
        "record_completion", .work,
        """
        UPDATE job SET state = \(JobStates.done), owner = NULL, is_sending = false, was_interrupted = false, recheck = 0,
            resume = NULL, upload = NULL, upload_goes_on = false, upload_is_held = false, error_code = NULL,
            error_message = NULL, path = $3, size = $4, modified = $5, digest = $6, validator = $7, transferred = $8,
            seconds = $9, final_url = $10, status = $11, response = $12, attempts = $13, unproven = $14,
            length_unproven = $15, proofs = $16, end_number = \(PostgresEndNumbers.taken) - $17,
            ended = \(PostgresClock.now),
            sums = coalesce($18::bytea,
                CASE WHEN size IS NOT DISTINCT FROM $4 AND modified IS NOT DISTINCT FROM $5 THEN sums END),
            sources = CASE WHEN $19 THEN sources ELSE $20 END
        WHERE id = $1 AND owner = $2
        """)

    private static let stepping = PostgresPendingCommands.Release(
        "record_step", .work, to: "$3",
        """
        is_sending = false, attempts = $4, mirror = $5, spent_mirrors = $6, not_before = \(PostgresClock.now) + $7,
            asked_wait = $8, origin = $9, resume = $10, error_code = $11, error_message = $12,
            tags = CASE WHEN $13::boolean THEN coalesce((SELECT '\(WatchTag.prefix)' || folder FROM upload_history
                WHERE upload_history.id = job.history), tags) ELSE tags END
        """, where: "id = $1 AND owner = $2")

    /// Jobs are locked before the counter, in the order of those who steer them.
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

    package static let statements = [
        failure, cancellation, completion, stepping.statement, lock, numbers,
    ]
}

extension RecordedGroup {
    /// The group with numbers of ends that follow each other.
    fileprivate func numbered(_ count: Int, from first: Int64) -> RecordedGroup {
        var group = self
        group.cursors = Array(first..<first + Int64(count))
        return group
    }
}
