import NIOCore
import NIOHTTP1

/// The handler that treats a refused WebSocket request as a plain request. It is answered, instead of closing the
/// connection without a response.
final class WebSocketFallback: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let upgrade: WebSocketUpgrade

    private var isFirst = true
    private var isWebSocket = false

    init(_ upgrade: WebSocketUpgrade) { self.upgrade = upgrade }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A WebSocket's bytes follow its request, and are no parts of HTTP.
        guard !isWebSocket, case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let isFirst = isFirst
        self.isFirst = false
        // A client of HTTP/1.0 understands no interim response (RFC 9110 §10.1.1).
        if head.version == .http1_0, head.headers.contains(name: "Expect") {
            head.headers.remove(name: "Expect")
            return context.fireChannelRead(wrapInboundOut(.head(head)))
        }
        guard head.headers.contains(name: "Upgrade") || head.method == .CONNECT else {
            return context.fireChannelRead(data)
        }
        if isFirst, upgrade.admits(head) {
            isWebSocket = true
            return context.fireChannelRead(data)
        }
        head.headers.remove(name: "Upgrade")
        // The parser reads no further request after one that asked for an upgrade.
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
