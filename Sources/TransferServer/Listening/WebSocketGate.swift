import NIOCore
import NIOHTTP1

/// Has a request that asks for a WebSocket and may not have one go on as one that asks for nothing: it's answered, and the
/// connection isn't just ended.
final class WebSocketGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let door: WebSocketDoor

    init(_ door: WebSocketDoor) { self.door = door }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.headers.contains(name: "Upgrade"), !door.admits(head)
        else { return context.fireChannelRead(data) }
        head.headers.remove(name: "Upgrade")
        head.headers.remove(name: "Connection")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
