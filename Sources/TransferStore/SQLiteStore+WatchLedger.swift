package import TransferCore
package import TransferJobs
package import TransferWatch

extension SQLiteStore {
    // MARK: Taking files

    package func openLedger(_ plan: WatchPlan) throws -> OpenedLedger { try folders.open(plan) }

    package func look(_ files: [FileVersion], folder: Int64) throws -> [LedgerLook] {
        try folders.look(files, folder: folder)
    }

    package func take(_ offers: [LedgerOffer], folder: Int64, plan: WatchPlan) throws -> (HeldBatch, LedgerChanges) {
        try folders.take(offers, folder: folder, plan: plan)
    }

    package func note(old files: [FileVersion], folder: Int64) throws { try upkeep.note(old: files, folder: folder) }

    package func noteOtherNames(_ names: [String], folder: Int64) throws -> [Bool] {
        try self.names.note(names, folder: folder)
    }

    package func wakeFailed(batch: Int64, _ selection: FailedSelection, limit: Int) throws -> WokenFiles {
        try failedFiles.wake(batch: batch, selection, limit: limit)
    }

    // MARK: After confirmation

    package func followClock() throws { try upkeep.followClock() }

    package func dueRows(folder: Int64, now: Int64, limit: Int) throws -> [LedgerRow] {
        try upkeep.dueRows(folder: folder, now: now, limit: limit)
    }

    package func nextDue(folder: Int64) throws -> Int64? { try upkeep.nextDue(folder: folder) }

    package func keptCount(folder: Int64) throws -> Int { try upkeep.keptCount(folder: folder) }

    package func settle(_ settlements: [LedgerSettlement]) throws -> Int { try upkeep.settle(settlements) }

    package func rowsWithoutDigest(folder: Int64, limit: Int) throws -> [LedgerRow] {
        try upkeep.rowsWithoutDigest(folder: folder, limit: limit)
    }

    package func save(digests: [(row: Int64, digest: Checksum?)]) throws { try upkeep.save(digests: digests) }

    // MARK: Forgetting

    package func settledRows(folder: Int64, after id: Int64, limit: Int, onlyGone: Bool) throws -> [LedgerRow] {
        try upkeep.settledRows(folder: folder, after: id, limit: limit, onlyGone: onlyGone)
    }

    package func prune(present: [Int64], absent: [Int64], grace: Int64) throws -> PrunedRows {
        try upkeep.prune(present: present, absent: absent, grace: grace)
    }

    package func ledgerCount(folder: Int64) throws -> Int { try upkeep.ledgerCount(folder: folder) }

    package func otherNames(folder: Int64, after path: String, limit: Int) throws -> [String] {
        try names.page(folder: folder, after: path, limit: limit)
    }

    package func forgetOtherNames(_ names: [String], folder: Int64) throws {
        try self.names.forget(names, folder: folder)
    }
}
