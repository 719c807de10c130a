import CTransferLinux
import Glibc
import Synchronization
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferStore
import TransferWatch

/// Watched folders and the versions of their files, as several machines share them. Each change of a folder's history
/// first locks the folder's row. So two watchers of one folder take turns, and each version is staged once.
package final class PostgresHistory: Sendable {
    let database: PostgresDatabase
    let batches: PostgresBatches
    private let stamps: HistoryStamps
    /// The paths of the folders that this process watches, by the folders' numbers.
    private let roots = Mutex<[Int64: String]>([:])

    init(database: PostgresDatabase, batches: PostgresBatches, stamps: HistoryStamps) {
        self.database = database
        self.batches = batches
        self.stamps = stamps
    }

    /// Returns a number that grows from transaction to transaction of this process.
    func nextStamp() -> Int { stamps.next() }

    // MARK: Devices

    /// Returns a version as the database stores it. The number of the folder's own file system differs between
    /// machines, and is stored as 0.
    func stored(_ version: FileVersion, in folder: Int64) -> FileVersion {
        var version = version
        if version.stamp.device == device(of: folder) { version.stamp.device = 0 }
        return version
    }

    func local(_ row: HistoryRow, in folder: Int64) -> HistoryRow {
        guard row.version.stamp.device == 0, let device = device(of: folder) else { return row }
        var version = row.version
        version.stamp.device = device
        return HistoryRow(
            id: row.id, version: version, state: row.state, digest: row.digest, isGone: row.isGone, staged: row.staged,
            fingerprint: row.fingerprint, isGivenUp: row.isGivenUp)
    }

    private func device(of folder: Int64) -> UInt64? {
        guard let root = roots.withLock({ $0[folder] }) else { return nil }
        var status = stat()
        return stat(root, &status) == 0 ? UInt64(status.st_dev) : nil
    }

    // MARK: Opening

    func open(_ plan: WatchPlan) throws -> OpenedHistory {
        try refuseWhatOthersLack(plan)
        let url = Redaction.url("\(plan.template)")
        let opened = try held {
            try database.writeFenced { db in
                let batch = try batches.hold(db, BatchHeader(name: plan.batch, source: nil, directory: plan.root))
                let key: [(any PostgresValue)?] = [plan.root, plan.machine ?? ""]
                let former = try db.run(Self.folderSearch, key).first?.text(0)
                let row = try db.run(
                    Self.folderOpening,
                    key + [batch.id, Int64(WallClock.now * 1e9), plan.thenAfter, plan.spec.verifiesDigest, url]
                ).first
                let folder = row?.number(0) ?? 0
                try db.post(Self.dueChange, [folder, plan.thenAfter ?? 0])
                let graph = try PostgresHistoryRows.unconfirmed(db, folder: folder, batch: batch.id)
                var rule = try self.rule(db, plan, batch: batch.id, graph, isPaused: row?.flag(2) ?? false)
                rule.renewAll()
                let changes = try write(db, rule, folder: folder)
                try finish(db, batch.id, changes)
                if database.role.sharesBatches {
                    try PostgresLeases.add(db, tag: WatchTag.of(folder: folder), database)
                }
                return OpenedHistory(
                    folder: folder, batch: batch, since: row?.number(1) ?? 0, isPaused: row?.flag(2) ?? false,
                    formerURL: former.flatMap { $0 == url ? nil : $0 }, changes: changes,
                    nextFailed: try PostgresHistoryFailures.next(db, batch: batch.id))
            }
        }
        roots.withLock { $0[opened.folder] = plan.root }
        // Processes leave jobs to the watchers of a folder only where they share its batch.
        if database.role.sharesBatches { database.add(tag: WatchTag.of(folder: opened.folder)) }
        return opened
    }

    /// Refuses rules whose jobs need secrets or hooks, because other machines may do the jobs and have neither.
    private func refuseWhatOthersLack(_ plan: WatchPlan) throws {
        guard database.role.bringsForOthers else { return }
        let sample = FileVersion(device: 0, inode: 0, size: 0, modified: 0, path: "name")
        let spec = plan.job(sample, digest: nil, identity: "name")
        if JobSecrets(spec) != nil { throw TransferError(.invalidRequest, PostgresSubmissionBatcher.secretRefusal) }
        if spec.tellsHook { throw TransferError(.invalidRequest, PostgresSubmissionBatcher.hookRefusal) }
    }

    // MARK: Taking files

    func look(_ files: [FileVersion], folder: Int64) throws -> [HistoryAnswer] {
        let files = files.map { stored($0, in: folder) }
        let query = UploadHistoryQuery(files.map { HistoryOffer(version: $0, finding: .moved) })
        let rows = try database.read { db in
            try db.run(
                Self.lookUp,
                [
                    folder, PostgresArray(query.versions.map(\.inode)), PostgresArray(query.versions.map(\.size)),
                    PostgresArray(query.paths),
                ]
            ).map { Self.row($0) }
        }
        var known: [Int64: HistoryRow] = [:]
        for row in rows { known[row.id] = row }
        let newest = known.values.sorted { $0.id > $1.id }
        let (ofFile, ofName) = (
            Dictionary(grouping: newest) { $0.version.inodeBits },
            Dictionary(grouping: newest) { PathKey($0.version.path) }
        )
        return files.map { file in
            HistoryAnswer.of(
                file, sameFile: (ofFile[file.inodeBits] ?? []).filter { $0.version.size == file.size },
                sameName: (ofName[PathKey(file.path)] ?? []).filter {
                    $0.version.size == file.size && $0.version.inodeBits != file.inodeBits
                }
            ).mapped { local($0, in: folder) }
        }
    }

    func take(_ offers: [HistoryOffer], folder: Int64, plan: WatchPlan) throws -> (HeldBatch, HistoryChanges) {
        let offers = offers.map {
            HistoryOffer(version: stored($0.version, in: folder), finding: $0.finding, fingerprint: $0.fingerprint)
        }
        return try held {
            try database.writeFenced { db in
                let isPaused = try lock(db, folder)
                let batch = try batch(db, of: folder, plan)
                let graph = try PostgresHistoryRows.graph(db, offers, folder: folder, batch: batch.id, plan: plan)
                var rule = try self.rule(db, plan, batch: batch.id, graph, isPaused: isPaused)
                rule.take(offers)
                let changes = try write(db, rule, folder: folder)
                try finish(db, batch.id, changes)
                Failpoint.reached(.ledgerUncommitted)
                return (batch, changes)
            }
        }
    }

    /// Locks the row of a folder.
    ///
    /// - Returns: Whether the folder is paused.
    private func lock(_ db: PostgresConnection, _ folder: Int64) throws -> Bool {
        guard let row = try db.run(Self.folderLock, [folder]).first else {
            throw TransferError(.cancelled, "what was uploaded from this folder was forgotten: watch it anew")
        }
        return row.flag(0)
    }

    /// Returns the folder's batch, which is created again if it was forgotten.
    private func batch(_ db: PostgresConnection, of folder: Int64, _ plan: WatchPlan) throws -> HeldBatch {
        if let row = try db.run(Self.batchOfFolder, [folder]).first, let id = row.number(0) {
            return HeldBatch(id: id, name: plan.batch, directory: plan.root)
        }
        let batch = try batches.hold(db, BatchHeader(name: plan.batch, source: nil, directory: plan.root))
        try db.post(Self.batchChange, [folder, batch.id])
        return batch
    }

    private func rule(
        _ db: PostgresConnection, _ plan: WatchPlan, batch: Int64, _ graph: UploadHistoryGraph, isPaused: Bool
    ) throws -> UploadHistoryRule {
        let row = try db.run(Self.openCount, [batch]).first
        return UploadHistoryRule(
            plan, batch: batch, graph: graph, open: row?.int(0) ?? 0, isPaused: isPaused, now: row?.number(1) ?? 0,
            file: UploadHistoryRule.look(at: plan.root))
    }

    private func write(_ db: PostgresConnection, _ rule: UploadHistoryRule, folder: Int64) throws -> HistoryChanges {
        var changes = rule.changes
        try PostgresHistoryWriter.write(db, rule.graph, plan: rule.plan)
        changes.secrets.merge(
            try PostgresHistoryWriter.stage(db, rule.graph, folder: folder, batch: rule.batch, plan: rule.plan)
        ) { $1 }
        if !rule.ownNames.isEmpty { try PostgresOtherNames.forget(db, rule.ownNames, folder: folder) }
        changes.open = try openCount(db, batch: rule.batch)
        changes.stamp = nextStamp()
        return changes
    }

    /// Shares the batch with all processes that work on the queue, or notifies them of new jobs.
    private func finish(_ db: PostgresConnection, _ batch: Int64, _ changes: HistoryChanges) throws {
        if database.role.sharesBatches {
            try batches.share(db, batch)
        } else if !changes.ready.isEmpty {
            try PostgresNotice.work.tell(db)
        }
    }

    func openCount(_ db: PostgresConnection, batch: Int64) throws -> Int {
        try db.run(Self.openCount, [batch]).first?.int(0) ?? 0
    }

    /// Reports a batch that is held as a folder that another process watches.
    ///
    /// - Throws: `TransferError` when another process has the folder.
    private func held<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch StagingFailure.held(let held) {
            throw TransferError(
                .fileLocked, "\(held.batch.dropFirst("watch:".count)) is watched by another process (pid \(held.pid))")
        }
    }

    // MARK: Commands

    /// Applies a command on a batch to its watched folder. Files that arrive while it is paused are paused, and jobs
    /// that wait for a cancelled job continue.
    static func follow(_ db: PostgresConnection, _ verb: QueueVerb, batch: Int64, job: String?) throws {
        switch verb {
        case .pause, .resume:
            if job == nil { try db.post(Self.pausing, [batch, verb == .pause]) }
        case .cancel:
            var graph = try PostgresHistoryRows.followers(db, of: batch)
            _ = graph.releaseFollowers()
            try PostgresHistoryWriter.write(db, graph, plan: nil)
        case .retry, .retryFailed: break
        }
    }

    // MARK: Rows

    /// Returns the history row of a database row with the columns ``rowColumns``.
    static func row(_ row: PostgresRow) -> HistoryRow {
        HistoryRow(PostgresHistoryRows.entry(row), isGivenUp: row.flag(HistoryColumn.allCases.count))
    }

    /// The columns of ``row(_:)``.
    static let rowColumns = """
        \(PostgresHistoryRows.columns), EXISTS (SELECT FROM job WHERE job.id = upload_history.job
            AND (job.state = \(JobStates.cancelled)
                OR job.state = \(JobStates.failed) AND job.error_code IS NOT DISTINCT FROM 'mayHaveBeenSent'))
        """

    // MARK: Statements

    private static let folderSearch = PostgresStatement(
        "watched_folder", .submit, "SELECT url FROM watched_folder WHERE path = $1 AND machine = $2 FOR UPDATE")

    private static let folderOpening = PostgresStatement(
        "open_watched_folder", .submit,
        """
        INSERT INTO watched_folder (path, machine, batch, since, then_after, verifies, url)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (path, machine) DO UPDATE SET batch = excluded.batch, then_after = excluded.then_after,
            verifies = excluded.verifies, url = excluded.url
        RETURNING id, since, is_paused
        """)

    /// The due times of confirmed files follow the current rules. Files that are only kept now are examined once more.
    private static let dueChange = PostgresStatement(
        "change_due_history", .submit,
        "UPDATE upload_history SET due = confirmed + $2 WHERE folder = $1 AND due IS NOT NULL")

    private static let folderLock = PostgresStatement(
        "lock_watched_folder", .submit, "SELECT is_paused FROM watched_folder WHERE id = $1 FOR UPDATE")

    private static let batchOfFolder = PostgresStatement(
        "batch_of_folder", .submit,
        """
        SELECT batch.id FROM batch WHERE id = (SELECT watched_folder.batch FROM watched_folder WHERE watched_folder.id = $1)
        FOR KEY SHARE
        """)

    private static let batchChange = PostgresStatement(
        "set_batch_of_folder", .submit, "UPDATE watched_folder SET batch = $2 WHERE id = $1")

    private static let openCount = PostgresStatement(
        "count_open_watched", [.submit, .work],
        """
        SELECT count(*), \(PostgresClock.now) FROM job
        WHERE batch = $1 AND history IS NOT NULL AND state < \(JobStates.firstEnded)
        """)

    private static let pausing = PostgresStatement(
        "pause_folder", [.submit, .work], "UPDATE watched_folder SET is_paused = $2 WHERE batch = $1")

    private static let lookUp = PostgresStatement(
        "look_up_history", .submit,
        """
        SELECT \(rowColumns) FROM upload_history
        WHERE folder = $1 AND (inode, size) IN (SELECT * FROM unnest($2::bigint[], $3::bigint[]))
        UNION ALL SELECT \(rowColumns) FROM upload_history
        WHERE folder = $1 AND md5(path) IN (SELECT md5(name) FROM unnest($4::text[]) AS name)
        """)

    package static let statements = [
        folderSearch, folderOpening, dueChange, folderLock, batchOfFolder, batchChange, openCount, pausing, lookUp,
    ]
}

extension HistoryAnswer {
    /// Returns the same answer with other rows.
    fileprivate func mapped(_ map: (HistoryRow) -> HistoryRow) -> HistoryAnswer {
        switch self {
        case .known(let row): .known(map(row))
        case .returned(let row): .returned(map(row))
        case .onOtherDevice(let row): .onOtherDevice(map(row))
        case .renumbered(let row, let otherwise): .renumbered(map(row), otherwise: otherwise.mapped(map))
        case .replaced(let row, let otherwise): .replaced(map(row), otherwise: otherwise.mapped(map))
        case .elsewhere(let row): .elsewhere(map(row))
        case .otherTime(let row): .otherTime(map(row))
        case .unknown: .unknown
        }
    }
}
