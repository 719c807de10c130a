import NIOCore
import NIOHTTP1

/// The handler that answers an invalid or overlong request head, where no valid one precedes it on the connection.
final class MalformedHead: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var hasHead = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasHead = true
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Faults of later heads are answered after the requests before them.
        guard !hasHead, let fault = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        hasHead = true
        let isLong = fault == .headerOverflow
        let head = HTTPResponseHead(
            version: .http1_1, status: isLong ? .requestHeaderFieldsTooLarge : .badRequest,
            headers: ["Content-Length": "0", "Connection": "close"])
        let channel = context.channel
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }
}
