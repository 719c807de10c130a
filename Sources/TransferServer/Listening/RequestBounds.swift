import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The handler that reports the progress of requests, and closes connections whose request exceeds the limit for
/// bodies. A client that waits for permission to send its body receives it (RFC 9110 §10.1.1).
final class RequestBounds: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let mostBytes: Int
    private var received = 0
    /// The number of requests whose responses have not ended.
    private var unanswered = 0
    /// Whether the response to the current request ended before the request.
    private var isAnsweredEarly = false
    /// Whether the end of the current request is still to come.
    private var isOpen = false

    init(_ limits: ServerLimits) { mostBytes = limits.bodyBytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            (received, isOpen, isAnsweredEarly) = (0, true, false)
            // A permission within the response to an earlier request would be a part of that response.
            if unanswered == 0, head.headerFields[.expect]?.lowercased() == "100-continue", !isTooLong(head) {
                let answer = HTTPResponsePart.head(HTTPResponse(status: .continue))
                context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
            }
            unanswered += 1
        case .body(let bytes):
            received += bytes.readableBytes
            // An overlong body has been refused; a client that continues to send is disconnected.
            guard received <= mostBytes + Self.slack else { return context.close(promise: nil) }
        case .end:
            isOpen = false
            tell(context, isAnsweredEarly ? .answered : .complete)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        guard isEnd else { return }
        unanswered -= 1
        if isOpen, unanswered == 0 { isAnsweredEarly = true }
        tell(context, .answered)
    }

    /// Returns whether the request will be refused for its length, so that its body is not wanted.
    private func isTooLong(_ head: HTTPRequest) -> Bool {
        head.headerFields[.contentLength].flatMap { Int($0) }.map { $0 > mostBytes } ?? false
    }

    private func tell(_ context: ChannelHandlerContext, _ progress: RequestProgress) {
        context.channel.pipeline.fireUserInboundEventTriggered(progress)
    }

    /// The number of bytes that may be in transit when a refusal is sent.
    private static let slack = 1 << 20
}
