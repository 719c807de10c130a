import HTTPTypes
import Hummingbird
public import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
public import TransferQueue
import TransferService

/// How a queue is served.
public struct ServerConfiguration: Sendable {
    public var address: ListenAddress
    public var access: AccessRules
    public var rules: OutsideRules
    public var limits = ServerLimits()
    /// The bounds that the queue runs by, until a client changes them.
    public var running = BatchLimits()
    public var logger = Logger(label: "TransferServer")
    /// Where the service remembers what its clients have put away; `nil` for nowhere.
    public var stateFolder: String?
    /// Called once the service runs: a signal ends it in order from then on.
    public var ready: @Sendable (ListenAddress) -> Void = { _ in }
    /// Ends the program in order: a client has asked for that.
    public var shutdown: @Sendable () -> Void = {}

    public init(address: ListenAddress, access: AccessRules, rules: OutsideRules) {
        self.address = address
        self.access = access
        self.rules = rules
    }
}

/// A queue behind HTTP, as a service of a `ServiceGroup`: its API, its page, aria2's interface and its metrics.
///
/// The queue itself is run by `QueueService`, which stands before this one in the group, so that nobody is served any more
/// when it ends.
public struct TransferServer: Service, CustomStringConvertible {
    private let configuration: ServerConfiguration
    private let socket: ListeningSocket
    private let served: ServedQueue
    private let parts: ServerParts

    /// The address at which the service really listens: a port of 0 is the kernel's choice.
    public var address: ListenAddress { socket.address }

    /// Listens from now on; answers come when it runs.
    ///
    /// - Parameters:
    ///   - queue: It stays open when the service ends.
    ///   - remote: The same queue, for looks at it.
    /// - Throws: `TransferError` when nothing can listen there.
    public init(_ queue: JobQueue, _ remote: QueueRemote, _ configuration: ServerConfiguration) throws {
        self.configuration = configuration
        socket = try ListeningSocket(configuration.address)
        served = ServedQueue(queue, remote, configuration.rules)
        parts = ServerParts(served, configuration)
        parts.reader.listen()
    }

    public func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = ServerChannel(
            responder: parts.responder(), limits: configuration.limits, webSockets: parts.webSockets)
        let listener = Listener(
            socket: socket, channel: channel, group: group, connections: configuration.limits.connections,
            logger: configuration.logger
        ) { [configuration, socket] in configuration.ready(socket.address) }
        do {
            try await withThrowingTaskGroup { tasks in
                tasks.addTask { try await parts.reader.run() }
                tasks.addTask { try await listener.run() }
                try await tasks.waitForAll()
            }
        } catch {
            socket.removeFile()
            throw error
        }
        socket.removeFile()
        await served.close()
        try? await group.shutdownGracefully()
    }

    /// Other bounds on what is under way, until a client changes them.
    public func setLimits(_ limits: BatchLimits) { parts.running.change { $0 = limits } }

    public var description: String { "TransferServer" }
}
