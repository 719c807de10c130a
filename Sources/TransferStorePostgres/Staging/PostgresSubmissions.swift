import TransferCore
package import TransferJobs
package import TransferStore

/// The taking of several callers' submissions into a batch, and changes of waiting jobs.
package struct PostgresSubmissions: Sendable {
    package let database: PostgresDatabase
    package let staging: PostgresBatchImport

    package func submit(
        _ groups: [SubmissionGroup], batch: String, directory: String, startsPaused: Bool
    ) throws -> (results: [SubmittedJobs], staged: StagedJobs) {
        let known = try look(groups, batch: batch)
        var judged = SubmissionJudgement(known: known.mapValues(\.fingerprint))
        let verdicts = groups.map { judged.judge($0) }
        let jobs = judged.new
        let staged = try staging.stage(
            BatchHeader(name: batch, source: nil, directory: directory),
            StagingOptions(keepsWhatIsMissing: true, startsPaused: startsPaused, notes: judged.notes)
        ) { intake in
            for spec in jobs { try intake.add(spec, at: nil) }
            return true
        }
        let numbers = try look(groups, batch: batch).mapValues(\.number)
        return (zip(groups, verdicts).map { $1.result(of: $0, numbers: numbers) }, staged)
    }

    /// - Parameters:
    ///   - isOwn: Whether the jobs that this process has claimed are meant.
    ///   - change: The change, which leaves the job's fingerprint as it is; may be called several times.
    /// - Returns: The changed jobs; a job that another process has claimed, or that has ended, is not changed.
    package func amend(_ numbers: [Int64], isOwn: Bool, _ change: (inout JobSpec) -> Void) throws -> Set<Int64> {
        let states = PostgresArray((isOwn ? [.claimed] : JobStates.unclaimedStates).map(\.rawValue))
        return try database.write { db in
            var changed: Set<Int64> = []
            // The rows are locked in one order, so that two callers do not wait for each other.
            for number in numbers.sorted() {
                let text = try db.run(Self.waitingSpec, [number, isOwn ? database.process : nil, states]).first?.text(0)
                guard let text else { continue }
                var spec = try JobSpec(canonicalJSON: text)
                change(&spec)
                try db.post(Self.amendment, [spec.canonicalJSON, Int64(spec.priority), number])
                changed.insert(number)
            }
            return changed
        }
    }

    /// - Parameter change: The change of failed jobs, which leaves a job's fingerprint as it is; may be called several
    ///   times.
    /// - Returns: The changed jobs that may be tried again unasked: not those that may have arrived.
    package func renew(_ numbers: [Int64], _ change: (inout JobSpec) -> Void) throws -> Set<Int64> {
        try database.write { db in
            var changed: Set<Int64> = []
            for number in numbers.sorted() {
                let row = try db.run(Self.failedSpec, [number]).first
                guard let row, let text = row.text(0) else { continue }
                var spec = try JobSpec(canonicalJSON: text)
                change(&spec)
                let new = spec.canonicalJSON
                guard new != text else { continue }
                try db.post(Self.amendment, [new, Int64(spec.priority), number])
                if row.text(1) != TransferError.Code.mayHaveBeenSent.rawValue { changed.insert(number) }
            }
            return changed
        }
    }

    /// Finds the jobs that are there already, by their identities.
    private func look(
        _ groups: [SubmissionGroup], batch: String
    ) throws -> [String: (number: Int64, fingerprint: Int64)] {
        try database.read { db in
            var found: [String: (number: Int64, fingerprint: Int64)] = [:]
            for spec in groups.lazy.flatMap(\.jobs) where found[spec.identity] == nil {
                let row = try db.run(Self.known, [batch, spec.identity]).first
                if let row, let number = row.number(0), let fingerprint = row.number(1) {
                    found[spec.identity] = (number, fingerprint)
                }
            }
            return found
        }
    }

    // MARK: Statements

    private static let waitingSpec = PostgresStatement(
        "spec_to_amend", [.submit, .work],
        """
        SELECT spec FROM job WHERE id = $1 AND owner IS NOT DISTINCT FROM $2::bigint AND state = ANY ($3::integer[])
        FOR UPDATE
        """)

    private static let failedSpec = PostgresStatement(
        "failed_spec_to_amend", [.submit, .work],
        "SELECT spec, error_code FROM job WHERE id = $1 AND state = \(JobStates.failed) FOR UPDATE")

    private static let amendment = PostgresStatement(
        "amend_job", [.submit, .work], JobColumn.update([.spec, .priority]))

    private static let known = PostgresStatement(
        "known_job", .submit,
        """
        SELECT job.id, job.fingerprint FROM job JOIN batch ON batch.id = job.batch
        WHERE batch.name = $1 AND job.key = md5($2)::uuid AND job.identity = $2
        """)

    package static let statements = [
        waitingSpec, failedSpec, amendment, known,
    ]
}
