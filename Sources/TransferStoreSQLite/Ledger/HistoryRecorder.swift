package import GRDB
import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore

/// The effects of recorded ends on the upload history, written in the transaction that records them.
package struct HistoryRecorder {
    /// The number of complete jobs that stay for readers of the queue's ends (`JobEnds`). The upload history keeps all
    /// their files.
    package static let completeJobsKept: Int64 = 1000

    private let db: Database
    private let now: Int64
    private var folders: [Int64: Bool] = [:]
    private var result = WatchedEnds()
    private var index = -1

    package init(_ db: Database, now: Int64) {
        self.db = db
        self.now = now
    }

    private mutating func isWatched(_ batch: Int64) throws -> Bool {
        if let known = folders[batch] { return known }
        let statement = try db.cachedStatement(sql: "SELECT 1 FROM watchedFolder WHERE batch = ?")
        let isWatched = try Bool.fetchOne(statement, arguments: [batch]) ?? false
        folders[batch] = isWatched
        return isWatched
    }

    package mutating func record(_ end: JobEnd, cursor: Int64) throws {
        index += 1
        guard try isWatched(end.batch), let history = try history(of: end.id) else { return }
        switch end.outcome {
        case .done(let receipt, let facts), .kept(let receipt, let facts):
            if let facts { try settleTouch(end, facts, history: history) }
            try confirm(end, receipt, history: history, cursor: cursor)
        case .failed: try fail(end, history: history)
        case .cancelled: break
        case .dropped(let isChanged):
            // The runner has already asked the server to drop its part.
            let path = try takeOut(end.id, history: history, abandons: false)
            note(end, path ?? WatchedPath.path(ofJob: end.identity), .dropped(isChanged: isChanged))
        }
    }

    private mutating func confirm(_ end: JobEnd, _ receipt: JobReceipt, history: Int64, cursor: Int64) throws {
        let renamed = try settleRename(end, history: history)
        if renamed == .toItsOwnPlace {
            return note(
                end, WatchedPath.path(ofJob: end.identity),
                .confirmed(url: receipt.finalURL, due: nil, hasDigest: true))
        }
        let digest = receipt.digest.flatMap { $0.algorithm == .sha256 ? $0.description : nil }
        let statement = try db.cachedStatement(
            sql: """
                UPDATE ledger SET state = \(HistoryStates.confirmed), job = NULL, url = ?1, confirmed = ?2, digest = coalesce(?3, digest),
                    isRenamed = ?5, changed = coalesce(?6, changed), fingerprint = ?7, due = ?2 + (SELECT thenAfter FROM watchedFolder WHERE watchedFolder.id = folder)
                WHERE id = ?4 RETURNING path, due, digest, folder
                """)
        if let row = try Row.fetchOne(
            statement,
            arguments: [
                receipt.finalURL, now, digest, history, renamed == .elsewhere, end.sourceChanged,
                end.sourceFingerprint.map { Int64(bitPattern: $0) },
            ])
        {
            note(
                end, row[stored: 0],
                .confirmed(url: receipt.finalURL, due: row[stored: 1], hasDigest: (row[stored: 2] as String?) != nil))
            // The history forgets files that were uploaded under this name before they were renamed. Their upload was
            // replaced, so they are uploaded under their own names.
            let replaced = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        DELETE FROM ledger WHERE folder = ? AND url = ? AND isRenamed AND id <> ?
                        RETURNING path, due NOT NULL AND gone IS NULL
                        """),
                arguments: [row[stored: 3] as Int64, receipt.finalURL, history])
            for other in replaced { note(end, other[stored: 0], .replaced(wasKept: other[stored: 1])) }
        }
        try db.cachedStatement(
            sql:
                "DELETE FROM job WHERE batch = ? AND ledger IS NOT NULL AND state = \(JobStates.done) AND endSequence <= ?"
        ).execute(arguments: [end.batch, cursor - Self.completeJobsKept])
    }

    /// Settles a file with the bytes that were sent and another time or inode by now. It is no other version, so a job
    /// that waits to upload it as one is dropped.
    private mutating func settleTouch(_ end: JobEnd, _ facts: FileStamp, history: Int64) throws {
        let touched = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    UPDATE ledger SET modified = ?1, changed = ?4, inode = coalesce(?5, inode),
                        device = coalesce(?6, device)
                    WHERE id = ?2 AND size = ?3 AND (modified <> ?1 OR inode <> coalesce(?5, inode))
                    RETURNING folder, device, inode, path
                    """),
            arguments: [
                facts.modified, history, facts.size, end.sourceChanged,
                facts.inode.map { Int64(bitPattern: $0) }, facts.device.map { Int64(bitPattern: $0) },
            ])
        guard let touched else { return }
        let others = try Row.fetchAll(
            db,
            sql: """
                SELECT job.id, ledger.id FROM ledger JOIN job ON job.id = ledger.job
                WHERE ledger.folder = ? AND ledger.device = ? AND ledger.inode = ? AND ledger.size = ?
                    AND ledger.modified = ? AND ledger.path = ? AND ledger.id <> ? AND job.follows = ? AND job.state < \(JobStates.firstEnded)
                """,
            arguments: [
                touched[stored: 0] as Int64, touched[stored: 1] as Int64, touched[stored: 2] as Int64, facts.size,
                facts.modified,
                touched[stored: 3] as String, history, end.id,
            ])
        for other in others {
            try db.execute(sql: "DELETE FROM job WHERE id = ?", arguments: [other[stored: 0] as Int64])
            try db.execute(sql: "DELETE FROM ledger WHERE id = ?", arguments: [other[stored: 1] as Int64])
            result.superseded[end.batch, default: []].append(other[stored: 0])
        }
    }

    private enum Rename {
        case none
        /// The file's upload stays where it is, for as long as no other file takes its former name.
        case elsewhere
        /// The file's former name belongs to another file, which will replace this upload. So the file is uploaded
        /// under its new name.
        case toItsOwnPlace
    }

    /// Decides about a file that was renamed during its upload, and about the job that waits to upload it under the new
    /// name.
    private mutating func settleRename(_ end: JobEnd, history: Int64) throws -> Rename {
        let followers = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT id, destination FROM job WHERE follows = ? AND ledger = ?"),
            arguments: [end.id, history]
        ).map { (id: $0[stored: 0] as Int64, destination: $0[stored: 1] as String) }
        guard !followers.isEmpty else { return .none }
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT job.destination, watchedFolder.path FROM job JOIN watchedFolder ON watchedFolder.batch = job.batch WHERE job.id = ?
                """, arguments: [end.id])
        let isElsewhere = followers.contains { $0.destination != row?[stored: 0] }
        let root: String = row?[stored: 1] ?? ""
        if isElsewhere, FolderPlaces(root).file(WatchedPath.path(ofJob: end.identity)) != nil { return .toItsOwnPlace }
        // The file must not be uploaded again under its new name.
        for follower in followers { try db.execute(sql: "DELETE FROM job WHERE id = ?", arguments: [follower.id]) }
        result.superseded[end.batch, default: []] += followers.map(\.id)
        return isElsewhere ? .elsewhere : .none
    }

    private mutating func fail(_ end: JobEnd, history: Int64) throws {
        let path = try String.fetchOne(db, sql: "SELECT path FROM ledger WHERE id = ?", arguments: [history])
        if try hasSuccessor(end.id, history: history) {
            _ = try takeOut(end.id, history: history)
        } else {
            try db.execute(
                sql:
                    "UPDATE ledger SET state = \(HistoryStates.failed), failures = failures + 1 WHERE id = ? AND job = ?",
                arguments: [history, end.id])
        }
        note(end, path ?? WatchedPath.path(ofJob: end.identity), .failed)
    }

    /// Drops a job that would continue later, where a job for a newer version or the new name of its file waits for it.
    ///
    /// - Returns: Whether the job was dropped.
    package mutating func supersedes(_ step: JobStep) throws -> Bool {
        guard step.state != .claimed, try isWatched(step.batch), let history = try history(of: step.id),
            try hasSuccessor(step.id, history: history)
        else { return false }
        _ = try takeOut(step.id, history: history)
        result.superseded[step.batch, default: []].append(step.id)
        return true
    }

    /// - Parameters:
    ///   - unblocked: The counts to which jobs are added that waited for another version's end.
    ///   - stamp: The number of this transaction (``HistoryStamps``).
    package mutating func finish(_ unblocked: inout [Lane: Int], stamp: Int) throws -> WatchedEnds {
        for (batch, isWatched) in folders where isWatched {
            for (lane, count) in try WatchedJobs.releaseFollowers(db, batch: batch) {
                unblocked[lane, default: 0] += count
            }
            result.open[batch] = try WatchedJobs.countOpen(db, batch: batch)
        }
        result.stamp = stamp
        return result
    }

    private func history(of job: Int64) throws -> Int64? {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT ledger FROM job WHERE id = ?"), arguments: [job])
    }

    private func hasSuccessor(_ job: Int64, history: Int64) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT 1 FROM job JOIN ledger ON ledger.id = job.ledger
                WHERE job.follows = ?1 AND (ledger.id = ?2 OR ledger.path = (SELECT path FROM ledger WHERE id = ?2))
                """, arguments: [job, history]) ?? false
    }

    /// - Returns: The path of the job's version; `nil` where that belongs to another job, or is no longer known.
    private mutating func takeOut(_ job: Int64, history: Int64, abandons: Bool = true) throws -> String? {
        let row = try Row.fetchOne(
            db, sql: "DELETE FROM job WHERE id = ? RETURNING spec, upload, hasSecrets", arguments: [job])
        if abandons, let row, let upload = AbandonedUpload(id: job, spec: row[stored: 0], upload: row[stored: 1]) {
            result.abandoned.append((upload, hasSecrets: row[stored: 2]))
        }
        return try String.fetchOne(
            db, sql: "DELETE FROM ledger WHERE id = ? AND job = ? RETURNING path", arguments: [history, job])
    }

    private mutating func note(_ end: JobEnd, _ path: String, _ kind: WatchedEnds.Kind) {
        result.ends.append(WatchedEnds.End(index: index, job: end.id, batch: end.batch, path: path, kind: kind))
    }
}
