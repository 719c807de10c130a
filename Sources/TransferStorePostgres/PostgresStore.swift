import TransferCore
import TransferJobs
import TransferStore

/// The queue in a PostgreSQL database, for processes on many machines. Every function blocks: for the store's own worker.
///
/// The store is a face: each topic is a part of its own, which knows the database and what it shares with others.
package final class PostgresStore: JobStore, RunMemory {
    package let database: PostgresDatabase
    package let sharesBatches: Bool

    package let leases: PostgresLeases
    package let batches: PostgresBatches
    package let staging: PostgresStaging
    package let claims: PostgresClaims
    package let readyJobs: PostgresReadyJobs
    package let completedJobs: PostgresCompletedJobs
    package let uploads: PostgresUploads
    package let records: PostgresRecords
    package let notes: PostgresNotes
    package let hookCalls: PostgresHookCalls
    package let steering: PostgresSteering
    package let endQueries: PostgresEnds
    package let news: PostgresNews

    /// Opens the queue at the address, or makes it, and takes back what lost processes had.
    ///
    /// - Parameter sharesBatches: Batches are taken beside other processes that do the same, for a worker of a fleet; else a
    ///   batch is one process's at a time.
    /// - Throws: `TransferError`.
    package init(_ address: PostgresAddress, sharesBatches: Bool = false) throws {
        self.sharesBatches = sharesBatches
        database = try PostgresDatabase(address)
        let doubtful = DoubtfulBatches()
        leases = PostgresLeases(database: database, doubtful: doubtful)
        batches = PostgresBatches(
            database: database, leases: leases, doubtful: doubtful, areShared: sharesBatches)
        staging = PostgresStaging(database: database, batches: batches, doubtful: doubtful)
        claims = PostgresClaims(database: database)
        readyJobs = PostgresReadyJobs(database: database)
        completedJobs = PostgresCompletedJobs(database: database)
        uploads = PostgresUploads(database: database)
        records = PostgresRecords(database: database)
        notes = PostgresNotes(database: database)
        hookCalls = PostgresHookCalls(database: database)
        steering = PostgresSteering(database: database, leases: leases)
        endQueries = PostgresEnds(database: database)
        news = PostgresNews(database: database)
    }
}
