import CTransferLinux
import GRDB
import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferStore
package import TransferWatch

/// Watched folders, and the jobs made for their files.
package struct HistoryFolders: Sendable {
    package let database: QueueDatabase
    package let batches: Batches
    package let stamps: HistoryStamps

    /// Looks up many versions at once.
    package func look(_ files: [FileVersion], folder: Int64) throws -> [HistoryAnswer] {
        try database.read { db in try files.map { try HistoryAnswer.of(db, $0, folder: folder) } }
    }

    /// Begins to watch a folder: holds its batch, and adapts the unconfirmed files to the present rules.
    ///
    /// Failed jobs keep their time, unless the rules for them have changed. Jobs that were cancelled or paused, or
    /// whose upload may have arrived, stay as they are.
    package func open(_ plan: WatchPlan) throws -> OpenedHistory {
        try transaction { db in
            try StoredWait.follow(db)
            let batch = try batches.hold(db, BatchHeader(name: plan.batch, source: nil, directory: plan.root))
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
            let folder: Int64 = row[stored: 0]
            // The action on confirmed versions follows the present rules; files that are only kept now are examined
            // once more.
            try db.execute(
                sql: "UPDATE ledger SET due = confirmed + ?1 WHERE folder = ?2 AND due IS NOT NULL",
                arguments: [plan.thenAfter ?? 0, folder])
            // Earlier versions left some waiting for nothing.
            try db.execute(
                sql:
                    "UPDATE job SET follows = 0 WHERE +batch = ? AND ledger IS NOT NULL AND state = \(JobStates.blocked) AND follows IS NULL",
                arguments: [batch.id])
            let graph = try UploadHistoryRows(db).unconfirmed(folder: folder, batch: batch.id)
            var rule = try self.rule(db, plan, batch.id, graph)
            rule.renewAll()
            return OpenedHistory(
                folder: folder, batch: batch, since: row[stored: 1], isPaused: row[stored: 2],
                formerURL: former.flatMap { $0 == url ? nil : $0 }, changes: try write(db, rule, folder: folder),
                nextFailed: try FailedFileRows.next(db, batch: batch.id))
        }
    }

    private func rule(
        _ db: Database, _ plan: WatchPlan, _ batch: Int64, _ graph: UploadHistoryGraph
    ) throws -> UploadHistoryRule {
        let isPaused = try Bool.fetchOne(
            db, sql: "SELECT isPaused FROM watchedFolder WHERE batch = ?", arguments: [batch])
        return UploadHistoryRule(
            plan, batch: batch, graph: graph, open: try WatchedJobs.countOpen(db, batch: batch),
            isPaused: isPaused ?? false, now: WallClock.milliseconds, file: UploadHistoryRule.look(at: plan.root))
    }

    /// Writes what was decided.
    private func write(_ db: Database, _ rule: UploadHistoryRule, folder: Int64) throws -> HistoryChanges {
        let (plan, batch) = (rule.plan, rule.batch)
        let written = try UploadHistoryRows(db).write(rule.graph, folder: folder, batch: batch, plan: plan)
        for name in rule.ownNames { try OtherNames.forget(db, name, folder: folder) }
        var changes = rule.changes
        changes.secrets.merge(written.secrets) { $1 }
        changes.abandoned = written.removed.compactMap { $0.abandoned(plan) }
        changes.open = try WatchedJobs.countOpen(db, batch: batch)
        changes.stamp = stamps.next()
        return changes
    }

    /// Takes the versions that are to be uploaded, after they have been looked up, in one durable transaction.
    package func take(_ offers: [HistoryOffer], folder: Int64, plan: WatchPlan) throws -> (HeldBatch, HistoryChanges) {
        try transaction { db in
            let batch = try batches.hold(db, BatchHeader(name: plan.batch, source: nil, directory: plan.root))
            try db.execute(
                sql: "UPDATE watchedFolder SET batch = ?1 WHERE id = ?2 AND batch IS NOT ?1",
                arguments: [batch.id, folder])
            let graph = try UploadHistoryRows(db).graph(offers, folder: folder, batch: batch.id, plan: plan)
            var rule = try self.rule(db, plan, batch.id, graph)
            rule.take(offers)
            return (batch, try write(db, rule, folder: folder))
        }
    }

    /// - Throws: `TransferError` when another process holds the folder.
    private func transaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try database.exclusively { db in
                try Packs.unpackAll(db)
                let value = try body(db)
                Failpoint.reached(.ledgerUncommitted)
                return (value, .commit)
            }
        } catch StagingFailure.held(let held) {
            throw TransferError(
                .fileLocked, "\(held.batch.dropFirst("watch:".count)) is watched by another process (pid \(held.pid))")
        }
    }
}

extension UploadHistoryRows.Removed {
    /// The upload that its server is to drop; `nil` where there is none.
    fileprivate func abandoned(_ plan: WatchPlan) -> AbandonedUpload? {
        guard let upload = upload.flatMap({ UploadRecord(text: $0) }), var spec = try? JobSpec(canonicalJSON: spec)
        else {
            return nil
        }
        if hasSecrets {
            spec.settings = plan.spec.settings
            // A secret in the URL itself is no longer known.
            if spec.urls.contains(where: { $0.contains(Redaction.mark) }) { return nil }
        }
        return AbandonedUpload(id: id, spec: spec, upload: upload)
    }
}
