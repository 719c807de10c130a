import NIOCore

/// Ends connections whose clients take too long, or send too much, so that a slow client costs a descriptor for a while and
/// nothing else.
///
/// A request has a time from its first byte to its last; a connection without a request has one too. An answer that the
/// client doesn't read ends with its connection after a time without progress.
final class ConnectionTimeouts: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// A request that has begun, or a connection that waits for one, ends after this.
    private let wait: TimeAmount
    private var deadline: Scheduled<Void>?
    private var stall: Scheduled<Void>?

    init(_ limits: ServerLimits) {
        wait = TimeAmount(limits.requestTime)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { expect(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        expect(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        relax()
        stall?.cancel()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? RequestProgress {
        case .complete: relax()
        case .answered: expect(context)
        case nil: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stall?.cancel()
        if !context.channel.isWritable { stall = close(context) }
        context.fireChannelWritabilityChanged()
    }

    private func expect(_ context: ChannelHandlerContext) {
        relax()
        deadline = close(context)
    }

    private func close(_ context: ChannelHandlerContext) -> Scheduled<Void> {
        let channel = context.channel
        return context.eventLoop.scheduleTask(in: wait) { channel.close(promise: nil) }
    }

    private func relax() {
        deadline?.cancel()
        deadline = nil
    }
}

/// The word from the one who knows requests to the one who knows connections.
enum RequestProgress {
    case complete, answered
}
