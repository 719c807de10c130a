import GRDB
import Glibc
import Synchronization
import TransferCore
import TransferEngine
import TransferEventLoop

/// The queue in SQLite. Every function blocks: for the store's own worker.
final class SQLiteStore: Sendable {
    let database: DatabaseQueue
    /// Its file; for messages.
    private let path: String
    /// The row of this process.
    let process: Int64
    /// What had to be done to open it, for people: a damaged one was moved aside.
    let notice: String?
    /// Jobs that this process has put in and that have no rows yet.
    let packed = PackedJobs()
    let doubtful = DoubtfulBatches()
    /// Batches of which an upload was claimed: further claims are durable when they are made.
    let uploading = Mutex<Set<Int64>>([])
    /// Transactions that told how many jobs of watched folders are open.
    private let stamps = Atomic<Int>(0)

    /// A queue of its own, to check jobs against each other without touching anything: in memory while it's small, then in a
    /// file without a name (sqlite3_open(3)).
    init() throws {
        database = try DatabaseQueue(path: "")
        path = "temporary"
        notice = nil
        try Schema.migrator.migrate(database)
        process = try database.write { db in try Self.register(db) }
    }

    /// Opens the database of the folder, or makes it, and takes back what dead processes had.
    ///
    /// - Parameter isReader: Only look: no process is registered, and a damaged database stays where it is.
    /// - Throws: `TransferError` that says what is wrong with the file.
    init(_ folder: StateFolder, isReader: Bool = false) throws {
        path = folder.database
        do {
            do {
                (database, process) = try Self.open(folder, isReader)
                notice = nil
            } catch  where !isReader && DamagedDatabase.isToldBy(error) {
                notice = try DamagedDatabase.moveAside(folder.database, because: Self.words(error))
                (database, process) = try Self.open(folder, isReader)
            }
            // What ended a month ago is of no use to anybody.
            if !isReader { _ = try forget(name: nil, endedBefore: WallClock.milliseconds - 30 * 86_400_000) }
        } catch {
            throw Self.fault(error, path: folder.database)
        }
    }

    private static func open(_ folder: StateFolder, _ isReader: Bool) throws -> (DatabaseQueue, Int64) {
        var configuration = Configuration()
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
        let process = isReader ? 0 : try database.write { db in try register(db) }
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return (database, process)
    }

    /// What is wrong with the database, and what to do, where SQLite says so; else the error as it is.
    func fault(_ error: any Error) -> any Error { Self.fault(error, path: path) }

    private static func fault(_ error: any Error, path: String) -> any Error {
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

    private static func register(_ db: Database) throws -> Int64 {
        try reclaim(db)
        try StoredWait.follow(db)
        let me = ProcessIdentity.current
        try db.execute(
            sql: "INSERT INTO process (pid, started, boot) VALUES (?, ?, ?)", arguments: [me.pid, me.started, me.boot])
        return db.lastInsertedRowID
    }

    /// Frees what processes held that are no more.
    ///
    /// A POST whose body may have left the machine is not sent again by itself: nobody knows whether it arrived.
    static func reclaim(_ db: Database) throws {
        let rows = try Row.fetchAll(db, sql: "SELECT id, pid, started, boot, socket FROM process")
        for row in rows {
            let identity = ProcessIdentity(pid: row["pid"], started: row["started"], boot: row["boot"])
            guard !identity.isAlive else { continue }
            let id: Int64 = row["id"]
            try dissolveReserves(db, of: id)
            try endWhatMayHaveArrived(db, of: id)
            try db.execute(
                sql:
                    "UPDATE job SET state = \(JobStates.queued), owner = NULL, wasInterrupted = 1 WHERE owner = ? AND state = \(JobStates.claimed)",
                arguments: [id])
            try db.execute(sql: "UPDATE batch SET owner = NULL, rate = 0, eta = NULL WHERE owner = ?", arguments: [id])
            try db.execute(sql: "DELETE FROM command WHERE process = ?", arguments: [id])
            try db.execute(sql: "DELETE FROM process WHERE id = ?", arguments: [id])
            if let socket: String = row["socket"] { unlink(socket) }
        }
        try dissolveOrphans(db)
    }

    /// A POST whose body may have left is not sent again by itself.
    private static func endWhatMayHaveArrived(_ db: Database, of process: Int64) throws {
        try db.execute(
            sql: """
                UPDATE job SET state = \(JobStates.failed), owner = NULL, isSending = 0, wasInterrupted = 1, errorCode = 'mayHaveBeenSent',
                    errorMessage = 'the program ended while the body was being sent, and it may have arrived; '
                        || 'transfer retry sends it again',
                    endSequence = (SELECT value FROM counter WHERE name = 'end') + 1, ended = unixepoch() * 1000,
                    upload = CASE WHEN \(canGoOn) THEN upload END
                WHERE owner = ? AND state = \(JobStates.claimed) AND isSending = 1;
                """, arguments: [process])
        if db.changesCount > 0 {
            try numberEnds(db)
            let batches = try Int64.fetchAll(
                db,
                sql:
                    "SELECT DISTINCT batch FROM job WHERE errorCode = 'mayHaveBeenSent' AND state = \(JobStates.failed)"
            )
            for batch in batches { _ = try skipWhatCannotStart(db, batch: batch) }
        }
    }

    /// Gives ends that one statement wrote, all with the next number, a number of their own: cursors never repeat.
    static func numberEnds(_ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE job SET endSequence = endSequence - 1 + ends.number
                FROM (SELECT id AS ended, row_number() OVER (ORDER BY id) AS number FROM job
                    WHERE endSequence > (SELECT value FROM counter WHERE name = 'end')) AS ends
                WHERE id = ends.ended;
                UPDATE counter SET value = (SELECT max(value, coalesce(max(endSequence), 0)) FROM job) WHERE name = 'end'
                """)
    }

    /// Gives back whatever this process still holds; for its end. Whoever finds a process that is no more does the same.
    func unregister() throws {
        try writeRelaxed { db in
            try Self.dissolveReserves(db, of: process)
            for batch in doubtful.told {
                try db.execute(
                    sql:
                        "UPDATE job SET wasInterrupted = 0 WHERE batch = ? AND state = \(JobStates.failed) AND errorCode = ?",
                    arguments: [batch, TransferError.Code.mayHaveBeenSent.rawValue])
            }
            // A run that didn't wait any longer.
            try Self.endWhatMayHaveArrived(db, of: process)
            try db.execute(
                sql:
                    "UPDATE job SET state = \(JobStates.queued), owner = NULL WHERE owner = ? AND state = \(JobStates.claimed)",
                arguments: [process])
            try db.execute(
                sql: "UPDATE batch SET owner = NULL, rate = 0, eta = NULL WHERE owner = ?", arguments: [process])
            try db.execute(sql: "DELETE FROM command WHERE process = ?", arguments: [process])
            try db.execute(sql: "DELETE FROM process WHERE id = ?", arguments: [process])
        }
    }

    /// For a transaction on the ledger to call before it ends: of two counts the one with the higher stamp holds. SQLite's
    /// own count of changes has 32 bits, and stays where it is when nothing is changed.
    func nextStamp() -> Int { stamps.add(1, ordering: .relaxed).newValue }
}
