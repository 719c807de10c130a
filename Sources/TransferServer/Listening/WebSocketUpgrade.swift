import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The entry point for WebSocket requests. It admits those whose page has access, and passes on the conversation.
struct WebSocketUpgrade: Sendable {
    let access: AccessRules
    let path: String
    /// A closure that conducts the conversation until the client or the service ends it.
    let conversation: @Sendable (NIOAsyncChannel<WebSocketFrame, WebSocketFrame>) async throws -> Void

    func upgrader(_ limits: ServerLimits) -> NIOTypedWebSocketServerUpgrader<ServerChannel.Spoken> {
        NIOTypedWebSocketServerUpgrader(maxFrameSize: Self.frameBytes) { channel, head in
            // Any result but header fields refuses: the request is answered like one without an upgrade.
            channel.eventLoop.makeSucceededFuture(admits(head) ? HTTPHeaders() : nil)
        } upgradePipelineHandler: { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                // A conversation has no heads to check. It is bounded like a request until it has shown a secret.
                let pipeline = channel.pipeline.syncOperations
                return (
                    pipeline.removeHandler(context: try pipeline.context(handlerType: MalformedHead.self)),
                    pipeline.removeHandler(context: try pipeline.context(handlerType: WebSocketFallback.self))
                )
            }.flatMap { (one: EventLoopFuture<Void>, other: EventLoopFuture<Void>) in
                one.and(other)
            }.flatMapThrowing { _ in
                .webSocket(
                    try NIOAsyncChannel(
                        wrappingChannelSynchronously: channel,
                        configuration: NIOAsyncChannel.Configuration(
                            backPressureStrategy: .init(
                                lowWatermark: Self.waitingFrames, highWatermark: Self.waitingFrames))))
            }
        }
    }

    /// Returns whether a request is a valid opening handshake in every field (RFC 6455 §4.2.1). The parser, the
    /// upgrader and this check must agree on what follows the head.
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
            admits(connection: only("Connection") ?? ""),
            host != nil, access.admits(host: host)
        else { return false }
        return access.admits(origin: fields.first(name: "Origin"), host: host)
    }

    /// Returns whether the field asks for the upgrade, and for nothing that changes the head: a list whose blanks are
    /// optional (RFC 9110 §5.6.1).
    private func admits(connection: String) -> Bool {
        let options = connection.lowercased().split(separator: ",", omittingEmptySubsequences: false).map {
            $0.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        }
        return options.contains("upgrade") && options.allSatisfy { ["upgrade", "keep-alive"].contains($0) }
    }

    func talk(_ channel: NIOAsyncChannel<WebSocketFrame, WebSocketFrame>) async {
        do {
            try await conversation(channel)
        } catch {
            channel.channel.close(promise: nil)
        }
    }

    /// The maximum length of a frame in bytes; calls of aria2's clients are much shorter.
    static let frameBytes = 1 << 20
    /// The number of frames that wait for the conversation, after which the client's next one is not read.
    static let waitingFrames = 1
}
