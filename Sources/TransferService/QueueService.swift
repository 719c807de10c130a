public import ServiceLifecycle
public import TransferQueue

/// A service of a `ServiceGroup` that runs a queue.
///
/// On a graceful shutdown, and when its task is cancelled, all transfers are checkpointed within two seconds, and
/// ``run()`` returns. The next run continues from there, in any process.
///
/// ```swift
/// import ServiceLifecycle
/// import TransferQueue
/// import TransferService
/// import UnixSignals
///
/// let queue = try await TransferQueue.open(.init(state: "/var/lib/mirror", logger: logger))
/// let group = ServiceGroup(
///     services: [QueueService(queue)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await group.run()
/// await queue.close()
/// ```
///
/// A group ends its services in the reverse of their order. This service therefore comes before services that submit
/// jobs.
public struct QueueService: Service, CustomStringConvertible {
    private let queue: JobQueue

    /// Creates a service.
    ///
    /// - Parameter queue: The queue, which stays open when the service ends. The caller that opened it closes it.
    public init(_ queue: JobQueue) { self.queue = queue }

    /// Works on every batch that no other process has, and on jobs that are submitted meanwhile.
    ///
    /// - Throws: `TransferError` when the queue's database fails. The end of the service is no error.
    public func run() async throws {
        let queue = queue
        try await cancelWhenGracefulShutdown { try await queue.run() }
    }

    /// The name of the service in the group's log.
    public var description: String { "QueueService" }
}
