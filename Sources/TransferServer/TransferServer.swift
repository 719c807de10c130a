import HTTPTypes
import Hummingbird
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
public import TransferQueue
import TransferService

/// The configuration of a queue's server.
public struct ServerConfiguration: Sendable {
    /// The address at which the service listens.
    public var address: ListenAddress
    /// The clients that are admitted, and their rights.
    public var access: AccessRules
    /// The rules for jobs that clients submit.
    public var rules: OutsideRules
    /// The key by which secrets that clients write out are stored. The queue's configuration has the same key.
    ///
    /// Without a key, such jobs are refused, and jobs with a signed URL fail when the process ends.
    public var sealingKey: SealingKey?
    /// Whether other processes take jobs from the queue. Jobs with sealed secrets then go to those with the same key.
    public var isShared = false
    /// The limits on the resources that clients can use.
    public var limits = ServerLimits()
    /// The limits of the queue's run, until a client changes them.
    public var running = BatchLimits()
    /// The logger of the service.
    public var logger = Logger(label: "TransferServer")
    /// The folder in which the service stores the results that clients have purged; `nil` for none.
    public var stateFolder: String?
    /// The address of a queue that many machines share; `nil` for one in a folder. What clients have purged is stored for
    /// each queue, so that it hides no results of another one.
    public var queueAddress: String?
    /// A closure that is called once the service runs; from then on, a signal ends it gracefully.
    public var ready: @Sendable (ListenAddress) -> Void = { _ in }
    /// A closure that ends the program gracefully, on a client's request.
    public var shutdown: @Sendable () -> Void = {}

    var sealer: JobSealer? { sealingKey.map { JobSealer($0, isShared: isShared) } }

    /// Creates a configuration with the default limits.
    public init(address: ListenAddress, access: AccessRules, rules: OutsideRules) {
        self.address = address
        self.access = access
        self.rules = rules
    }
}

/// A queue with an HTTP server, as a service of a `ServiceGroup`: its API, its page, aria2's interface and its metrics.
///
/// `QueueService` runs the queue itself. It must precede this service in the group, so that no client is served after
/// the queue has ended.
public struct TransferServer: Service, CustomStringConvertible {
    private let configuration: ServerConfiguration
    private let socket: ListeningSocket
    private let served: ServedQueue
    private let parts: ServerParts

    /// The actual address of the service: for a port of 0, the kernel chooses one.
    public var address: ListenAddress { socket.reachable }

    /// Opens the listening socket; requests are answered once the service runs.
    ///
    /// - Parameters:
    ///   - queue: The queue, which stays open when the service ends.
    ///   - remote: The same queue, for queries.
    /// - Throws: `TransferError` where the address cannot be used, or the rules for access contradict each other.
    public init(_ queue: JobQueue, _ remote: QueueRemote, _ configuration: ServerConfiguration) throws {
        try configuration.access.check()
        self.configuration = configuration
        socket = try ListeningSocket(configuration.address)
        served = ServedQueue(queue, remote, configuration.rules)
        parts = ServerParts(served, configuration)
        parts.reader.listen()
    }

    /// Serves the queue until the service is shut down gracefully.
    ///
    /// - Throws: The error that ended the service; a shutdown is not an error.
    public func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = ServerChannel(
            responder: parts.responder(), limits: configuration.limits, webSockets: parts.webSockets,
            connections: parts.connections)
        let listener = Listener(
            socket: socket, channel: channel, group: group, logger: configuration.logger
        ) { [configuration, socket] in configuration.ready(socket.reachable) }
        let bound = EndingBound { [served] in served.cancelWaits() }
        var failure: (any Error)?
        do {
            try await bound.run {
                try await withThrowingTaskGroup { tasks in
                    tasks.addTask { try await parts.reader.run() }
                    tasks.addTask { await parts.forgetForeignMarks(served) }
                    tasks.addTask { try await listener.run() }
                    try await tasks.waitForAll()
                }
            }
        } catch {
            failure = error
        }
        socket.removeFile()
        bound.begin()
        await served.close()
        bound.end()
        try? await group.shutdownGracefully()
        if let failure { throw failure }
    }

    /// Sets the limits on simultaneous work, until a client changes them.
    public func setLimits(_ limits: BatchLimits) { parts.running.change { $0 = limits } }

    /// The name of the service.
    public var description: String { "TransferServer" }
}
