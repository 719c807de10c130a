import TransferCore
import TransferEngine
import TransferJobs
import TransferStore
import TransferWatch

/// Writes the effects of ends and steps of jobs on watched folders, in the transaction that records them, in any
/// process.
struct PostgresWatchedRecords {
    private var rule: UploadHistoryEnds
    private let batches: Set<Int64>
    private let history: PostgresHistory

    /// Reads the rows that a decision needs. The rows of the folders are locked after those of the jobs.
    ///
    /// - Returns: `nil` if none of the jobs belongs to a watched folder.
    init?(_ db: PostgresConnection, _ ends: [JobEnd], _ steps: [JobStep], _ history: PostgresHistory) throws {
        let jobs = ends.filter(\.isWatched).map(\.id) + steps.filter(\.isWatched).map(\.id)
        guard !jobs.isEmpty else { return nil }
        let wanted = Set(ends.filter(\.isWatched).map(\.batch) + steps.filter(\.isWatched).map(\.batch))
        var (folders, numbers): ([Int64: UploadHistoryEnds.Folder], [Int64]) = ([:], [])
        var now: Int64 = 0
        for row in try db.run(Self.folders, [PostgresArray(wanted.sorted())]) {
            numbers.append(row.number(0) ?? 0)
            folders[row.number(1) ?? 0] = UploadHistoryEnds.Folder(root: row.text(2) ?? "", thenAfter: row.number(3))
            now = row.number(4) ?? 0
        }
        guard !folders.isEmpty else { return nil }
        let graph = try PostgresHistoryRows.graph(
            db, ofJobs: jobs, folders: numbers, batches: folders.keys.sorted(),
            places: ends.compactMap { $0.completion?.receipt.finalURL })
        batches = Set(folders.keys)
        self.history = history
        rule = UploadHistoryEnds(graph: graph, folders: folders, now: now)
    }

    /// Decides the effects of ends and steps.
    ///
    /// - Returns: The steps of jobs that continue.
    mutating func decide(_ ends: [JobEnd], _ steps: [JobStep]) -> [JobStep] {
        for (index, end) in ends.enumerated() where end.isWatched { rule.record(end.onAnyDevice, index: index) }
        return steps.filter { !rule.supersedes($0) }
    }

    /// Writes the decisions, after the ends themselves.
    mutating func write(_ db: PostgresConnection, _ recorded: inout RecordedGroup) throws {
        for (lane, count) in rule.finish() { recorded.unblocked[lane, default: 0] += count }
        if !recorded.unblocked.isEmpty { try PostgresNotice.work.tell(db) }
        try PostgresHistoryWriter.write(db, rule.graph, plan: nil)
        try db.post(Self.forgetting, [PostgresArray(batches.sorted()), UploadHistoryEnds.completeJobsKept])
        recorded.watched = rule.result
        for batch in batches { recorded.watched.open[batch] = try history.openCount(db, batch: batch) }
        recorded.watched.stamp = history.nextStamp()
    }

    // MARK: Statements

    private static let folders = PostgresStatement(
        "lock_folders_of_batches", [.submit, .work],
        """
        SELECT id, batch, path, then_after, \(PostgresClock.now) FROM watched_folder
        WHERE batch = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE
        """)

    private static let forgetting = PostgresStatement(
        "forget_watched_ends", [.submit, .work],
        """
        DELETE FROM job WHERE batch = ANY ($1::bigint[]) AND history IS NOT NULL AND state = \(JobStates.done)
            AND end_number <= \(PostgresEndNumbers.taken) - $2::bigint
        """)

    static let statements = [
        folders, forgetting,
    ]
}

extension JobEnd {
    /// The end without the number of the source's file system, which differs between machines.
    fileprivate var onAnyDevice: JobEnd {
        var end = self
        switch outcome {
        case .done(let receipt, let facts): end.outcome = .done(receipt, facts?.onAnyDevice)
        case .kept(let receipt, let facts): end.outcome = .kept(receipt, facts?.onAnyDevice)
        case .failed, .cancelled, .dropped: break
        }
        return end
    }
}
