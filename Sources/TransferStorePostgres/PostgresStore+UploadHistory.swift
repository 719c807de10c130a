package import TransferCore
package import TransferJobs
package import TransferStore
package import TransferWatch

extension PostgresStore: UploadHistory {
    package var sharesFolders: Bool { sharesBatches }

    // MARK: Taking files

    package func openHistory(_ plan: WatchPlan) throws -> OpenedHistory { try history.open(plan) }

    package func look(_ files: [FileVersion], folder: Int64) throws -> [HistoryAnswer] {
        try history.look(files, folder: folder)
    }

    package func take(_ offers: [HistoryOffer], folder: Int64, plan: WatchPlan) throws -> (HeldBatch, HistoryChanges) {
        try history.take(offers, folder: folder, plan: plan)
    }

    package func note(old files: [FileVersion], folder: Int64) throws { try upkeep.note(old: files, folder: folder) }

    package func noteOtherNames(_ names: [String], folder: Int64) throws -> [Bool] {
        try otherNames.note(names, folder: folder)
    }

    package func wakeFailed(batch: Int64, _ selection: FailedSelection, limit: Int) throws -> WokenFiles {
        try PostgresHistoryFailures(database: database, history: history).wake(batch: batch, selection, limit: limit)
    }

    // MARK: After confirmation

    /// Does nothing: all times are the database's, so no machine's clock matters.
    package func followClock() throws {}

    package func dueRows(folder: Int64, now: Int64, limit: Int) throws -> [HistoryRow] {
        try upkeep.dueRows(folder: folder, limit: limit)
    }

    package func nextDue(folder: Int64) throws -> Int64? { try upkeep.nextDue(folder: folder) }

    package func keptCount(folder: Int64) throws -> Int { try upkeep.keptCount(folder: folder) }

    package func settle(_ settlements: [HistorySettlement]) throws -> Int { try upkeep.settle(settlements) }

    package func rowsWithoutDigest(folder: Int64, limit: Int) throws -> [HistoryRow] {
        try upkeep.rowsWithoutDigest(folder: folder, limit: limit)
    }

    package func save(digests: [(row: Int64, digest: Checksum?)]) throws { try upkeep.save(digests: digests) }

    // MARK: Forgetting

    package func settledRows(folder: Int64, after id: Int64, limit: Int, onlyGone: Bool) throws -> [HistoryRow] {
        try upkeep.settledRows(folder: folder, after: id, limit: limit, onlyGone: onlyGone)
    }

    package func prune(present: [Int64], absent: [Int64], grace: Int64) throws -> PrunedRows {
        try upkeep.prune(present: present, absent: absent, grace: grace)
    }

    package func historyCount(folder: Int64) throws -> Int { try upkeep.count(folder: folder) }

    package func otherNames(folder: Int64, after path: String, limit: Int) throws -> [String] {
        try otherNames.page(folder: folder, after: path, limit: limit)
    }

    package func forgetOtherNames(_ names: [String], folder: Int64) throws {
        try otherNames.forget(names, folder: folder)
    }
}
