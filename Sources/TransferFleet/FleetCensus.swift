public import TransferQueue
import TransferStorePostgres

/// The state of a whole queue, by which the number of workers can follow its work.
public struct FleetCensus: Sendable, Hashable {
    /// The jobs that a worker could start, by the tags that they ask for.
    public struct ReadyJobs: Sendable, Hashable {
        public var tags: WorkerTags
        public var jobs: Int
        /// The time when the oldest of them came into the queue, in milliseconds since 1970.
        public var oldest: Int64
    }

    public var ready: [ReadyJobs]
    public var workers: [WorkerStatus]
}

/// An observer of a whole queue, with a connection of its own. A process without any other part in the queue than
/// `read` may use it.
public final class FleetObserver: Sendable {
    private let store: PostgresStore

    /// Connects to an existing queue.
    ///
    /// - Throws: `TransferError` when there is no queue, or it cannot be reached.
    public init(_ address: FleetAddress) throws { store = try PostgresStore(address.postgres, .onlooker) }

    /// Reads the state. The cost grows with the number of ready jobs and of workers, and not with that of past jobs. The
    /// function blocks, at most for 30 seconds.
    ///
    /// - Throws: `TransferError` when the database fails.
    public func census() throws -> FleetCensus {
        do {
            let ready = try store.statusQueries.readyJobs().map { tags, jobs, oldest in
                FleetCensus.ReadyJobs(tags: WorkerTags(text: tags) ?? .none, jobs: jobs, oldest: oldest)
            }
            return FleetCensus(ready: ready, workers: try store.workers())
        } catch {
            throw store.fault(error)
        }
    }

    /// Ends a wait for the database; later calls fail at once. May be called from any thread.
    public func cancelWaits() { store.cancelWaits() }
}
