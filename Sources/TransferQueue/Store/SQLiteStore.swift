import GRDB
import Glibc
import Synchronization
import TransferCore
import TransferEngine
import TransferEventLoop

/// The queue in SQLite. Every function blocks: for the store's own worker.
final class SQLiteStore: JobStore, RunMemory, QueueReader, WatchLedger {
    let database: DatabaseQueue
    /// Its file; for messages.
    private let path: String
    /// The row of this process, and the fencing token of its lease (``Lease/generation``); 0 for one that only looks.
    let process: Int64
    let locks: LeaseLocks
    /// What had to be done to open it, for people: a damaged one was moved aside.
    let notice: String?
    /// Jobs that this process has put in and that have no rows yet.
    let packed = PackedJobs()
    /// What this process claimed when it put it in.
    let reserves = ReservedJobs()
    let doubtful = DoubtfulBatches()
    /// Batches of which an upload was claimed: further claims are durable when they are made.
    let uploading = Mutex<Set<Int64>>([])
    /// Transactions that told how many jobs of watched folders are open.
    private let stamps = Atomic<Int>(0)

    /// A queue of its own, to check jobs against each other without touching anything: in memory while it's small, then in a
    /// file without a name (sqlite3_open(3)).
    convenience init() throws {
        try self.init(DatabaseQueue(path: "", configuration: Self.configuration))
    }

    /// One more process on a database that is in memory, and whose life nobody can tell: its lease says how long it is.
    init(_ database: DatabaseQueue) throws {
        self.database = database
        path = "temporary"
        notice = nil
        locks = LeaseLocks(path: nil)
        try Schema.migrator.migrate(database)
        process = try database.write { [locks] db in try Self.register(db, locks) }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in for function in UploadRules.functions { db.add(function: function) } }
        return configuration
    }

    /// Opens the database of the folder, or makes it, and takes back what dead processes had.
    ///
    /// - Parameter isReader: Only look: no process is registered, and a damaged database stays where it is.
    /// - Throws: `TransferError` that says what is wrong with the file.
    init(_ folder: StateFolder, isReader: Bool = false) throws {
        path = folder.database
        locks = LeaseLocks(path: folder.locks)
        do {
            do {
                (database, process) = try Self.open(folder, isReader, locks)
                notice = nil
            } catch  where !isReader && DamagedDatabase.isToldBy(error) {
                notice = try DamagedDatabase.moveAside(folder.database, because: Self.words(error))
                (database, process) = try Self.open(folder, isReader, locks)
            }
            // What ended a month ago is of no use to anybody.
            if !isReader { _ = try forget(name: nil, endedBefore: WallClock.milliseconds - 30 * 86_400_000) }
        } catch {
            throw Self.fault(error, path: folder.database)
        }
    }

    private static func open(
        _ folder: StateFolder, _ isReader: Bool, _ locks: LeaseLocks
    ) throws -> (DatabaseQueue, Int64) {
        var configuration = configuration
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            // No secret is ever in it, so that nothing has to be wiped, as Debian's SQLite does.
            try db.execute(
                sql: """
                    PRAGMA page_size = \(DatabaseFile.pageSize); PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                    PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;
                    PRAGMA secure_delete = OFF
                    """)
        }
        try DatabaseFile.prepare(folder.database, in: folder.path)
        let database = try DatabaseQueue(path: folder.database, configuration: configuration)
        try Schema.refuseNewer(database, path: folder.database)
        if !isReader { try DamagedDatabase.look(database, folder.database) }
        // A commit here is whole or not there without a sync too, and the first one after it syncs it all
        // (sqlite.org/pragma.html#pragma_synchronous). Of processes the database need not know after the machine's
        // next start.
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        do {
            try Schema.migrator.migrate(database)
        } catch let error as DatabaseError where !DamagedDatabase.isToldBy(error) {
            // Another process may have made the change after this one had looked: then there is nothing left to do.
            try Schema.migrator.migrate(database)
        }
        let process = isReader ? 0 : try database.write { db in try register(db, locks) }
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return (database, process)
    }

    /// What is wrong with the database, and what to do, where SQLite says so; else the error as it is.
    func fault(_ error: any Error) -> any Error { Self.fault(error, path: path) }

    private static func fault(_ error: any Error, path: String) -> any Error {
        if error is LeaseLost {
            return TransferError(
                .fileLocked,
                "this process was taken for dead, as it gave no sign of life for \(Int(Lease.term.inSeconds)) seconds; another "
                    + "one goes on with its jobs")
        }
        guard let error = error as? DatabaseError else { return error }
        let words =
            switch error.resultCode {
            case .SQLITE_FULL:
                "no space left on its disk; make room there and start again, or name another folder with --state"
            case .SQLITE_CORRUPT, .SQLITE_NOTADB:
                "it is damaged (\(Self.words(error))); transfer run, get, put and watch move it aside and begin a new one"
            default: Self.words(error)
            }
        if DamagedDatabase.isToldBy(error) { DamagedDatabase.note(path) }
        return TransferError(
            .fileAccess, "the queue's database \(path) can't be used: \(words)",
            cause: .openSSL("SQLite \(error.extendedResultCode.rawValue)"))
    }

    private static func words(_ error: any Error) -> String { (error as? DatabaseError)?.message ?? "\(error)" }

    /// For a transaction on the ledger to call before it ends: of two counts the one with the higher stamp holds. SQLite's
    /// own count of changes has 32 bits, and stays where it is when nothing is changed.
    func nextStamp() -> Int { stamps.add(1, ordering: .relaxed).newValue }
}
