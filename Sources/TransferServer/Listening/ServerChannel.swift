import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOWebSocket

/// The pipeline of a connection: requests one after the other, or a WebSocket that the first of them asked for.
struct ServerChannel: HTTPChannelHandler {
    typealias Value = Connection

    /// A connection once it's known what is spoken.
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

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ConnectionTimeouts(limits))
            let upgrade = NIOTypedHTTPServerUpgradeConfiguration<Spoken>(
                upgraders: [webSockets.upgrader(limits)]
            ) { channel in
                channel.eventLoop.makeCompletedFuture { try http(channel) }
            }
            var configuration = NIOUpgradableHTTPServerPipelineConfiguration(upgradeConfiguration: upgrade)
            // The channel's reader takes one request after the other.
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
        try pipeline.addHandler(RequestBounds(limits))
        return .http(
            try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true)))
    }

    func handle(value connection: Connection, logger: Logger) async {
        do {
            switch try await connection.spoken.get() {
            case .http(let channel): await handleHTTP(asyncChannel: channel, logger: logger)
            case .webSocket(let channel): await webSockets.talk(channel)
            }
        } catch {
            // The client left, or spoke no HTTP.
            connection.channel.close(promise: nil)
        }
    }
}
