package import TransferCore
package import TransferJobs
package import TransferWatch

/// The memory of watched folders: which versions of which files were uploaded, and the work left to do with them. All
/// functions block, and each is one transaction, as those of the ``JobStore`` beside which the memory lives.
package protocol UploadHistory: OtherNameHistory {
    /// Whether other processes may watch the same folders, and upload their files.
    var sharesFolders: Bool { get }

    // MARK: Taking files

    /// Takes the folder for this process and makes its jobs follow the present rules.
    ///
    /// - Throws: `TransferError` when another process holds the folder.
    func openHistory(_ plan: WatchPlan) throws -> OpenedHistory

    /// Looks up the recorded facts about versions of files.
    func look(_ files: [FileVersion], folder: Int64) throws -> [HistoryAnswer]

    /// Takes the versions that are to be uploaded, after they have been looked up, durably.
    func take(_ offers: [HistoryOffer], folder: Int64, plan: WatchPlan) throws -> (HeldBatch, HistoryChanges)

    /// Notes files that were there before the folder was watched, and are left alone.
    func note(old files: [FileVersion], folder: Int64) throws

    /// Notes names by which files are not uploaded, so that each is reported once.
    ///
    /// - Returns: Whether the name was not noted before, for each name.
    func noteOtherNames(_ names: [String], folder: Int64) throws -> [Bool]

    /// Makes failed files ready again; none while their batch is paused.
    func wakeFailed(batch: Int64, _ selection: FailedSelection, limit: Int) throws -> WokenFiles

    // MARK: After confirmation

    /// Corrects the stored times after the clock may have been set.
    func followClock() throws

    /// Reads the confirmed files for which an action is due by `now` (milliseconds since 1970).
    func dueRows(folder: Int64, now: Int64, limit: Int) throws -> [HistoryRow]

    /// Returns the time of the next action, in milliseconds since 1970; `nil` where there is none.
    func nextDue(folder: Int64) throws -> Int64?

    /// Counts the confirmed files that wait for their time.
    func keptCount(folder: Int64) throws -> Int

    /// - Returns: The number of files that no longer wait for their time.
    func settle(_ settlements: [HistorySettlement]) throws -> Int

    func rowsWithoutDigest(folder: Int64, limit: Int) throws -> [HistoryRow]

    func save(digests: [(row: Int64, digest: Checksum?)]) throws

    // MARK: Forgetting

    func settledRows(folder: Int64, after id: Int64, limit: Int, onlyGone: Bool) throws -> [HistoryRow]

    /// Removes rows whose files have been gone for longer than `grace` (milliseconds), and marks those that are gone
    /// now.
    func prune(present: [Int64], absent: [Int64], grace: Int64) throws -> PrunedRows

    func historyCount(folder: Int64) throws -> Int
}

/// The further names of uploaded files, by which they are not uploaded again.
package protocol OtherNameHistory: Sendable {
    /// Reads a page of the names by which files are not uploaded, in the order of their bytes.
    func otherNames(folder: Int64, after path: String, limit: Int) throws -> [String]

    /// Forgets names of files that no longer exist.
    func forgetOtherNames(_ names: [String], folder: Int64) throws
}

extension UploadHistory {
    /// A folder belongs to one process.
    package var sharesFolders: Bool { false }
}
