import TransferCore
package import TransferJobs
import TransferScheduling
package import TransferStore

/// The transfer of staged jobs (``PostgresSubmissionBatcher``) into their batch, inside one transaction.
package struct PostgresMerge {
    private let db: PostgresConnection
    private let batch: HeldBatch
    private let staging: Int64
    private let options: StagingOptions
    /// Whether the jobs of the batch whose upload may have arrived were reported to a user.
    private let isReported: Bool
    /// Whether workers, and not this process, ask servers to drop uploads that will not be continued.
    private let leavesUploads: Bool
    private let process: Int64
    private let intake: PostgresSubmissionBatcher

    package private(set) var count: Int
    package var report = JobFileReport()
    package private(set) var secrets: [Int64: JobSecrets] = [:]
    package private(set) var underWay: Set<Int64> = []
    package private(set) var abandoned: [AbandonedUpload] = []
    /// Whether there are jobs whose upload may have arrived, and which were not reported.
    package private(set) var isInDoubt = false

    package init(
        _ db: PostgresConnection, batch: HeldBatch, staging: Int64, _ options: StagingOptions, isReported: Bool,
        leavesUploads: Bool, process: Int64, _ intake: PostgresSubmissionBatcher
    ) {
        self.db = db
        self.batch = batch
        self.staging = staging
        self.options = options
        self.isReported = isReported
        self.leavesUploads = leavesUploads
        self.process = process
        self.intake = intake
        count = intake.count
    }

    package mutating func run() throws {
        try fold()
        // Two jobs with one identity exclude each other, so that nothing is taken.
        guard report.isEmpty else { return }
        if !batch.isNew {
            // The locks keep jobs from being claimed or ending between the check and their change.
            try db.post(Self.lock, [batch.id])
            try stageAgain()
        }
        try insert()
        if !options.keepsWhatIsMissing, !batch.isNew { try drop() }
        try findSharedDestinations()
        try noteSecrets()
        try PostgresStagedNeeds(db, batch: batch.id, staging: staging).resolve(intake, &report)
        if options.isReload { try PostgresNeeds.revive(db, batch: batch.id) }
        if report.isEmpty { _ = try PostgresNeeds.skipWhatCannotStart(db, batch: batch.id) }
        if options.startsPaused { try pause() }
    }

    /// Jobs that were there before, and were not staged now, keep the number of their own staging.
    private func pause() throws {
        try db.post(Self.pausing, [batch.id, staging])
    }

    // MARK: Twice in one file

    /// Drops repeated jobs. Lists are combined from other lists, and a repeated line means the same job. In a job file
    /// it is a mistake.
    private mutating func fold() throws {
        let again = try db.run(Self.repeated)
        guard again.count > 0 else { return }
        count -= again.count
        for row in again {
            guard !row.flag(9) else { continue }
            let (hasID, place) = (row.flag(2), location(row, from: 4))
            let other = row.int(8).map { " (line \($0))" } ?? ""
            let offer = hasID || row.flag(3) || place == nil ? "" : "; \(Collisions.offer)"
            let what = hasID ? "same id as another job" : "same destination as another job"
            report.add(
                JobFileFault("\(what)\(other): \(row.text(1) ?? "")\(offer)") { place?.identityFault($0) })
        }
        try db.post(Self.foldedAway, [PostgresArray(again.compactMap { $0.number(0) })])
    }

    /// Returns the place of a job in its file, from the columns line, place, width and number.
    private func location(_ row: PostgresRow, from column: Int) -> JobLocations? {
        guard let line = row.int(column), let format = intake.format else { return nil }
        let span = SourceSpan(line: line, column: row.int(column + 1) ?? 1, length: row.int(column + 2) ?? 1)
        return JobLocations(
            index: row.int(column + 3) ?? 0, job: span, id: intake.hasIDs ? span : nil, to: span, format: format)
    }

    // MARK: In the batch already

    /// The rule that decides which jobs stay (``/TransferStore/RestagingRule``), as a table that a statement joins.
    private var rule: [(any PostgresValue)?] {
        var rows: [(state: Int, changed: Bool, doubt: Bool, stays: Bool)] = []
        for state in JobState.allCases {
            for changed in [false, true] {
                for doubt in [false, true] {
                    let stays = RestagingRule.stays(
                        state, changed: changed, mayHaveArrived: doubt && !isReported, isReload: options.isReload)
                    rows.append((state.rawValue, changed, doubt, stays))
                }
            }
        }
        return [
            PostgresArray(rows.map(\.state)), PostgresArray(rows.map(\.changed)), PostgresArray(rows.map(\.doubt)),
            PostgresArray(rows.map(\.stays)),
        ]
    }

    private mutating func stageAgain() throws {
        try abandon(Self.uploadsOfChanged, [batch.id, batch.hasMoved])
        for row in try db.run(Self.update, [batch.id, batch.hasMoved, staging, options.isReload] + rule) {
            if row.flag(1), let id = row.number(0) { underWay.insert(id) }
            if row.flag(2) { isInDoubt = true }
        }
    }

    /// Notes uploads that servers hold, before their jobs are changed or dropped, for this process or in the queue.
    private mutating func abandon(_ uploads: HeldUploads, _ values: [(any PostgresValue)?]) throws {
        guard !leavesUploads else {
            try db.run(uploads.left, values)
            return
        }
        abandoned += try db.run(uploads.own, values).compactMap {
            AbandonedUpload(id: $0.number(0) ?? 0, spec: $0.text(1) ?? "", upload: $0.text(2))
        }
    }

    /// The statements that note such uploads.
    private struct HeldUploads {
        /// The statement that gives the uploads to the process.
        let own: PostgresStatement
        /// The statement that leaves the uploads to the workers.
        let left: PostgresStatement

        /// - Parameter condition: The jobs that are meant, in SQL, which follows `beginning`.
        init(
            _ name: String, _ beginning: String = "", where condition: String,
            staging: PostgresStatement.BatchImport = .none
        ) {
            let jobs = "FROM job WHERE \(condition) AND \(PostgresReplacedUploads.areHeld)"
            own = PostgresStatement(
                "uploads_of_\(name)", .submit, "\(beginning)SELECT id, spec, upload \(jobs) ORDER BY id",
                staging: staging)
            left = PostgresStatement(
                "leave_uploads_of_\(name)", .submit,
                """
                \(beginning)\(PostgresReplacedUploads.insertion)
                SELECT spec, upload, tags, \(PostgresReplacedUploads.times) \(jobs)
                """, staging: staging)
        }
    }

    // MARK: New

    private func insert() throws {
        guard !batch.isNew else { return try insertAll() }
        try db.post(Self.insertion, [batch.id, staging])
    }

    /// Inserts the jobs of a new batch. A connection's own table is read in the order in which it was written. In
    /// another order, jobs of the same priority would not start in the order of their file.
    private func insertAll() throws {
        try db.post(Self.insertionOfAll, [batch.id, staging])
    }

    /// Deletes the jobs that are no longer in the file. Workers must release them first, as their results could not be
    /// recorded.
    private mutating func drop() throws {
        underWay.formUnion(
            try db.run(Self.missingWithOthers, [batch.id, staging, process]).compactMap { $0.number(0) })
        try abandon(Self.uploadsOfMissing, [batch.id, staging])
        try db.post(Self.removal, [batch.id, staging])
    }

    /// Reports jobs with one destination and different identities. Without IDs the destination is the identity, except
    /// for a relative path and an absolute one to the same file.
    private mutating func findSharedDestinations() throws {
        let kinds = try db.run(Self.kinds)
        guard kinds.first?.flag(0) == true else { return }
        let shared = try db.run(Self.sharedDestinations, [batch.id])
        for row in shared {
            let place =
                location(row, from: 0)
                ?? JobLocations(
                    index: 0, job: SourceSpan(line: 1, column: 1), to: SourceSpan(line: 1, column: 1))
            let other = row.int(5).map { " (line \($0))" } ?? ""
            let offer = row.flag(6) || row.int(0) == nil ? "" : "; \(Collisions.offer)"
            report.add(place.destinationFault("same destination as job \"\(row.text(4) ?? "")\"\(other)\(offer)"))
        }
    }

    private mutating func noteSecrets() throws {
        guard !intake.secrets.isEmpty else { return }
        let found = try db.run(Self.secretNumbers, [batch.id])
        for row in found {
            if let position = row.int(0), let id = row.number(1) { secrets[id] = intake.secrets[position] }
        }
    }

    // MARK: Statements

    /// The jobs that were there before, with their differences. `$2` says whether the batch's folder has changed.
    private static let known = """
        WITH known AS (
            SELECT job.id, staged.position, job.state,
                job.fingerprint <> staged.fingerprint OR $2 AND staged.is_relative AS changed,
                coalesce(job.error_code = '\(TransferError.Code.mayHaveBeenSent.rawValue)', false)
                    AND job.was_interrupted AS doubt
            FROM staged JOIN job ON job.batch = $1 AND job.key = staged.key)
        """

    private static let uploadsOfChanged = HeldUploads(
        "changed", known + "\n", where: "id IN (SELECT id FROM known WHERE changed)", staging: .reads)

    private static let uploadsOfMissing = HeldUploads("missing", where: "batch = $1 AND staging <> $2")

    /// The new values of a job are columns of `staged`; `met` has the decision about the old job.
    private static let restaging: PostgresJobUpdate = {
        let staged: [JobColumn] = [
            .line, .place, .width, .number, .priority, .origin, .network, .destination, .spec, .isUpload, .fingerprint,
            .hasSecrets, .networkPlaces,
        ]
        var values: [JobColumn: String] = [.state: "met.next", .staging: "$3"]
        for column in staged { values[column] = "staged.\(column.rawValue)" }
        return PostgresJobUpdate(
            .restage, guards: false, expressions: values,
            conditions: [
                .isUnchanged: "NOT met.changed", .stays: "met.stays", .countContinues: "met.goes_on",
                .staysEnded: "met.next >= \(JobStates.firstEnded)",
                .keepsInterruption: "NOT (met.changed OR met.doubt AND NOT met.stays)",
            ],
            also: { _ in ["tells_hook = staged.tells_hook", "tags = staged.tags"] },
            from: { _ in "met JOIN staged USING (position)" },
            returning: "job.id, met.state = \(JobStates.claimed) AND met.changed, met.stays AND met.doubt",
            where: { _ in "job.id = met.id" })
    }()

    private static let update = PostgresStatement(
        "stage_again", .submit,
        """
        \(known), met AS (SELECT known.*, rule.stays, rule.stays OR known.state = \(JobStates.queued) AND NOT known.changed AS goes_on,
            CASE WHEN rule.stays OR $4 AND known.state = \(JobStates.paused) THEN known.state
                ELSE \(JobStates.queued) END AS next
            FROM known JOIN unnest($5::integer[], $6::boolean[], $7::boolean[], $8::boolean[])
                AS rule(state, changed, doubt, stays) USING (state, changed, doubt))
        \(restaging.sql)
        """, staging: .reads)

    private static let pausing = PostgresStatement(
        "pause_staged", .submit,
        PostgresJobUpdate(.pauseStaged) { "batch = $\($0) AND staging = $\($0 + 1)" }.sql)

    private static let repeated = PostgresStatement(
        "repeated_in_staging", .submit,
        """
        SELECT position, identity, has_id, is_upload, line, place, width, number, first_line,
            is_listed AND fingerprint = first_fingerprint
        FROM (SELECT *, row_number() OVER same AS occurrence, first_value(line) OVER same AS first_line,
                first_value(fingerprint) OVER same AS first_fingerprint
            FROM staged WINDOW same AS (PARTITION BY key ORDER BY position)) AS jobs
        WHERE occurrence > 1 ORDER BY position
        """, staging: .reads)

    private static let foldedAway = PostgresStatement(
        "drop_repeated", .submit, "DELETE FROM staged WHERE position = ANY ($1::bigint[])", staging: .reads)

    private static let insertion = PostgresStatement(
        "insert_new", .submit,
        """
        INSERT INTO job (batch, staging, state, \(PostgresSubmissionBatcher.columns))
        SELECT $1, $2, \(JobStates.queued), \(PostgresSubmissionBatcher.columns) FROM staged
        WHERE NOT EXISTS (SELECT 1 FROM job WHERE job.batch = $1 AND job.key = staged.key)
        ORDER BY position
        """, staging: .reads)

    private static let insertionOfAll = PostgresStatement(
        "insert_all", .submit,
        """
        INSERT INTO job (batch, staging, state, \(PostgresSubmissionBatcher.columns))
        SELECT $1, $2, \(JobStates.queued), \(PostgresSubmissionBatcher.columns) FROM staged
        """, staging: .reads)

    private static let lock = PostgresStatement(
        "lock_jobs_of_batch", .submit,
        """
        SELECT count(*) FROM (
            SELECT FROM job WHERE batch = $1 AND state < \(JobStates.firstEnded) ORDER BY id FOR UPDATE) AS locked
        """)

    private static let missingWithOthers = PostgresStatement(
        "missing_with_others", .submit,
        "SELECT id FROM job WHERE batch = $1 AND staging <> $2 AND state = \(JobStates.claimed) AND owner <> $3")

    private static let removal = PostgresStatement(
        "drop_missing", .submit, "DELETE FROM job WHERE batch = $1 AND staging <> $2")

    private static let kinds = PostgresStatement(
        "kinds_of_staging", .submit,
        """
        SELECT coalesce(bool_or(has_id), false)
            OR coalesce(bool_or(is_relative) AND bool_or(NOT is_relative AND NOT is_upload), false) FROM staged
        """, staging: .reads)

    private static let sharedDestinations = PostgresStatement(
        "shared_destinations", .submit,
        """
        SELECT line, place, width, number, first, first_line, is_upload
        FROM (SELECT *, row_number() OVER same AS occurrence, first_value(identity) OVER same AS first,
                first_value(line) OVER same AS first_line
            FROM job WHERE batch = $1 AND destination <> ''
            WINDOW same AS (PARTITION BY md5(destination) ORDER BY id)) AS jobs
        WHERE occurrence > 1 ORDER BY id LIMIT 20
        """)

    private static let secretNumbers = PostgresStatement(
        "numbers_of_secrets", .submit,
        """
        SELECT staged.position, job.id FROM staged JOIN job ON job.batch = $1 AND job.key = staged.key
        WHERE staged.has_secrets
        """, staging: .reads)

    package static let statements = [
        uploadsOfChanged.own, uploadsOfChanged.left, uploadsOfMissing.own, uploadsOfMissing.left, lock,
        missingWithOthers, update, pausing, repeated, foldedAway, insertion, insertionOfAll, removal, kinds,
        sharedDestinations, secretNumbers,
    ]
}
