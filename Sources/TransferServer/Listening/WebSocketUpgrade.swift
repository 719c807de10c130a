import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Lets requests in that ask for a WebSocket, where their page may ask, and hands the conversation on.
struct WebSocketUpgrade: Sendable {
    let access: AccessRules
    let path: String
    /// Talks until the client or the service ends.
    let conversation: @Sendable (NIOAsyncChannel<WebSocketFrame, WebSocketFrame>) async throws -> Void

    func upgrader(_ limits: ServerLimits) -> NIOTypedWebSocketServerUpgrader<ServerChannel.Spoken> {
        NIOTypedWebSocketServerUpgrader(maxFrameSize: Self.frameBytes) { channel, head in
            // Anything but fields refuses: the request is answered as one that wants no upgrade.
            channel.eventLoop.makeSucceededFuture(admits(head) ? HTTPHeaders() : nil)
        } upgradePipelineHandler: { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                // A conversation has no requests to be waited for, and no heads to be judged.
                channel.pipeline.fireUserInboundEventTriggered(RequestProgress.complete)
                let pipeline = channel.pipeline.syncOperations
                return (
                    pipeline.removeHandler(context: try pipeline.context(handlerType: MalformedHead.self)),
                    pipeline.removeHandler(context: try pipeline.context(handlerType: WebSocketFallback.self))
                )
            }.flatMap { (one: EventLoopFuture<Void>, other: EventLoopFuture<Void>) in
                one.and(other)
            }.flatMapThrowing { _ in
                .webSocket(try NIOAsyncChannel(wrappingChannelSynchronously: channel))
            }
        }
    }

    /// Only what is an opening handshake in every field (RFC 6455 §4.2.1): the parser, the upgrader and this have to be of one
    /// mind about what follows the head.
    func admits(_ head: HTTPRequestHead) -> Bool {
        let fields = head.headers
        func only(_ name: String) -> String? {
            let values = fields[name]
            return values.count == 1 ? values[0] : nil
        }
        let host = only("Host")
        guard head.method == .GET, head.version == .http1_1, head.uri.prefix(while: { $0 != "?" }) == path,
            only("Upgrade")?.lowercased() == "websocket", only("Sec-WebSocket-Version") == "13",
            only("Sec-WebSocket-Key") != nil,
            !fields.contains(name: "Content-Length"), !fields.contains(name: "Transfer-Encoding"),
            // As some clients write it, and as others do.
            ["upgrade", "keep-alive, upgrade", "upgrade, keep-alive"].contains(only("Connection")?.lowercased()),
            host != nil, access.admits(host: host)
        else { return false }
        return access.admits(origin: fields.first(name: "Origin"), host: host)
    }

    func talk(_ channel: NIOAsyncChannel<WebSocketFrame, WebSocketFrame>) async {
        do {
            try await conversation(channel)
        } catch {
            channel.channel.close(promise: nil)
        }
    }

    /// A call of aria2's clients is shorter by far.
    static let frameBytes = 1 << 20
}
