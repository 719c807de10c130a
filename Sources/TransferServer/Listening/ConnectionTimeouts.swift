import NIOCore

/// The handler that closes connections of slow clients, so that a slow client only occupies a descriptor for some time.
/// The handler also reports to the register of connections what a connection does.
///
/// The time from the first to the last byte of a request is limited, and so is the time of a connection without a
/// request. A connection whose client does not read a response is closed after some time without progress.
final class ConnectionTimeouts: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// The time after which an incomplete request, or a connection without a request, is ended.
    private let wait: TimeAmount
    private var deadline: Scheduled<Void>?
    private var stall: Scheduled<Void>?
    private let connections: ConnectionRegister

    init(_ limits: ServerLimits, _ connections: ConnectionRegister) {
        wait = TimeAmount(limits.requestTime)
        self.connections = connections
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
        case .complete:
            relax()
            connections.answers(context.channel)
        case .answered:
            expect(context)
            connections.isSilent(context.channel)
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

/// The event with which the request handler informs the connection handler.
enum RequestProgress {
    case complete, answered
}
