import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Takes connections until the service is to end; then those that are under way get a moment for their answers.
struct Listener: Sendable {
    let socket: ListeningSocket
    let channel: ServerChannel
    let group: any EventLoopGroup
    /// Connections at once.
    let connections: Int
    let logger: Logger
    /// Called once connections are taken.
    let ready: @Sendable () -> Void

    /// How long answers may take that were begun when the end was asked for.
    private static let patience = Duration.milliseconds(500)

    func run() async throws {
        let server = try await ServerBootstrap(group: group)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AvailableConnectionsChannelHandler(maxConnections: connections))
                }
            }
            .bind(socket.descriptor) { [channel, logger] connection in
                channel.setup(channel: connection, logger: logger)
            }
        ready()
        try await withGracefulShutdownHandler {
            try await server.executeThenClose { inbound in
                await withTaskGroup { tasks in
                    tasks.addTask { await answer(inbound) }
                    tasks.addTask {
                        try? await gracefulShutdown()
                        // A sleep with a reason: requests under way get so long for their answers, and then the connection is closed.
                        try? await Task.sleep(for: Self.patience)
                    }
                    await tasks.next()
                    tasks.cancelAll()
                }
            }
        } onGracefulShutdown: {
            server.channel.close(promise: nil)
        }
    }

    /// Talks with those who connect, until the last of them is gone.
    private func answer(_ inbound: NIOAsyncChannelInboundStream<ServerChannel.Connection>) async {
        await withDiscardingTaskGroup { tasks in
            do {
                for try await connection in inbound {
                    tasks.addTask { await channel.handle(value: connection, logger: logger) }
                }
            } catch {
                logger.error("no more connections are taken: \(error)")
            }
        }
    }
}
