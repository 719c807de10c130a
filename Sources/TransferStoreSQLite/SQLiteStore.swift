package import GRDB
import TransferCore
import TransferEventLoop
package import TransferStore

/// The queue in SQLite. Every function blocks, and is meant for the store's own worker.
///
/// The store is a facade: each subject has a type of its own, which knows the database and the state that it shares
/// with other types.
package final class SQLiteStore: JobStore, RunMemory, QueueReader, UploadHistory {
    package let database: QueueDatabase
    package let notice: String?

    package let leases: Leases
    package let batches: Batches
    package let tallies: BatchTallies
    package let staging: BatchImport
    package let claims: Claims
    package let readyJobs: ReadyJobs
    package let completedJobs: CompletedJobs
    package let records: Records
    package let notes: JobNotes
    package let abandonedUploads: AbandonedUploads
    package let hookCalls: HookCalls
    package let steering: Steering
    package let endQueries: EndQueries

    package let news: RunStatusTable
    package let pauseList: Pauses
    package let links: LinkReports

    package let statusQueries: StatusQueries
    package let jobFacts: JobFactsQuery

    package let folders: HistoryFolders
    package let failedFiles: FailedFileRows
    package let upkeep: HistoryUpkeep
    package let names: OtherNames

    /// Makes a temporary queue, in which jobs are checked against each other without a change to any file.
    package convenience init() throws { self.init(try .temporary(), notice: nil) }

    /// Registers one more process on a database in memory.
    package convenience init(_ connection: DatabaseQueue) throws {
        self.init(try .another(on: connection), notice: nil)
    }

    /// Opens the database of the folder, or makes it, and takes back the claims of dead processes.
    ///
    /// - Parameter isReader: Whether the caller only reads: no process is registered, and a damaged database stays
    ///   where it is.
    /// - Throws: `TransferError` that names the fault of the file.
    package convenience init(_ folder: StateFolder, isReader: Bool = false) throws {
        do {
            let (database, notice) = try QueueDatabase.open(folder, isReader: isReader)
            self.init(database, notice: notice)
            // Batches that ended a month ago are forgotten.
            if !isReader {
                _ = try batches.forget(name: nil, endedBefore: WallClock.milliseconds - 30 * 86_400_000)
            }
        } catch {
            throw DatabaseFault.explain(error, path: folder.database)
        }
    }

    private init(_ database: QueueDatabase, notice: String?) {
        self.database = database
        self.notice = notice
        // The parts share this memory of jobs that this process has inserted or met.
        let reserves = ReservedJobs()
        let packed = PackedJobs()
        let doubtful = DoubtfulBatches()
        let stamps = HistoryStamps()
        leases = Leases(database: database, reserves: reserves, doubtful: doubtful)
        batches = Batches(
            database: database, leases: leases, reserves: reserves, packed: packed, doubtful: doubtful)
        tallies = BatchTallies(database: database, stamps: stamps)
        staging = BatchImport(
            database: database, batches: batches, reserves: reserves, packed: packed, doubtful: doubtful)
        claims = Claims(database, reserves)
        readyJobs = ReadyJobs(database: database, reserves: reserves)
        completedJobs = CompletedJobs(database: database)
        records = Records(database: database, reserves: reserves, packed: packed, stamps: stamps)
        notes = JobNotes(database: database)
        abandonedUploads = AbandonedUploads(database: database)
        hookCalls = HookCalls(database: database)
        steering = Steering(database: database, leases: leases, reserves: reserves)
        endQueries = EndQueries(database: database)
        pauseList = Pauses(database: database)
        links = LinkReports(database: database)
        news = RunStatusTable(database, pauseList, links)
        statusQueries = StatusQueries(database: database)
        jobFacts = JobFactsQuery(database: database, links: links)
        folders = HistoryFolders(database: database, batches: batches, stamps: stamps)
        failedFiles = FailedFileRows(database: database, stamps: stamps)
        upkeep = HistoryUpkeep(database: database)
        names = OtherNames(database: database)
    }
}
