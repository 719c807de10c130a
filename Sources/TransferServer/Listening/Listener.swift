import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TransferQueue

/// The service that accepts connections until it is to end. Active connections then get a short time for their
/// responses.
struct Listener: Sendable {
    let socket: ListeningSocket
    let channel: ServerChannel
    let group: any EventLoopGroup
    let logger: Logger
    /// A closure that is called once connections are accepted.
    let ready: @Sendable () -> Void

    /// The time for responses that had begun before the end was requested.
    private static let patience = Duration.milliseconds(500)

    func run() async throws {
        let server = try await ServerBootstrap(group: group)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
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
                        // A sleep with a reason: active requests get this time for their responses, and then their
                        // connections are closed.
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

    /// Handles connections until the last of them has ended.
    private func answer(_ inbound: NIOAsyncChannelInboundStream<ServerChannel.Connection>) async {
        await withDiscardingTaskGroup { tasks in
            do {
                for try await connection in inbound {
                    tasks.addTask { await channel.handle(value: connection, logger: logger) }
                }
            } catch is CancellationError {
                // The service ends, and says why itself.
            } catch {
                logger.error("no more connections are taken: \(error)")
            }
        }
    }
}
