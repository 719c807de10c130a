import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The handler that reports the progress of requests, and closes connections whose request exceeds the limit for
/// bodies. A client that waits for permission to send its body receives it (RFC 9110 §10.1.1).
///
/// A client without a valid secret is refused before its body is read. The refusal closes the connection, so that the
/// body is not read either to find the next request.
final class RequestBounds: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The paths of calls whose body contains the secret.
    private static let calls: Set = ["/jsonrpc", "/rpc"]

    private let limits: ServerLimits
    private let access: AccessRules
    /// The maximum length of the current request's body.
    private var mostBytes: Int
    /// Whether the client of the current request has shown no secret in its head.
    private var isStranger = false
    private var received = 0
    /// The number of requests whose responses have not ended.
    private var unanswered = 0
    /// Whether the response to the current request ended before the request.
    private var isAnsweredEarly = false
    /// Whether the end of the current request is still to come.
    private var isOpen = false

    init(_ limits: ServerLimits, _ access: AccessRules) {
        self.limits = limits
        self.access = access
        mostBytes = limits.bodyBytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            (received, isOpen, isAnsweredEarly) = (0, true, false)
            isStranger = access.level(authorization: head.headerFields[.authorization]) == .unauthenticated
            mostBytes = bodyBytes(of: head)
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
            if isRefused { return }
        case .end:
            isOpen = false
            if isRefused { return context.close(promise: nil) }
            tell(context, isAnsweredEarly ? .answered : .complete)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        let isEnd = if case .end = part { true } else { false }
        if case .head(var head) = part, isOpen, unanswered == 1, isStranger {
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        } else {
            context.write(data, promise: promise)
        }
        guard isEnd else { return }
        unanswered -= 1
        if isOpen, unanswered == 0 {
            isAnsweredEarly = true
            // From now on, bytes in transit alone are accepted.
            if isStranger { mostBytes = received }
        }
        tell(context, .answered)
    }

    /// Whether the client of the current request was refused before the end of its body.
    private var isRefused: Bool { isAnsweredEarly && isStranger }

    /// Returns the maximum length of the body: that of a call of aria2's interface is decided by its first bytes.
    private func bodyBytes(of head: HTTPRequest) -> Int {
        guard isStranger else { return limits.bodyBytes }
        let path = head.path.map { String($0.prefix { $0 != "?" }) } ?? ""
        return Self.calls.contains(path) ? limits.callBytes : 0
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
