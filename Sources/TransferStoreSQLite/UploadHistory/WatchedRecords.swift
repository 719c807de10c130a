import GRDB
import TransferCore
import TransferJobs
import TransferStore
import TransferWatch

/// Writes the effects of ends and steps of jobs on watched folders, in the transaction that records them.
struct WatchedRecords {
    private let db: Database
    private let stamps: HistoryStamps

    init(_ db: Database, _ stamps: HistoryStamps) {
        self.db = db
        self.stamps = stamps
    }

    /// Records ends and steps.
    ///
    /// - Parameters:
    ///   - cursor: The number of the last end.
    ///   - write: A function that records a step of a job that continues.
    func record(
        _ ends: [JobEnd], cursor: Int64, _ steps: [JobStep], now: Int64, _ recorded: inout RecordedGroup,
        write: (JobStep) throws -> Void
    ) throws {
        let folders = try folders(of: Set(ends.map(\.batch) + steps.map(\.batch)))
        guard !folders.isEmpty else {
            for step in steps { try write(step) }
            recorded.watched.stamp = stamps.next()
            return
        }
        let rows = UploadHistoryRows(db)
        let places = ends.compactMap { $0.completion?.receipt.finalURL }
        let watched =
            ends.filter { folders[$0.batch] != nil }.map(\.id)
            + steps.filter { folders[$0.batch] != nil }.map(\.id)
        var rule = UploadHistoryEnds(
            graph: try rows.graph(ofJobs: watched, batches: Set(folders.keys), places: places), folders: folders,
            now: now)
        for (index, end) in ends.enumerated() { rule.record(end, index: index) }
        for step in steps where !rule.supersedes(step) { try write(step) }
        for (lane, count) in rule.finish() { recorded.unblocked[lane, default: 0] += count }
        recorded.watched = rule.result
        let written = try rows.write(rule.graph, folder: 0, batch: 0, plan: nil)
        for removed in written.removed {
            guard let upload = AbandonedUpload(id: removed.id, spec: removed.spec, upload: removed.upload) else {
                continue
            }
            recorded.watched.abandoned.append((upload, hasSecrets: removed.hasSecrets))
        }
        for batch in folders.keys {
            if ends.contains(where: { $0.batch == batch && $0.completion != nil }) {
                try forgetOldEnds(batch, before: cursor - UploadHistoryEnds.completeJobsKept)
            }
            recorded.watched.open[batch] = try WatchedJobs.countOpen(db, batch: batch)
        }
        recorded.watched.stamp = stamps.next()
    }

    private func folders(of batches: Set<Int64>) throws -> [Int64: UploadHistoryEnds.Folder] {
        let statement = try db.cachedStatement(sql: "SELECT path, thenAfter FROM watchedFolder WHERE batch = ?")
        var folders: [Int64: UploadHistoryEnds.Folder] = [:]
        for batch in batches {
            guard let row = try Row.fetchOne(statement, arguments: [batch]) else { continue }
            folders[batch] = UploadHistoryEnds.Folder(root: row[stored: 0], thenAfter: row[stored: 1])
        }
        return folders
    }

    private func forgetOldEnds(_ batch: Int64, before cursor: Int64) throws {
        try db.cachedStatement(
            sql:
                "DELETE FROM job WHERE batch = ? AND ledger IS NOT NULL AND state = \(JobStates.done) AND endSequence <= ?"
        ).execute(arguments: [batch, cursor])
    }
}
