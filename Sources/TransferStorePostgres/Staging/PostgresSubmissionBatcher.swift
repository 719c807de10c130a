import TransferCore
package import TransferJobs
package import TransferStore

/// A receiver of a reader's jobs, which it inserts into a table of this connection alone. The queue's own tables are
/// changed after all of them are there.
package final class PostgresSubmissionBatcher: JobSubmissionBatcher {
    /// A job that needs others, which may follow it.
    package struct Needing {
        package let number: Int
        package let identity: String
        package let needs: [String]
        package let place: JobLocations?
    }

    /// The columns of a staged job that both the queue's table and the table of this connection have.
    package static let columns = """
        identity, line, place, width, number, priority, origin, network, destination, spec, is_upload, fingerprint,
        has_secrets, tells_hook, network_places, tags
        """

    private static let table = """
        CREATE TEMPORARY TABLE IF NOT EXISTS staged (
            position BIGINT NOT NULL, identity TEXT NOT NULL, line INTEGER, place INTEGER, width INTEGER, number BIGINT,
            priority BIGINT NOT NULL, origin TEXT NOT NULL, network TEXT NOT NULL, destination TEXT NOT NULL,
            spec TEXT NOT NULL, is_upload BOOLEAN NOT NULL, fingerprint BIGINT NOT NULL, has_secrets BOOLEAN NOT NULL,
            tells_hook BOOLEAN NOT NULL, network_places TEXT, tags TEXT NOT NULL,
            -- Whether the job has an ID, a relative path, and a place in a list of URLs.
            has_id BOOLEAN NOT NULL, is_relative BOOLEAN NOT NULL, is_listed BOOLEAN NOT NULL,
            key UUID NOT NULL GENERATED ALWAYS AS (md5(identity)::uuid) STORED
        )
        """

    private static let making = PostgresStatement("make_staging", .submit, table, staging: .makes)

    private static let emptying = PostgresStatement("empty_staging", .submit, "TRUNCATE staged", staging: .reads)

    /// The analysis lets the server plan the later joins by the number of jobs.
    private static let analysis = PostgresStatement("analyze_staging", .submit, "ANALYZE staged", staging: .reads)

    package static let statements = [making, emptying, analysis]

    package var isPartial = false
    package private(set) var count = 0
    package private(set) var secrets: [Int: JobSecrets] = [:]
    package private(set) var needing: [Needing] = []
    package private(set) var format: JobFileFormat?
    package private(set) var hasIDs = false

    private let copy: PostgresCopy
    private let directory: String
    private let isForOthers: Bool
    /// The faults of jobs that cannot be taken.
    package private(set) var report = JobFileReport()
    private var origins = OriginMemory()

    /// - Parameter isForOthers: Whether other machines do the jobs. These know nothing of the jobs that is not stored,
    ///   and run no hooks.
    package init(_ db: PostgresConnection, directory: String, isForOthers: Bool) throws {
        self.directory = directory
        self.isForOthers = isForOthers
        try db.post(Self.making)
        try db.post(Self.emptying)
        copy = try PostgresCopy(
            db, "COPY staged (position, \(Self.columns), has_id, is_relative, is_listed) FROM STDIN")
    }

    package func add(_ spec: JobSpec, at place: JobLocations?) throws {
        try add(StagedJob(spec, at: place, directory: directory, origins: &origins))
    }

    package func add(_ job: StagedJob) throws {
        let (number, row, spec) = (count, job.row, job.spec)
        count += 1
        if let secrets = job.secrets {
            self.secrets[number] = secrets
            if isForOthers { refuse(job, Self.secretRefusal) }
        }
        if isForOthers, spec.tellsHook { refuse(job, Self.hookRefusal) }
        if !spec.needs.isEmpty {
            needing.append(Needing(number: number, identity: row.identity, needs: spec.needs, place: job.place))
        }
        if let place = job.place { format = place.format }
        if spec.id != nil { hasIDs = true }
        try copy.add { rows in
            rows.add(number)
            rows.add(row.identity)
            rows.add(row.span?.line)
            rows.add(row.span?.column)
            rows.add(row.span?.length)
            rows.add(row.number)
            rows.add(row.priority)
            rows.add(row.origin)
            rows.add(row.network)
            rows.add(row.destination)
            rows.add(row.text)
            rows.add(row.isUpload)
            rows.add(row.fingerprint)
            rows.add(row.hasSecrets)
            rows.add(spec.tellsHook)
            rows.add(row.networkPlaces)
            rows.add(row.tags)
            rows.add(spec.id != nil)
            rows.add(spec.hasRelativePath)
            rows.add(job.place?.format.isList == true)
        }
    }

    static let secretRefusal =
        "its URL or its headers hold a secret, which a queue of many machines does not keep: name it, "
        + "{\"credential\": \"NAME\"}, and workers that have one of that name use it"

    /// The refusal of jobs, and of a batch, that name a hook.
    static var hookRefusal: String {
        "\"onFinish\" would have other machines run a command or ask a server, which workers refuse: leave it out"
            + CommandPhrases.only(", and \"transfer wait\" returns when all has ended")
    }

    private func refuse(_ job: StagedJob, _ message: String) {
        let place = job.place
        report.add(JobFileFault("\(job.row.identity): \(message)") { place?.destinationFault($0) })
        report.jobCount = count
    }

    /// Ends the insertion, after all jobs are there.
    package func finish(_ db: PostgresConnection) throws {
        try copy.finish()
        try db.post(Self.analysis)
    }

    package func giveUp() { copy.giveUp() }
}
