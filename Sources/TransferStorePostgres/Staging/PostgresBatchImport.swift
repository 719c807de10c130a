import TransferCore
package import TransferJobs
package import TransferStore

/// The taking of jobs into batches, all of them or none. They are copied into a table of the connection while they are
/// read. From there one transaction moves them into the queue's own tables, with one statement for all of a kind.
package struct PostgresBatchImport: Sendable {
    package let database: PostgresDatabase
    package let batches: PostgresBatches
    package let doubtful: DoubtfulBatches

    /// The error of jobs that a process has claimed and must release first: the transaction is rolled back.
    private struct UnderWay: Error {
        let staged: StagedJobs
    }

    package func stage(
        _ header: BatchHeader, _ options: StagingOptions, _ body: (any JobSubmissionBatcher) throws -> Bool
    ) throws -> StagedJobs {
        let isForOthers = database.role.bringsForOthers
        if isForOthers, case .set(.some) = header.onFinish {
            var report = JobFileReport()
            report.add(
                JobFileFault(
                    message: PostgresSubmissionBatcher.hookRefusal, path: "$.onFinish",
                    span: SourceSpan(line: 1, column: 1)))
            throw StagingFailure.faults(report)
        }
        do {
            return try database.write(
                preparing: { db in
                    let intake = try PostgresSubmissionBatcher(
                        db, directory: header.directory, isForOthers: isForOthers)
                    do {
                        guard try body(intake) else { throw StagingFailure.refused }
                        guard intake.report.isEmpty else { throw StagingFailure.faults(intake.report) }
                        try intake.finish(db)
                    } catch {
                        intake.giveUp()
                        throw error
                    }
                    return intake
                },
                { db, intake in
                    let staged = try take(db, header, options, intake)
                    guard staged.underWay.isEmpty else { throw UnderWay(staged: staged) }
                    return staged
                })
        } catch let underWay as UnderWay {
            return underWay.staged
        }
    }

    private func take(
        _ db: PostgresConnection, _ header: BatchHeader, _ options: StagingOptions, _ intake: PostgresSubmissionBatcher
    ) throws -> StagedJobs {
        let batch = try batches.hold(db, header)
        let staging = try db.run(Self.stagingNumber, [batch.id]).first?.number(0)
        var merge = PostgresMerge(
            db, batch: batch, staging: staging ?? 1, options, isReported: doubtful.isReported(batch.id),
            leavesUploads: database.role.bringsForOthers, process: database.process, intake)
        try merge.run()
        guard merge.report.isEmpty else {
            merge.report.jobCount = merge.count
            throw StagingFailure.faults(merge.report)
        }
        try PostgresAnswers.write(db, options.notes, batch: batch, count: merge.count)
        if merge.isInDoubt { doubtful.found(in: batch.id) }
        // A process that works on the batch beside others holds it only until its jobs are added.
        if database.role.sharesBatches { try batches.share(db, batch.id) }
        return StagedJobs(
            batch: batch, count: merge.count, secrets: merge.secrets, underWay: merge.underWay,
            abandoned: merge.abandoned)
    }

    package func submit(_ spec: JobSpec, batch: String, directory: String) throws -> StagedJobs {
        let known = try database.read { db in
            try db.run(Self.known, [batch, spec.identity]).first?.number(0)
        }
        if let known, known != spec.fingerprint {
            throw TransferError(
                .fileExists, "the batch \(batch) has another job \"\(spec.identity)\"; give this one an id of its own")
        }
        let header = BatchHeader(name: batch, source: nil, directory: directory)
        return try stage(header, StagingOptions(keepsWhatIsMissing: true)) { intake in
            if known == nil { try intake.add(spec, at: nil) }
            return true
        }
    }

    // MARK: Statements

    private static let stagingNumber = PostgresStatement(
        "take_staging_number", .submit, "UPDATE batch SET staging = staging + 1 WHERE id = $1 RETURNING staging")

    private static let known = PostgresStatement(
        "fingerprint_of_job", .submit,
        """
        SELECT fingerprint FROM job JOIN batch ON batch.id = job.batch
        WHERE batch.name = $1 AND key = md5($2)::uuid AND identity = $2
        """)

    package static let statements = [
        stagingNumber, known,
    ]
}
