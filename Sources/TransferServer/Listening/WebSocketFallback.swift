import NIOCore
import NIOHTTP1

/// Has a request that asks for a WebSocket and may not have one go on as one that asks for nothing: it's answered, and the
/// connection isn't just ended.
final class WebSocketFallback: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let upgrade: WebSocketUpgrade

    private var isFirst = true
    private var isWebSocket = false

    init(_ upgrade: WebSocketUpgrade) { self.upgrade = upgrade }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Behind a request that became a WebSocket come bytes, which are no parts.
        guard !isWebSocket, case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let isFirst = isFirst
        self.isFirst = false
        guard head.headers.contains(name: "Upgrade") || head.method == .CONNECT else {
            return context.fireChannelRead(data)
        }
        if isFirst, upgrade.admits(head) {
            isWebSocket = true
            return context.fireChannelRead(data)
        }
        head.headers.remove(name: "Upgrade")
        // The parser reads no request behind one that asked for something else.
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
