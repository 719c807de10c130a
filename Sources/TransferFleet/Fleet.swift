import TransferJobs
public import TransferQueue
import TransferStorePostgres

/// A queue that many machines share, and the parts that a process may have in it.
public enum Fleet {
    /// Opens the queue, or makes it, to work on it: `run()` takes jobs beside other workers.
    ///
    /// A run ends with an error when the lease is lost, as the database was away for too long or the machine slept; the queue
    /// is closed and opened anew then.
    ///
    /// - Parameter configuration: Its folder isn't touched.
    /// - Throws: `TransferError` when the database can't be used, or can't be reached, and when the task is cancelled.
    public static func work(
        on address: FleetAddress, as worker: FleetWorker, _ configuration: QueueConfiguration
    ) async throws -> JobQueue {
        let (postgres, role, rules) = (address.postgres, PostgresRole.worker(worker.postgres), worker.rules)
        return try await cancellable { opening in
            try await JobQueue.open(configuration) {
                try store(postgres, role, opening, worker.reportDurability)
            } accepting: { spec throws(TransferError) in
                try rules.accepted(spec)
            }
        }
    }

    /// Opens the queue, or makes it, to watch folders of this machine: `WatchedFolder.start(_:on:events:)` brings their files,
    /// and a run takes the folders' jobs beside the queue's workers. Each version of a file is uploaded once, also where
    /// another machine watches the same folder.
    ///
    /// - Parameters:
    ///   - worker: Its rules bound no folder: jobs of the watched ones are done under the settings of `folders`.
    ///   - folders: The folders that will be watched.
    ///   - configuration: Its folder isn't touched.
    /// - Throws: `TransferError` when the database can't be used, or can't be reached, and when the task is cancelled.
    public static func watch(
        _ folders: [WatchSpec], on address: FleetAddress, as worker: FleetWorker, _ configuration: QueueConfiguration
    ) async throws -> JobQueue {
        let (postgres, role) = (address.postgres, PostgresRole.worker(worker.postgres))
        let plans = try folders.map { try WatchPlan($0) }
        return try await cancellable { opening in
            try await JobQueue.open(configuration) {
                try store(postgres, role, opening, worker.reportDurability)
            } accepting: { spec throws(TransferError) in
                guard let plan = plans.first(where: { spec.work.path.hasPrefix($0.root + "/") }) else {
                    throw TransferError(.invalidRequest, "the job's file isn't one of a watched folder")
                }
                return try plan.accepted(spec)
            }
        }
    }

    /// Opens the queue, or makes it, to bring jobs that its workers do.
    ///
    /// - Parameters:
    ///   - configuration: Its folder isn't touched.
    ///   - tellWeakness: ``FleetWorker/reportDurability``
    /// - Throws: `TransferError` when the database can't be used, or can't be reached, and when the task is cancelled.
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
        // A queue that doesn't answer this is worked on all the same: what is asked next says why.
        if let durabilityWarning = try? PostgresReplication(database: store.database).durabilityWarning() { reportDurability(durabilityWarning) }
        return store
    }

    /// Opens a queue; the wait for its database ends when the task is cancelled.
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

    /// Looks at the queue, and steers it.
    ///
    /// - Throws: `TransferError` where there is none, or it can't be reached.
    public static func look(at address: FleetAddress) throws -> QueueRemote {
        QueueRemote(over: try PostgresStore(address.postgres, .onlooker))
    }
}
