public import ServiceLifecycle
public import TransferQueue

/// Runs a queue as a service of a `ServiceGroup`.
///
/// On a graceful shutdown, and when its task is cancelled, everything under way is checkpointed, within two seconds, and
/// ``run()`` returns. The next run goes on from there, in whichever process.
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
/// A group ends its services in the reverse of their order. Put this one before those that submit jobs.
public struct QueueService: Service, CustomStringConvertible {
    private let queue: JobQueue

    /// - Parameter queue: It stays open when the service ends: whoever opened it closes it.
    public init(_ queue: JobQueue) { self.queue = queue }

    /// Works on every batch that no other process has, and on what is submitted meanwhile.
    ///
    /// - Throws: `TransferError` when the queue's database fails. The end of the service is no error.
    public func run() async throws {
        let queue = queue
        try await cancelWhenGracefulShutdown { try await queue.run() }
    }

    /// The name of the service in the group's log.
    public var description: String { "QueueService" }
}
