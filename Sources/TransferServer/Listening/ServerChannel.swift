import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOWebSocket

/// The pipeline of a connection: successive requests, or a WebSocket if the first request asks for one.
struct ServerChannel: HTTPChannelHandler {
    typealias Value = Connection

    /// A connection whose protocol has been determined.
    enum Spoken: Sendable {
        case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
        case webSocket(NIOAsyncChannel<WebSocketFrame, WebSocketFrame>)
    }

    struct Connection: ServerChildChannelValue {
        let spoken: EventLoopFuture<Spoken>
        let channel: any Channel
    }

    let responder: Responder
    let limits: ServerLimits
    let webSockets: WebSocketUpgrade
    let connections: ConnectionRegister

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        guard connections.admit(channel) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(ChannelError.alreadyClosed)
        }
        return prepared(channel).flatMapErrorThrowing { error in
            channel.close(promise: nil)
            throw error
        }
    }

    private func prepared(_ channel: any Channel) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ConnectionTimeouts(limits, connections))
            let upgrade = NIOTypedHTTPServerUpgradeConfiguration<Spoken>(
                upgraders: [webSockets.upgrader(limits)]
            ) { channel in
                channel.eventLoop.makeCompletedFuture { try http(channel) }
            }
            var configuration = NIOUpgradableHTTPServerPipelineConfiguration(upgradeConfiguration: upgrade)
            // The channel's reader handles one request after the other.
            configuration.enablePipelining = false
            configuration.enableErrorHandling = false
            configuration.enableResponseHeaderValidation = false
            configuration.decoderConfiguration.maxHeaderListSize = limits.headBytes
            configuration.decoderConfiguration.maxHeaderFieldSize = limits.headBytes
            configuration.decoderConfiguration.maxHeaderFieldCount = 100
            let spoken = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
                configuration: configuration)
            let upgrader = try channel.pipeline.syncOperations.handler(
                type: NIOTypedHTTPServerUpgradeHandler<Spoken>.self)
            try channel.pipeline.syncOperations.addHandlers(
                [MalformedHead(), WebSocketFallback(webSockets)], position: .before(upgrader))
            return Connection(spoken: spoken, channel: channel)
        }
    }

    private func http(_ channel: any Channel) throws -> Spoken {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try pipeline.addHandler(RequestBounds(limits, webSockets.access))
        return .http(
            try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true)))
    }

    func handle(value connection: Connection, logger: Logger) async {
        // A client may be silent, so that the protocol is not even known.
        await withTaskCancellationHandler {
            await converse(connection, logger)
        } onCancel: {
            connection.channel.close(promise: nil)
        }
    }

    private func converse(_ connection: Connection, _ logger: Logger) async {
        do {
            switch try await connection.spoken.get() {
            case .http(let channel): await handleHTTP(asyncChannel: channel, logger: logger)
            case .webSocket(let channel): await webSockets.talk(channel)
            }
        } catch {
            // The client disconnected, or did not use HTTP.
            connection.channel.close(promise: nil)
        }
    }
}
