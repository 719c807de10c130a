import Synchronization
import TransferCore
import TransferEventLoop
import TransferJobs
package import TransferStore

/// The queue in a PostgreSQL database, for processes on many machines. Every function blocks, and is meant for the
/// store's own worker.
///
/// The store is a facade: each subject has a type of its own, which knows the database and the state that it shares
/// with other types.
package final class PostgresStore: JobStore, RunMemory, QueueReader {
    package let database: PostgresDatabase
    private let renewal = Mutex<PostgresLeaseRenewal?>(nil)

    package let leases: PostgresLeases
    package let batches: PostgresBatches
    package let staging: PostgresBatchImport
    package let claims: PostgresClaims
    package let readyJobs: PostgresReadyJobs
    package let completedJobs: PostgresCompletedJobs
    package let uploads: PostgresUploads
    package let records: PostgresRecords
    package let notes: PostgresNotes
    package let hookCalls: PostgresHookCalls
    package let steering: PostgresSteering
    package let endQueries: PostgresEnds
    package let news: PostgresRunStatus
    package let statusQueries: PostgresStatus
    package let jobList: PostgresJobList
    package let jobFacts: PostgresJobFacts
    package let rules: PostgresRules
    package let underWay: PostgresUnderWay
    package let history: PostgresHistory
    package let upkeep: PostgresHistoryUpkeep
    package let otherNames: PostgresOtherNames

    /// Opens the queue at the address, or makes it, and takes back the claims of lost processes.
    ///
    /// - Parameter opening: The signal that ends the wait for the first connection.
    /// - Throws: `TransferError`.
    package init(
        _ address: PostgresAddress, _ role: PostgresRole = .owner,
        opening: PostgresCancellation = PostgresCancellation()
    ) throws {
        database = try PostgresDatabase(address, role, opening: opening)
        let (doubtful, stamps) = (DoubtfulBatches(), HistoryStamps())
        leases = PostgresLeases(database: database, doubtful: doubtful)
        batches = PostgresBatches(database: database, leases: leases, doubtful: doubtful, stamps: stamps)
        staging = PostgresBatchImport(database: database, batches: batches, doubtful: doubtful)
        claims = PostgresClaims(database: database)
        readyJobs = PostgresReadyJobs(database: database)
        completedJobs = PostgresCompletedJobs(database: database)
        uploads = PostgresUploads(database: database)
        history = PostgresHistory(database: database, batches: batches, stamps: stamps)
        upkeep = PostgresHistoryUpkeep(database: database, history: history)
        otherNames = PostgresOtherNames(database: database)
        records = PostgresRecords(database: database, history: history)
        notes = PostgresNotes(database: database)
        hookCalls = PostgresHookCalls(database: database)
        steering = PostgresSteering(database: database, leases: leases)
        endQueries = PostgresEnds(database: database)
        news = PostgresRunStatus(database: database)
        statusQueries = PostgresStatus(database: database)
        jobList = PostgresJobList(database: database)
        jobFacts = PostgresJobFacts(database: database)
        rules = PostgresRules(database: database)
        underWay = PostgresUnderWay(database: database)
    }

    package var sharesBatches: Bool { database.role.sharesBatches }

    package func follow(_ hear: @escaping @Sendable (StoreNotification) -> Void) {
        let new = PostgresLeaseRenewal(database, hear)
        renewal.withLock { $0 = new }
        new.start()
    }

    package func cancelWaits() { database.cancelWaits() }

    package var isAway: Bool { database.isAway }

    /// The longest wait of a process for its database before it ends. Other processes take over the claims that were
    /// not given back by then when the lease is over.
    private static let parting = Duration.seconds(5)

    package func retire() throws {
        renewal.withLock { $0.take() }?.stop()
        let (end, alarm) = (PostgresCancellation(), WorkerPool(name: "queue-parting", threads: 1))
        alarm.execute { [database] in if end.rest(Self.parting) { database.cancelWaits() } }
        defer {
            end.tell()
            alarm.stop()
        }
        try leases.retire()
    }
}
