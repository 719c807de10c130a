import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The handler that reports the progress of requests, and closes connections whose request exceeds the limit for
/// bodies.
final class RequestBounds: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let mostBytes: Int
    private var received = 0

    init(_ limits: ServerLimits) { mostBytes = limits.bodyBytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: received = 0
        case .body(let bytes):
            received += bytes.readableBytes
            // An overlong body has been refused; a client that continues to send is disconnected.
            guard received <= mostBytes + Self.slack else { return context.close(promise: nil) }
        case .end: tell(context, .complete)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        if isEnd { tell(context, .answered) }
    }

    private func tell(_ context: ChannelHandlerContext, _ progress: RequestProgress) {
        context.channel.pipeline.fireUserInboundEventTriggered(progress)
    }

    /// The number of bytes that may be in transit when a refusal is sent.
    private static let slack = 1 << 20
}
