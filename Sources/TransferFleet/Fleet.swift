import TransferJobs
public import TransferQueue
import TransferStorePostgres

/// The access to a queue that many machines share, by the roles of processes.
public enum Fleet {
    /// Opens or creates the queue to work on it: `run()` takes jobs beside other workers.
    ///
    /// A run ends with an error when the lease is lost, because the database was away for too long or the machine
    /// slept. The program then closes the queue and opens it again.
    ///
    /// - Parameters:
    ///   - address: The address of the queue.
    ///   - worker: The settings of this worker.
    ///   - configuration: The configuration of the queue; its folder is not used.
    /// - Throws: `TransferError` when the database cannot be used or reached, and when the task is cancelled.
    public static func work(
        on address: FleetAddress, as worker: FleetWorker, _ configuration: QueueConfiguration
    ) async throws -> JobQueue {
        let role = PostgresRole.worker(try worker.postgres(configuration.sealingKey))
        let (postgres, rules) = (address.postgres, worker.rules)
        return try await cancellable { opening in
            try await JobQueue.open(configuration) {
                try store(postgres, role, opening, worker.reportDurability)
            } accepting: { spec throws(TransferError) in
                try rules.accepted(spec)
            }
        }
    }

    /// Opens or creates the queue to watch folders of this machine. `WatchedFolder.start(_:on:events:)` adds jobs for
    /// their files, and a run takes the folders' jobs beside the queue's workers. Each version of a file is uploaded
    /// once, even if another machine watches the same folder.
    ///
    /// - Parameters:
    ///   - worker: The worker. Its rules do not bound the watched folders: their jobs are done under the settings of
    ///     `folders`.
    ///   - folders: The folders that will be watched.
    ///   - configuration: The configuration of the queue. Its folder is not touched.
    /// - Throws: `TransferError` if the database cannot be used or reached, or if the task is cancelled.
    public static func watch(
        _ folders: [WatchSpec], on address: FleetAddress, as worker: FleetWorker, _ configuration: QueueConfiguration
    ) async throws -> JobQueue {
        let role = PostgresRole.worker(try worker.postgres(configuration.sealingKey))
        let postgres = address.postgres
        let plans = try folders.map { try WatchPlan($0) }
        return try await cancellable { opening in
            try await JobQueue.open(configuration) {
                try store(postgres, role, opening, worker.reportDurability)
            } accepting: { spec throws(TransferError) in
                guard let plan = plans.first(where: { spec.work.path.hasPrefix($0.root + "/") }) else {
                    throw TransferError(.invalidRequest, "the job's file is not one of a watched folder")
                }
                return try plan.accepted(spec)
            }
        }
    }

    /// Opens or creates the queue to submit jobs, which its workers carry out.
    ///
    /// - Parameters:
    ///   - address: The address of the queue.
    ///   - configuration: The configuration of the queue; its folder is not used.
    ///   - reportDurability: The closure that ``FleetWorker/reportDurability`` documents.
    /// - Throws: `TransferError` when the database cannot be used or reached, and when the task is cancelled.
    public static func bring(
        to address: FleetAddress, _ configuration: QueueConfiguration,
        reportDurability: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> JobQueue {
        let postgres = address.postgres
        return try await cancellable { opening in
            try await JobQueue.open(configuration) { try store(postgres, .submitter, opening, reportDurability) }
        }
    }

    private static func store(
        _ address: PostgresAddress, _ role: PostgresRole, _ opening: PostgresCancellation,
        _ reportDurability: (String) -> Void
    ) throws -> PostgresStore {
        let store = try PostgresStore(address, role, opening: opening)
        // A failure of this query is ignored, as the next query reports the reason.
        if let durabilityWarning = try? PostgresReplication(database: store.database).durabilityWarning() {
            reportDurability(durabilityWarning)
        }
        return store
    }

    /// Opens a queue; cancelling the task ends the wait for its database.
    private static func cancellable(
        _ open: @Sendable (PostgresCancellation) async throws -> JobQueue
    ) async throws -> JobQueue {
        let opening = PostgresCancellation()
        return try await withTaskCancellationHandler {
            try await open(opening)
        } onCancel: {
            opening.tell()
        }
    }

    /// Opens an existing queue to observe and to control it.
    ///
    /// - Throws: `TransferError` when there is no queue, or it cannot be reached.
    public static func look(at address: FleetAddress) throws -> QueueRemote {
        QueueRemote(over: try PostgresStore(address.postgres, .onlooker))
    }
}
