import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore

/// Records ends and steps of claimed jobs, with what follows for other jobs. Each row is changed only where this process's
/// generation has claimed it.
package struct PostgresRecords: Sendable {
    package let database: PostgresDatabase

    package func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup {
        try database.writeFenced { db in
            var recorded = RecordedGroup()
            for step in steps {
                let asked = try write(db, step)
                recorded.skipped += asked.skipped
                if asked.isHooked { recorded.hooked.insert(step.batch) }
            }
            guard !ends.isEmpty else { return recorded }
            let first = try PostgresEndNumbers.take(db, ends.count)
            for (cursor, end) in zip(first..., ends) {
                recorded.cursors.append(cursor)
                try write(db, end, cursor)
            }
            let hooked = ends.filter { $0.tellsHook }
            if !hooked.isEmpty {
                recorded.hooked = try PostgresHookMessages.add(
                    db, ended: hooked.map(\.id), kept: Set(hooked.filter(\.wasKept).map(\.id)))
            }
            for batch in Set(ends.map(\.batch)).sorted() where try PostgresNeeds.areIn(db, batch: batch) {
                let own = ends.filter { $0.batch == batch }
                let complete = own.filter { $0.completion != nil }.map(\.id)
                for (lane, count) in try PostgresNeeds.free(db, after: complete) {
                    recorded.unblocked[lane, default: 0] += count
                }
                recorded.skipped += try PostgresNeeds.skipDependents(
                    db, of: own.filter { $0.completion == nil }.map { ($0.id, $0.identity) })
            }
            if !recorded.unblocked.isEmpty { try PostgresNotice.work.tell(db) }
            recorded.unblocked = recorded.unblocked.filter { database.role.mayDo($0.key) }
            recorded.hooked.formUnion(recorded.skipped.lazy.filter(\.tellsHook).map(\.batch))
            return recorded
        }
    }

    // MARK: Ends

    private func write(_ db: PostgresConnection, _ end: JobEnd, _ cursor: Int64) throws {
        switch end.outcome {
        case .done(let receipt, let facts), .kept(let receipt, let facts):
            try complete(db, end, receipt, facts, cursor)
        case .failed(let error, let attempts, let host):
            try db.run(
                Self.failure,
                [
                    end.id, database.process, error.code.rawValue, error.message, error.status, host, attempts,
                    end.finalURL, cursor, end.again?.inMilliseconds, try ResumeData.text(end.resume), end.sources.text,
                    error.code == .sourceChanged,
                ])
        case .cancelled:
            try db.run(Self.cancellation, [end.id, database.process, cursor, try ResumeData.text(end.resume)])
        // An end of watched folders, which are one machine's.
        case .dropped: break
        }
    }

    private func complete(
        _ db: PostgresConnection, _ end: JobEnd, _ receipt: JobReceipt, _ facts: FileStamp?, _ cursor: Int64
    ) throws {
        // The sums and the sources of a file that was kept as it was are those of its download.
        try db.run(
            Self.completion,
            [
                end.id, database.process, receipt.path, facts?.size ?? receipt.bytes, facts?.modified,
                receipt.digest?.description, receipt.validator, receipt.transferred, receipt.seconds, receipt.finalURL,
                receipt.status, receipt.response, receipt.attempts, receipt.unproven, receipt.isLengthUnproven,
                receipt.proofs.text, cursor, receipt.sums.map { PostgresBytes($0.encoded) }, end.wasKept,
                receipt.sources.text,
            ])
    }

    // MARK: Steps

    /// - Returns: The job, where it was to be cancelled, and those that are skipped for that.
    private func write(_ db: PostgresConnection, _ step: JobStep) throws -> AppliedCommand {
        try Self.stepping.run(
            db,
            [
                step.id, database.process, step.state.rawValue, step.attempts, step.mirror,
                Int64(bitPattern: step.spentMirrors), step.due.map { PostgresClock.wait(until: $0) },
                step.askedWait.inMilliseconds, step.origin, try ResumeData.text(step.resume),
                step.error?.code.rawValue, step.error?.message,
            ])
    }

    // MARK: Statements

    private static let failure = PostgresStatement(
        "record_failure", .work,
        """
        UPDATE job SET state = \(JobStates.failed), owner = NULL, is_sending = false, was_interrupted = false,
            error_code = $3, error_message = $4, status = $5, host = $6, attempts = $7, final_url = $8,
            end_number = $9, ended = \(PostgresClock.now), not_before = \(PostgresClock.now) + $10, resume = $11,
            sources = $12, upload = CASE WHEN $13::boolean OR upload_goes_on THEN upload END,
            upload_is_held = ($13 OR upload_goes_on) AND upload_is_held
        WHERE id = $1 AND owner = $2
        """)

    private static let cancellation = PostgresStatement(
        "record_cancellation", .work,
        """
        UPDATE job SET state = \(JobStates.cancelled), owner = NULL, is_sending = false, end_number = $3,
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
            length_unproven = $15, proofs = $16, end_number = $17, ended = \(PostgresClock.now),
            sums = coalesce($18::bytea,
                CASE WHEN size IS NOT DISTINCT FROM $4 AND modified IS NOT DISTINCT FROM $5 THEN sums END),
            sources = CASE WHEN $19 THEN sources ELSE $20 END
        WHERE id = $1 AND owner = $2
        """)

    private static let stepping = PostgresWishes.Departure(
        "record_step", .work, to: "$3",
        """
        is_sending = false, attempts = $4, mirror = $5, spent_mirrors = $6, not_before = \(PostgresClock.now) + $7,
            asked_wait = $8, origin = $9, resume = $10, error_code = $11, error_message = $12
        """, where: "id = $1 AND owner = $2")

    package static let statements = [
        failure, cancellation, completion, stepping.statement,
    ]
}
