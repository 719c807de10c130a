package import GRDB
package import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore
package import TransferWatch

/// The taking of versions into the upload history and the staging of their jobs, inside one transaction.
package final class HistoryWriter {
    package let db: Database
    package let folder: Int64
    package let batch: Int64
    package let plan: WatchPlan
    package var changes = HistoryChanges()
    private var room: Int
    /// Whether the folder is paused: jobs that are added then are paused too.
    private let isFolderPaused: Bool
    private let now = WallClock.milliseconds

    package init(_ db: Database, folder: Int64, batch: Int64, plan: WatchPlan) throws {
        self.db = db
        self.folder = folder
        self.batch = batch
        self.plan = plan
        room = try WatchPlan.capacity - WatchedJobs.countOpen(db, batch: batch)
        isFolderPaused =
            try Bool.fetchOne(db, sql: "SELECT isPaused FROM watchedFolder WHERE batch = ?", arguments: [batch])
            ?? false
    }

    /// - Parameter stamp: The number of this transaction (``HistoryStamps``).
    package func finish(stamp: Int) throws -> HistoryChanges {
        for (lane, count) in try WatchedJobs.releaseFollowers(db, batch: batch) {
            changes.ready[lane, default: 0] += count
        }
        changes.open = try WatchedJobs.countOpen(db, batch: batch)
        changes.stamp = stamp
        return changes
    }

    /// - Returns: Whether there was room for the version.
    package func take(_ offer: HistoryOffer) throws -> Bool {
        let version = offer.version
        switch offer.finding {
        case .nothing, .outdated, .later, .otherName: return true
        case .renumbered(let row):
            try db.execute(
                sql:
                    "UPDATE ledger SET device = ?, inode = ?, modified = ?, changed = CASE state WHEN \(HistoryStates.confirmed) THEN ? ELSE changed END WHERE id = ?",
                arguments: [
                    version.deviceBits, version.inodeBits, version.modified, version.stamp.changed, row,
                ])
            try cameBack(row)
            return true
        case .returned(let row):
            try cameBack(row)
            return true
        case .touched(let row):
            return try touch(row, as: version)
        case .looked(let row, let time):
            try db.execute(
                sql:
                    "UPDATE ledger SET changed = ? WHERE id = ? AND state IN (\(HistoryStates.confirmed), \(HistoryStates.failed))",
                arguments: [time, row])
            return true
        case .rewritten(let row, let digest):
            // A failed version is removed with its job.
            let state = try Int.fetchOne(db, sql: "SELECT state FROM ledger WHERE id = ?", arguments: [row])
            guard try state == HistoryState.failed.rawValue || replace(row) else { return true }
            return try add(version, digest: digest, fingerprint: offer.fingerprint)
        case .another(let row, let digest):
            try forget(row, unlessOnOtherDeviceThan: version)
            return try takeNew(offer, digest: digest, isAnother: true)
        case .moved: return try takeNew(offer, digest: nil)
        case .new(let digest): return try takeNew(offer, digest: digest)
        }
    }

    /// - Parameter isAnother: Whether the file is none that was known before.
    private func takeNew(_ offer: HistoryOffer, digest: Checksum?, isAnother: Bool = false) throws -> Bool {
        let version = offer.version
        var look = try HistoryAnswer.of(db, version, folder: folder)
        switch look {
        case .renumbered(_, let otherwise), .replaced(_, let otherwise): look = otherwise
        default: break
        }
        switch look {
        case .known, .onOtherDevice: return true
        case .returned(let row):
            try cameBack(row.id)
            return true
        case .elsewhere(let row):
            // The version is a hard link of which both names were offered together.
            if isThere(version, at: row.version.path) {
                changes.otherNames.append((row.version.path, version.path))
                return true
            }
            if !isAnother { return try move(row, to: version) }
        case .otherTime(let row):
            // The file is another version now, so the recorded version no longer exists.
            try replace(row.id)
        case .unknown, .renumbered, .replaced: break
        }
        return try add(version, digest: digest, fingerprint: offer.fingerprint)
    }

    /// Forgets a row whose inode belongs to another file now, so that its own file no longer exists. A row of another
    /// device stays, because that disk may return.
    private func forget(_ row: Int64, unlessOnOtherDeviceThan version: FileVersion) throws {
        let device = try Int64.fetchOne(db, sql: "SELECT device FROM ledger WHERE id = ?", arguments: [row])
        guard device == version.deviceBits, try !replace(row) else { return }
        try db.execute(sql: "DELETE FROM ledger WHERE id = ? AND state = \(HistoryStates.leftAlone)", arguments: [row])
    }

    /// Removes a confirmed row, because another version takes its place.
    ///
    /// - Returns: Whether the row was there.
    @discardableResult private func replace(_ row: Int64) throws -> Bool {
        let wasKept = try Bool.fetchOne(
            db,
            sql:
                "DELETE FROM ledger WHERE id = ? AND state = \(HistoryStates.confirmed) RETURNING due NOT NULL AND gone IS NULL",
            arguments: [row])
        if wasKept == true { changes.returned -= 1 }
        return wasKept != nil
    }

    /// Records a new time of a row's bytes, and perhaps a new name. A file that waits for its upload is sent as this
    /// version, and a file that is left alone stays so.
    ///
    /// - Returns: Whether there was room for the version.
    private func touch(_ id: Int64, as version: FileVersion) throws -> Bool {
        let touched = try Row.fetchOne(
            db,
            sql: """
                UPDATE ledger SET modified = ?, changed = ? WHERE id = ? RETURNING \(HistoryRow.columns)
                """,
            arguments: [version.modified, version.stamp.changed, id])
        guard let row = touched.map(HistoryRow.init), PathKey(row.version.path) != PathKey(version.path) else {
            try cameBack(id)
            return true
        }
        if isThere(version, at: row.version.path) {
            changes.otherNames.append((row.version.path, version.path))
            try cameBack(id)
            return true
        }
        return try move(row, to: version)
    }

    private func isThere(_ version: FileVersion, at path: String) -> Bool {
        version.isSame(as: FolderPlaces(plan.root).file(path)?.stamp)
    }

    private func cameBack(_ row: Int64) throws {
        guard try HistoryRow.cameBack(db, row) else { return }
        changes.returned += 1
        changes.hasDue = true
    }

    // MARK: New versions

    private func add(_ version: FileVersion, digest: Checksum?, fingerprint: UInt64?) throws -> Bool {
        let older = try jobs(ofPath: version.path)
        let freed = older.filter { !$0.isClaimed && $0.isOpen }.count
        guard room + freed > 0 else { return false }
        let isPaused = older.contains { $0.state == .paused }
        for row in older where !row.isClaimed { try remove(row) }
        let url = plan.url(version, digest: digest)
        try db.cachedStatement(
            sql: """
                INSERT INTO ledger (folder, device, inode, size, modified, path, url, state, digest, staged,
                    changed, fingerprint)
                VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            folder, version.deviceBits, version.inodeBits, version.size,
            version.modified, version.path, Redaction.url(url), digest?.description, now,
            version.stamp.changed, fingerprint.map { Int64(bitPattern: $0) },
        ])
        try stage(version, digest: digest, history: db.lastInsertedRowID, isPaused: isPaused)
        try OtherNames.forget(db, version.path, folder: folder)
        return true
    }

    /// Adds a job for a row of the history. The job waits for the newest open job of the same file or to the same URL.
    package func stage(_ version: FileVersion, digest: Checksum?, history: Int64, isPaused: Bool = false) throws {
        let place = plan.url(version, digest: digest)
        let url = Redaction.url(place)
        let followed = try lastOpenJob(
            history: history, path: version.path, url: url,
            destination: JobSpec.destinationKey(ofUploadTo: place, plan.spec.settings))
        var identity = WatchedPath.identity(version.path, history: history)
        var number = 1
        let known = try db.cachedStatement(sql: "SELECT 1 FROM job WHERE batch = ? AND identity = ?")
        while try Bool.fetchOne(known, arguments: [batch, identity]) != nil {
            number += 1
            identity = WatchedPath.identity(version.path, history: history, number: number)
        }
        let spec = plan.job(version, digest: digest, identity: identity)
        let secrets = JobSecrets(spec)
        let state: JobState = followed != nil ? .blocked : isPaused || isFolderPaused ? .paused : .queued
        let lane = Lane(batch: batch, origin: spec.origin(mirror: 0), network: spec.settings.network.key)
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO job (batch, identity, generation, state, priority, origin, destination, spec, fingerprint,
                    hasSecrets, isUpload, network, needsLeft, ledger, follows)
                VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)
                """)
        // The followed job counts as a need, so that resuming the new job blocks it again.
        statement.setUncheckedArguments([
            batch, identity, state.rawValue, plan.rank(version), lane.origin, spec.destinationKey(directory: "/"),
            spec.redacted.canonicalJSON, spec.fingerprint, secrets != nil, lane.network, followed == nil ? 0 : 1,
            history, followed,
        ])
        try statement.execute()
        let id = db.lastInsertedRowID
        try db.cachedStatement(
            sql: "UPDATE ledger SET job = ?, path = ?, url = ?, state = \(HistoryStates.open) WHERE id = ?"
        )
        .execute(arguments: [id, version.path, url, history])
        changes.secrets[id] = secrets
        changes.added += 1
        room -= 1
        if state == .queued { changes.ready[lane, default: 0] += 1 }
    }

    /// Returns the newest of the open jobs that upload this file, or upload to this URL.
    private func lastOpenJob(history: Int64, path: String, url: String, destination: String) throws -> Int64? {
        // The plus before `batch` and the order of a CROSS JOIN rule out an index of the batch. By it SQLite would read
        // all open jobs of the batch.
        let open = "+job.batch = \(batch) AND job.state < \(JobStates.firstEnded)"
        let own = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(id) FROM job WHERE ledger = ? AND \(open)"), arguments: [history])
        let join =
            "SELECT max(job.id) FROM ledger JOIN job ON job.ledger = ledger.id WHERE folder = ? AND ledger.job IS NOT NULL"
        let ofPath = try Int64.fetchOne(
            db.cachedStatement(sql: "\(join) AND ledger.path = ? AND \(open)"), arguments: [folder, path])
        var ofURL: Int64?
        // A URL at which the server names each upload can have many uploads at a time.
        if !plan.spec.upload.uploadProtocol.givesNames {
            ofURL = try Int64.fetchOne(
                db.cachedStatement(sql: "\(join) AND ledger.url = ? AND \(open)"), arguments: [folder, url])
        }
        // A file that was renamed during its upload has another URL in the history by now.
        let ofFormerURL = try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT max(job.id) FROM job AS renamed CROSS JOIN job ON job.id = renamed.follows
                        AND job.ledger = renamed.ledger
                    WHERE renamed.follows IS NOT NULL AND +renamed.batch = ? AND job.destination = ? AND job.state < \(JobStates.firstEnded)
                    """),
            arguments: [batch, destination])
        return [own, ofPath, ofURL, ofFormerURL].compactMap { $0 }.max()
    }

    // MARK: Moved files

    /// - Returns: Whether there was room for the version.
    private func move(_ row: HistoryRow, to version: FileVersion) throws -> Bool {
        for older in try jobs(ofPath: version.path) where older.history != row.id && !older.isClaimed {
            try remove(older)
        }
        guard row.state != .confirmed, row.state != .leftAlone else {
            let isReplaceable = try row.state == .confirmed && losesItsURL(row, as: version)
            if isReplaceable, FolderPlaces(plan.root).file(row.version.path) != nil {
                // The file's former name belongs to another file, and so does the place of its upload, as with a
                // rotated log.
                guard try add(version, digest: row.digest, fingerprint: row.fingerprint) else { return false }
                try replace(row.id)
                return true
            }
            try db.execute(
                sql: "UPDATE ledger SET path = ?, device = ?, isRenamed = ? WHERE id = ?",
                arguments: [version.path, version.deviceBits, isReplaceable, row.id])
            if PathKey(row.version.path) != PathKey(version.path) {
                changes.otherNames.append((row.version.path, version.path))
            }
            try cameBack(row.id)
            return true
        }
        let jobs = try jobs(ofHistory: row.id)
        if let last = jobs.last, last.isLeftAlone, !jobs.contains(where: \.isOpen) {
            try rename(last, row, to: version)
            return true
        }
        try db.execute(
            sql: "UPDATE ledger SET device = ?, gone = NULL WHERE id = ?",
            arguments: [version.deviceBits, row.id])
        // A job under way has the file open and continues; the new job starts only if that one fails.
        let isPaused = jobs.contains { $0.state == .paused }
        for job in jobs where !job.isClaimed { try remove(job, keepsHistory: true) }
        try stage(version, digest: row.digest, history: row.id, isPaused: isPaused)
        return true
    }

    /// Renames the file of a job that is left alone: it is uploaded only by command, and then under its new name.
    private func rename(_ job: OpenJob, _ row: HistoryRow, to version: FileVersion) throws {
        let spec = plan.job(version, digest: row.digest, identity: job.identity)
        try db.execute(
            sql: "UPDATE job SET spec = ?, fingerprint = ?, destination = ? WHERE id = ?",
            arguments: [
                spec.redacted.canonicalJSON, spec.fingerprint, spec.destinationKey(directory: "/"), job.id,
            ])
        try db.execute(
            sql: "UPDATE ledger SET path = ?, url = ?, device = ? WHERE id = ?",
            arguments: [
                version.path, Redaction.url(plan.url(version, digest: row.digest)),
                version.deviceBits, row.id,
            ])
        try cameBack(row.id)
    }

    /// Returns whether another file with the former name would replace this file's upload, and the file now has another
    /// URL itself.
    private func losesItsURL(_ row: HistoryRow, as version: FileVersion) throws -> Bool {
        let kind = plan.spec.upload.uploadProtocol
        guard !kind.givesNames, kind != .post else { return false }
        let url = try String.fetchOne(db, sql: "SELECT url FROM ledger WHERE id = ?", arguments: [row.id])
        return url != Redaction.url(plan.url(version, digest: row.digest))
    }

    // MARK: Jobs

    private func jobs(ofPath path: String) throws -> [OpenJob] {
        let histories = try Int64.fetchAll(
            db.cachedStatement(sql: "SELECT id FROM ledger WHERE folder = ? AND path = ? AND job IS NOT NULL"),
            arguments: [folder, path])
        return try histories.flatMap { try jobs(ofHistory: $0) }
    }

    /// Returns the open jobs of a file: the job that its row names, and one that continues under the file's former
    /// name.
    package func jobs(ofHistory history: Int64) throws -> [OpenJob] {
        let current = try Int64.fetchOne(db, sql: "SELECT job FROM ledger WHERE id = ?", arguments: [history])
        return try Row.fetchAll(
            db,
            sql: """
                SELECT \(OpenJob.columns) FROM job WHERE id = ?1
                UNION SELECT \(OpenJob.columns) FROM job WHERE ledger = ?2 AND state < \(JobStates.firstEnded) ORDER BY 1
                """, arguments: [current, history]
        ).map(OpenJob.init)
    }

    /// Removes a job that has not started, and its version. A job that waits for it waits for its predecessor instead.
    /// Without one, ``finish(stamp:)`` frees the waiting job, because the removed job no longer exists.
    package func remove(_ job: OpenJob, keepsHistory: Bool = false) throws {
        abandon(job)
        try db.execute(
            sql: """
                UPDATE job SET follows = coalesce((SELECT follows FROM job WHERE id = ?1), follows) WHERE follows = ?1
                """,
            arguments: [job.id])
        try db.execute(sql: "DELETE FROM job WHERE id = ?", arguments: [job.id])
        if !keepsHistory {
            try db.execute(sql: "DELETE FROM ledger WHERE id = ? AND job = ?", arguments: [job.history, job.id])
        }
        changes.removed.append(job.id)
        guard job.isOpen else { return }
        changes.added -= 1
        room += 1
    }

    package func abandon(_ job: OpenJob) {
        guard let upload = job.upload.flatMap({ UploadRecord(text: $0) }),
            var spec = try? JobSpec(canonicalJSON: job.spec)
        else { return }
        if job.hasSecrets {
            spec.settings = plan.spec.settings
            // A secret in the URL itself is no longer known.
            if spec.urls.contains(where: { $0.contains(Redaction.mark) }) { return }
        }
        changes.abandoned.append(AbandonedUpload(id: job.id, spec: spec, upload: upload))
    }
}
