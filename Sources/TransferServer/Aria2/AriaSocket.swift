import NIOCore
import NIOWebSocket
import TransferQueue

/// A client's conversation over a WebSocket (RFC 6455): its calls are answered in their order, and it's told what happens.
///
/// The notifications name gids alone; whoever is to know them shows the secret in a call first.
struct AriaSocket: Sendable {
    typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    let calls: AriaProtocol
    let news: AriaNotifications

    /// A message of several frames may be so long.
    private static let mostBytes = 8 << 20

    func talk(_ channel: Channel) async throws {
        try await channel.executeThenClose { inbound, outbound in
            guard let joined = news.join() else { return try await close(.unexpectedServerError, outbound) }
            defer { news.leave(joined.number) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await text in joined.notifications { try await outbound.write(.text(text)) }
                }
                group.addTask { try await answer(inbound, outbound) }
                // Whoever of them ends first ends the conversation.
                try await group.next()
                group.cancelAll()
            }
        }
    }

    private func answer(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>,
        _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    ) async throws {
        var message: [UInt8] = []
        for try await frame in inbound {
            // A client masks what it sends (RFC 6455 §5.1).
            guard frame.maskKey != nil else { return try await close(.protocolError, outbound) }
            switch frame.opcode {
            case .text, .binary, .continuation:
                message += Array(buffer: frame.unmaskedData)
                guard message.count <= Self.mostBytes else { return try await close(.messageTooLarge, outbound) }
                guard frame.fin else { continue }
                let answer = await calls.answer(message)
                message = []
                try await outbound.write(.text(answer.bytes))
            case .ping:
                try await outbound.write(WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData))
            case .connectionClose: return try await close(.normalClosure, outbound)
            default: continue
            }
        }
    }

    private func close(
        _ code: WebSocketErrorCode, _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    ) async throws {
        var data = ByteBuffer()
        data.write(webSocketErrorCode: code)
        try await outbound.write(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
    }
}

extension WebSocketFrame {
    fileprivate static func text(_ bytes: [UInt8]) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: bytes))
    }
}
