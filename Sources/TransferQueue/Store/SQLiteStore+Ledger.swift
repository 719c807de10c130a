import CTransferFailpoint
import GRDB
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferWatch

/// A watched folder's rows, as they are read.
struct LedgerRow: Sendable {
    let id: Int64
    /// As it was recorded.
    let version: FileVersion
    let state: LedgerState
    let digest: Checksum?
    /// It wasn't found at its path.
    var isGone = false
    /// When it was taken into the ledger, in milliseconds since 1970.
    var staged: Int64 = 0
    /// Of what was sent of it (``SourceFile/sentFingerprint``), or was to be sent.
    var fingerprint: UInt64?
    /// The file's job was cancelled, or may have arrived: the file isn't sent unasked.
    var isGivenUp = false

    /// Whether anything of the file has changed since it was recorded, if only its name.
    ///
    /// By the file system's time alone, which may be behind the clock: by a tick of the kernel (`CLOCK_REALTIME_COARSE`),
    /// or by as much as a server's clock is.
    func mayHaveChanged(_ now: FileStamp) -> Bool {
        // Recorded by a program that noted the clock's time only.
        if version.stamp.changed == nil, let changed = now.changed { return changed / 1_000_000 > staged }
        return version.stamp.onAnyDevice.likeness(to: now) != .same
    }
}

extension LedgerRow {
    static let columns =
        "ledger.id, device, inode, ledger.size, ledger.modified, ledger.path, ledger.state, ledger.digest, ledger.gone IS NOT NULL, ledger.staged, ledger.changed, ledger.fingerprint, "
        + "EXISTS (SELECT 1 FROM job WHERE job.id = ledger.job AND (job.state = \(JobStates.cancelled) OR job.state = \(JobStates.failed) AND job.errorCode = 'mayHaveBeenSent'))"

    init(_ row: Row) {
        id = row[0]
        version = FileVersion(
            device: UInt64(bitPattern: row[1] as Int64), inode: UInt64(bitPattern: row[2] as Int64), size: row[3],
            modified: row[4], path: row[5], changed: row[10])
        state = LedgerState(rawValue: row[6]) ?? .open
        let digest: String? = row[7]
        self.digest = digest.flatMap { Checksum($0) }
        isGone = row[8]
        staged = row[9]
        fingerprint = (row[11] as Int64?).map { UInt64(bitPattern: $0) }
        isGivenUp = row[12]
    }
}

extension FileVersion {
    /// As the ledger has it; 0 where it isn't known.
    var deviceBits: Int64 { Int64(bitPattern: stamp.device ?? 0) }
    var inodeBits: Int64 { Int64(bitPattern: stamp.inode ?? 0) }
}

/// What the ledger says of a version that is offered.
indirect enum LedgerLook: Sendable {
    case known(LedgerRow)
    /// It's known, and was missed at its path.
    case returned(LedgerRow)
    /// It's known, from a file system that had another number then.
    case onOtherDevice(LedgerRow)
    /// A file with this path, size and time had another inode: the folder may have been copied, or mounted anew where files
    /// have no numbers of their own, or whole seconds only.
    ///
    /// - Parameter otherwise: If it's not that one.
    case renumbered(LedgerRow, otherwise: LedgerLook)
    /// A file with this path and size had another inode and another time: another version, or the same bytes written anew
    /// (`cp -r`, an editor that saves by a rename, a restored copy).
    ///
    /// - Parameter otherwise: If it's not that one.
    case replaced(LedgerRow, otherwise: LedgerLook)
    /// It's known with another path.
    case elsewhere(LedgerRow)
    /// The same file with the same size had another time when it was recorded.
    case otherTime(LedgerRow)
    case unknown
}

extension SQLiteStore {
    /// Looks many versions up at once.
    func look(_ files: [FileVersion], folder: Int64) throws -> [LedgerLook] {
        try read { db in try files.map { try Self.look(db, $0, folder: folder) } }
    }

