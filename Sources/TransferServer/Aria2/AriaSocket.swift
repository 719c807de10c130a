import NIOCore
import NIOWebSocket
import TransferQueue

/// A client's conversation over a WebSocket (RFC 6455): its calls are answered in order, and it receives notifications
/// once a call has contained a secret.
struct AriaSocket: Sendable {
    typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    let calls: AriaProtocol
    let news: AriaNotifications
    /// Whether every client has all rights, so that none has to show a secret.
    let isOpen: Bool
    let connections: ConnectionRegister
    let limits: ServerLimits

    func talk(_ channel: Channel) async throws {
        try await channel.executeThenClose { inbound, outbound in
            let (start, isKnown) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let known = { @Sendable in
                // From now on the conversation may last as long as the client wants.
                channel.channel.pipeline.fireUserInboundEventTriggered(RequestProgress.complete)
                connections.trust(channel.channel)
                isKnown.yield()
            }
            if isOpen { known() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await notify(outbound, from: start) }
                group.addTask { try await answer(inbound, outbound, channel.channel, secretIsShown: known) }
                // The first of the tasks to end also ends the conversation.
                try await group.next()
                group.cancelAll()
            }
        }
    }

    /// Sends notifications, from the time on at which the client has shown a secret.
    private func notify(
        _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>, from start: AsyncStream<Void>
    ) async throws {
        for await _ in start { break }
        guard !Task.isCancelled else { return }
        guard let joined = news.join() else { return try await close(.unexpectedServerError, outbound) }
        defer { news.leave(joined.number) }
        for await text in joined.notifications { try await outbound.write(.text(text)) }
    }

    private func answer(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
        _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>, _ channel: any NIOCore.Channel,
        secretIsShown: () -> Void
    ) async throws {
        var isKnown = isOpen
        var messages = SocketMessages(
            mostBytes: limits.callBytes, strangerBytes: isKnown ? nil : limits.strangerBytes)
        for try await frame in inbound {
            var action = messages.receive(SocketMessages.Frame(frame))
            if case .identify(let first) = action {
                action = messages.identify(isKnown: await calls.isSecretShown(in: first, from: channel, connections))
            }
            switch action {
            case .wait, .identify: continue
            case .answer(let message):
                let answer = await calls.answer(message)
                if answer.level > .unauthenticated, !isKnown {
                    isKnown = true
                    messages.trust()
                    secretIsShown()
                }
                try await outbound.write(.text(answer.bytes))
            case .pong(let data):
                try await outbound.write(WebSocketFrame(fin: true, opcode: .pong, data: ByteBuffer(bytes: data)))
            case .close(let code):
                return try await close(code.map { WebSocketErrorCode(codeNumber: Int($0)) }, outbound)
            }
        }
    }

    private func close(
        _ code: WebSocketErrorCode?, _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    ) async throws {
        var data = ByteBuffer()
        if let code { data.write(webSocketErrorCode: code) }
        try await outbound.write(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
    }
}

extension WebSocketFrame {
    fileprivate static func text(_ bytes: [UInt8]) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: bytes))
    }
}

extension SocketMessages.Frame {
    fileprivate init(_ frame: WebSocketFrame) {
        self.init(
            isFinal: frame.fin, hasReservedBits: frame.rsv1 || frame.rsv2 || frame.rsv3,
            opcode: UInt8(webSocketOpcode: frame.opcode), isMasked: frame.maskKey != nil,
            payload: Array(buffer: frame.unmaskedData))
    }
}
