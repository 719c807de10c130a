package import TransferCore
package import TransferJobs
package import TransferWatch

/// The memory of watched folders: which versions of which files were uploaded, and what is to be done with them. All
/// functions block, and each is one transaction, as those of the ``JobStore`` beside which it lives.
package protocol UploadHistory: Sendable {
    /// Whether other processes may watch the same folders, and upload their files.
    var sharesFolders: Bool { get }

    // MARK: Taking files

    /// Takes the folder for this process and makes its jobs follow the rules of today.
    ///
    /// - Throws: `TransferError` when another process has it.
    func openHistory(_ plan: WatchPlan) throws -> OpenedHistory

    /// Looks up what is known of versions of files.
    func look(_ files: [FileVersion], folder: Int64) throws -> [HistoryAnswer]

    /// Takes what is to be taken of versions that have been looked up, durably.
    func take(_ offers: [HistoryOffer], folder: Int64, plan: WatchPlan) throws -> (HeldBatch, HistoryChanges)

    /// Files that were there before the folder was watched, and are left alone.
    func note(old files: [FileVersion], folder: Int64) throws

    /// Names by which files aren't uploaded. Each is told once.
    ///
    /// - Returns: For each name whether it wasn't told before.
    func noteOtherNames(_ names: [String], folder: Int64) throws -> [Bool]

    /// Makes failed files ready again. None while their batch is paused.
    func wakeFailed(batch: Int64, _ selection: FailedSelection, limit: Int) throws -> WokenFiles

    // MARK: After confirmation

    /// The clock may have been set since times were written down.
    func followClock() throws

    /// Confirmed files with which something is to be done by then (milliseconds since 1970).
    func dueRows(folder: Int64, now: Int64, limit: Int) throws -> [HistoryRow]

    /// The time of what is to be done next: milliseconds since 1970.
    func nextDue(folder: Int64) throws -> Int64?

    /// How many confirmed files wait for their time.
    func keptCount(folder: Int64) throws -> Int

    /// - Returns: How many of them no longer wait for their time.
    func settle(_ settlements: [HistorySettlement]) throws -> Int

    func rowsWithoutDigest(folder: Int64, limit: Int) throws -> [HistoryRow]

    func save(digests: [(row: Int64, digest: Checksum?)]) throws

    // MARK: Forgetting

    func settledRows(folder: Int64, after id: Int64, limit: Int, onlyGone: Bool) throws -> [HistoryRow]

    /// Removes rows whose files have been gone for longer than `grace` (nanoseconds), and marks those that are gone now.
    func prune(present: [Int64], absent: [Int64], grace: Int64) throws -> PrunedRows

    func historyCount(folder: Int64) throws -> Int

    /// A page of them, in the order of their bytes.
    func otherNames(folder: Int64, after path: String, limit: Int) throws -> [String]

    /// Forgets names of files that aren't there any more.
    func forgetOtherNames(_ names: [String], folder: Int64) throws
}

extension UploadHistory {
    /// A folder is one process's.
    package var sharesFolders: Bool { false }
}