    static func look(_ db: Database, _ version: FileVersion, folder: Int64) throws -> LedgerLook {
        let statement = try db.cachedStatement(
            sql: "SELECT \(LedgerRow.columns) FROM ledger WHERE folder = ? AND inode = ? AND size = ? ORDER BY id DESC")
        let rows = try Row.fetchAll(
            statement, arguments: [folder, version.inodeBits, version.size])
        var look = LedgerLook.unknown
        for row in rows.lazy.map(LedgerRow.init) where row.state != .old {
            let isOnDevice = row.version.stamp.device == version.stamp.device
            switch row.version.stamp.onAnyDevice.likeness(to: version.stamp) {
            case .same, .touched:
                if PathKey(row.version.path) == PathKey(version.path) {
                    guard isOnDevice else { return .onOtherDevice(row) }
                    return row.isGone ? .returned(row) : .known(row)
                }
                look = .elsewhere(row)
            case .retimed:
                if case .unknown = look, isOnDevice { look = .otherTime(row) }
            case .other: break
            }
        }
        let named = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT \(LedgerRow.columns) FROM ledger
                    WHERE folder = ? AND path = ? AND size = ? AND inode <> ? ORDER BY id DESC
                    """),
            arguments: [folder, version.path, version.size, version.inodeBits]
        ).map(LedgerRow.init)
        if let row = named.first(where: { FileStamp.mayBeSameTime($0.version.modified, version.modified) }) {
            return .renumbered(row, otherwise: look)
        }
        return named.first { $0.state != .old }.map { .replaced($0, otherwise: look) } ?? look
    }

    static func watchedVersion(_ db: Database, ledger: Int64) throws -> WatchedVersion {
        let statement = try db.cachedStatement(
            sql: """
                SELECT inode, size, modified, digest, verifies, changed, failures, fingerprint
                FROM ledger JOIN watchedFolder ON watchedFolder.id = ledger.folder WHERE ledger.id = ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [ledger]) else {
            // Nothing is this version, so that the job is dropped.
            return WatchedVersion(
                ledger: ledger, stamp: FileStamp(inode: 0, size: -1, modified: 0), digest: nil, verifies: false)
        }
        let digest: String? = row[3]
        let stamp = FileStamp(
            inode: UInt64(bitPattern: row[0] as Int64), size: row[1], modified: row[2], changed: row[5])
        return WatchedVersion(
            ledger: ledger, stamp: stamp, digest: digest.flatMap { Checksum($0) }, verifies: row[4],
            failures: row[6], fingerprint: (row[7] as Int64?).map { UInt64(bitPattern: $0) })
    }

    /// Before the jobs of a batch are forgotten: what isn't to be tried again by itself stays so.
    static func leaveAlone(_ db: Database, batch name: String) throws {
        try db.execute(
            sql: """
                UPDATE ledger SET state = \(LedgerStates.leftAlone), job = NULL FROM job JOIN batch ON batch.id = job.batch
                WHERE batch.name = ? AND ledger.id = job.ledger AND ledger.job = job.id
                    AND (job.state = \(JobStates.cancelled) OR (job.state = \(JobStates.failed) AND job.errorCode = 'mayHaveBeenSent'))
                """, arguments: [name])
    }

    static func forgetLedger(_ db: Database, batch name: String) throws {
        try db.execute(
            sql: "DELETE FROM watchedFolder WHERE batch IN (SELECT id FROM batch WHERE name = ?)", arguments: [name])
    }

    /// Begins to watch: holds the batch, and brings what hasn't been confirmed into line with the rules as they are now.
    ///
    /// Failed jobs keep their time, unless the rules for them have changed; those that were cancelled, paused, or may have
    /// arrived stay as they are.
    func openLedger(_ plan: WatchPlan) throws -> OpenedLedger {
        try ledgerTransaction { db in
            try StoredWait.follow(db)
            let batch = try hold(db, BatchHeader(name: plan.batch, source: nil, directory: plan.root))
            let now = Int64(WallClock.now * 1e9)
            let url = Redaction.url("\(plan.template)")
            let former = try String.fetchOne(
                db, sql: "SELECT url FROM watchedFolder WHERE path = ?", arguments: [plan.root])
            try db.execute(
                sql: """
                    INSERT INTO watchedFolder (path, batch, since, thenAfter, verifies, url) VALUES (?, ?, ?, ?, ?, ?)
                    ON CONFLICT (path) DO UPDATE SET batch = excluded.batch, thenAfter = excluded.thenAfter,
                        verifies = excluded.verifies, url = excluded.url
                    """, arguments: [plan.root, batch.id, now, plan.thenAfter, plan.spec.verifiesDigest, url])
            let row = try Row.fetchOne(
                db, sql: "SELECT id, since, isPaused FROM watchedFolder WHERE path = ?", arguments: [plan.root])
            guard let row else { throw TransferError(.internalFault, "a watched folder without a row") }
            let folder: Int64 = row[0]
            // What was promised to those that were confirmed follows the rules of today; those that are kept now are
            // looked at once more.
            try db.execute(
                sql: "UPDATE ledger SET due = confirmed + ?1 WHERE folder = ?2 AND due IS NOT NULL",
                arguments: [plan.thenAfter ?? 0, folder])
            let taker = try LedgerTaker(db, folder: folder, batch: batch.id, plan: plan)
            try taker.renewAll()
            return OpenedLedger(
                folder: folder, batch: batch, since: row[1], isPaused: row[2],
                formerURL: former.flatMap { $0 == url ? nil : $0 }, changes: try taker.finish(stamp: nextStamp()),
                nextFailed: try Self.nextFailed(db, batch: batch.id))
        }
    }

    /// Takes what is to be taken of versions that have been looked up; all in one durable transaction.
    func take(_ offers: [LedgerOffer], folder: Int64, plan: WatchPlan) throws -> (HeldBatch, LedgerChanges) {
        try ledgerTransaction { db in
            let batch = try hold(db, BatchHeader(name: plan.batch, source: nil, directory: plan.root))
            try db.execute(
                sql: "UPDATE watchedFolder SET batch = ?1 WHERE id = ?2 AND batch IS NOT ?1",
                arguments: [batch.id, folder])
            let taker = try LedgerTaker(db, folder: folder, batch: batch.id, plan: plan)
            for offer in offers {
                guard try taker.take(offer) else { break }
                taker.changes.handled += 1
            }
            return (batch, try taker.finish(stamp: nextStamp()))
        }
    }

    /// - Throws: `TransferError` when another process has the folder.
    private func ledgerTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        var value: Value?
        do {
            try database.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    try Self.unpackAll(db)
                    value = try body(db)
                    Failpoint.reached(.ledgerUncommitted)
                    return .commit
                }
            }
        } catch StagingFailure.held(let held) {
            throw TransferError(
                .fileLocked, "\(held.batch.dropFirst("watch:".count)) is watched by another process (pid \(held.pid))")
        }
        guard let value else { throw TransferError(.internalFault, "a transaction without a result") }
        return value
    }
}
