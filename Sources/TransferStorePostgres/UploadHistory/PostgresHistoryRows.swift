import TransferCore
import TransferJobs
import TransferStore
import TransferWatch

/// Reads the parts of the upload history that rules decide about, inside one transaction that holds the folder's row.
/// All changes of a folder's history take turns by that lock.
package enum PostgresHistoryRows {
    /// Returns the part of the history that offers need. The unclaimed jobs of these versions are locked, so that none
    /// of them is claimed before the transaction ends.
    static func graph(
        _ db: PostgresConnection, _ offers: [HistoryOffer], folder: Int64, batch: Int64, plan: WatchPlan
    ) throws -> UploadHistoryGraph {
        var graph = UploadHistoryGraph()
        let query = UploadHistoryQuery(offers)
        let found = try db.run(
            Self.entriesOfKeys,
            [
                folder, PostgresArray(query.versions.map(\.inode)), PostgresArray(query.versions.map(\.size)),
                PostgresArray(query.paths), PostgresArray(query.entries),
            ])
        for row in found { graph.load(entry(row)) }
        let urls = query.urls(plan, graph)
        if !urls.isEmpty {
            for row in try db.run(Self.entriesOfPlaces, [folder, PostgresArray(urls)]) { graph.load(entry(row)) }
        }
        try addJobs(db, batch: batch, to: &graph)
        return graph
    }

    /// Returns all versions that are not confirmed, with their jobs.
    static func unconfirmed(_ db: PostgresConnection, folder: Int64, batch: Int64) throws -> UploadHistoryGraph {
        var graph = UploadHistoryGraph()
        for row in try db.run(Self.unconfirmedEntries, [folder]) { graph.load(entry(row)) }
        try addJobs(db, batch: batch, to: &graph)
        return graph
    }

    private static func addJobs(_ db: PostgresConnection, batch: Int64, to graph: inout UploadHistoryGraph) throws {
        let entries = PostgresArray(graph.entries.keys.sorted())
        try db.post(Self.lockingJobs, [entries])
        let named = PostgresArray(graph.entries.values.compactMap(\.job).sorted())
        for row in try db.run(Self.jobsOfEntries, [entries, named]) { graph.load(job(row)) }
        try addFollowers(db, of: [batch], to: &graph)
    }

    /// Adds all jobs of the batches that follow others, the jobs that they follow, and the versions of both.
    static func addFollowers(
        _ db: PostgresConnection, of batches: [Int64], to graph: inout UploadHistoryGraph
    ) throws {
        for row in try db.run(Self.followers, [PostgresArray(batches)]) { graph.load(job(row)) }
        try addEntries(db, to: &graph)
    }

    /// Returns the part of the history that ends and steps of jobs need.
    ///
    /// - Parameter places: The URLs to which renamed files may have been uploaded.
    static func graph(
        _ db: PostgresConnection, ofJobs ids: [Int64], folders: [Int64], batches: [Int64], places: [String]
    ) throws -> UploadHistoryGraph {
        var graph = UploadHistoryGraph()
        let (own, renamed) = (
            try db.post(Self.jobsOfNumbers, [PostgresArray(ids)]),
            try db.post(Self.renamedEntries, [PostgresArray(folders), PostgresArray(places)])
        )
        for row in try own.rows() { graph.load(job(row)) }
        for row in try renamed.rows() { graph.load(entry(row)) }
        try addFollowers(db, of: batches, to: &graph)
        return graph
    }

    /// Returns the jobs of the batch that follow others, and the jobs that they follow.
    static func followers(_ db: PostgresConnection, of batch: Int64) throws -> UploadHistoryGraph {
        var graph = UploadHistoryGraph()
        for row in try db.run(Self.followers, [PostgresArray([batch])]) { graph.load(job(row)) }
        return graph
    }

    /// Adds the versions of all jobs that the graph holds.
    private static func addEntries(_ db: PostgresConnection, to graph: inout UploadHistoryGraph) throws {
        let missing = Set(graph.jobs.values.map(\.entry)).filter { graph.entries[$0] == nil }
        guard !missing.isEmpty else { return }
        for row in try db.run(Self.entriesOfNumbers, [PostgresArray(missing.sorted())]) { graph.load(entry(row)) }
    }

    // MARK: Rows

    /// Reads a version from a row of the ``columns``.
    static func entry(_ row: PostgresRow) -> UploadHistoryEntry {
        UploadHistoryEntry { column in
            switch column.kind {
            case .number: JobValue(row.number(column.place))
            case .flag: .flag(row.flag(column.place))
            case .text: JobValue(row.text(column.place))
            }
        }
    }

    private static func job(_ row: PostgresRow) -> UploadHistoryJob {
        UploadHistoryJob(
            id: row.number(0) ?? 0, entry: row.number(1) ?? 0, identity: row.text(2) ?? "",
            state: JobState(stored: row.int(3) ?? 0), lane: PostgresLane.lane(row, from: 4),
            destination: row.text(8) ?? "", fingerprint: row.number(9) ?? 0, follows: row.number(10),
            mayHaveArrived: row.flag(11), keepsTime: row.flag(12))
    }

    // MARK: Statements

    static let columns = HistoryColumn.allCases.map { "upload_history.\($0.rawValue)" }.joined(separator: ", ")

    private static let jobColumns = """
        SELECT job.id, job.history, job.identity, job.state, job.batch, job.origin, job.network, job.tags,
            job.destination, job.fingerprint, job.follows,
            job.state = \(JobStates.failed) AND job.error_code IS NOT DISTINCT FROM 'mayHaveBeenSent',
            job.state = \(JobStates.failed) AND job.not_before IS NOT NULL
                AND coalesce(job.error_code, '') NOT IN ('checksumMismatch', 'digestUnknown')
        FROM
        """

    private static let entriesOfKeys = PostgresStatement(
        "history_of_keys", .submit,
        """
        SELECT \(columns) FROM upload_history
        WHERE folder = $1 AND (inode, size) IN (SELECT * FROM unnest($2::bigint[], $3::bigint[]))
        UNION ALL SELECT \(columns) FROM upload_history
        WHERE folder = $1 AND md5(path) IN (SELECT md5(name) FROM unnest($4::text[]) AS name)
        UNION ALL SELECT \(columns) FROM upload_history WHERE folder = $1 AND id = ANY ($5::bigint[])
        """)

    private static let entriesOfPlaces = PostgresStatement(
        "history_of_places", .submit,
        """
        SELECT \(columns) FROM upload_history
        WHERE folder = $1 AND job IS NOT NULL AND md5(url) IN (SELECT md5(place) FROM unnest($2::text[]) AS place)
        """)

    private static let renamedEntries = PostgresStatement(
        "renamed_history", [.submit, .work],
        """
        SELECT \(columns) FROM upload_history WHERE folder = ANY ($1::bigint[]) AND is_renamed
            AND md5(url) IN (SELECT md5(place) FROM unnest($2::text[]) AS place)
        """)

    private static let unconfirmedEntries = PostgresStatement(
        "unconfirmed_history", .submit,
        "SELECT \(columns) FROM upload_history WHERE folder = $1 AND job IS NOT NULL")

    private static let entriesOfNumbers = PostgresStatement(
        "history_of_numbers", [.submit, .work],
        "SELECT \(columns) FROM upload_history WHERE id = ANY ($1::bigint[])")

    private static let lockingJobs = PostgresStatement(
        "lock_watched_jobs", .submit,
        """
        SELECT count(*) FROM (
            SELECT FROM job WHERE history = ANY ($1::bigint[]) AND state <> \(JobStates.claimed) ORDER BY id FOR UPDATE
        ) AS locked
        """)

    private static let jobsOfEntries = PostgresStatement(
        "watched_jobs", .submit,
        """
        \(jobColumns) job
        WHERE history = ANY ($1::bigint[]) AND (state < \(JobStates.firstEnded) OR id = ANY ($2::bigint[]))
        """)

    private static let jobsOfNumbers = PostgresStatement(
        "watched_jobs_of_numbers", [.submit, .work],
        "\(jobColumns) job WHERE id = ANY ($1::bigint[]) AND history IS NOT NULL")

    private static let followers = PostgresStatement(
        "following_jobs", [.submit, .work],
        """
        \(jobColumns) job WHERE batch = ANY ($1::bigint[]) AND follows IS NOT NULL AND history IS NOT NULL
        UNION ALL \(jobColumns) job AS follower JOIN job ON job.id = follower.follows
        WHERE follower.batch = ANY ($1::bigint[]) AND follower.follows IS NOT NULL AND job.history IS NOT NULL
        """)

    package static let statements = [
        entriesOfKeys, entriesOfPlaces, renamedEntries, unconfirmedEntries, entriesOfNumbers, lockingJobs,
        jobsOfEntries,
        jobsOfNumbers, followers,
    ]
}
