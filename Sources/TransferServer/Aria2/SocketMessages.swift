/// The messages of a client's WebSocket, assembled from frames by the rules of RFC 6455.
///
/// The decoder below has refused fragmented control frames and control frames of more than 125 bytes.
struct SocketMessages {
    struct Frame {
        var isFinal = true
        /// Whether a reserved bit is set; none has a meaning without an extension.
        var hasReservedBits = false
        var opcode: UInt8
        var isMasked = true
        /// The payload, unmasked.
        var payload: [UInt8] = []
    }

    /// The reaction to a frame.
    enum Action: Equatable {
        /// The message is not complete, or the frame needs no answer.
        case wait
        case answer([UInt8])
        /// The message is longer than that of an unknown client may be. Its first bytes may show a secret: whether they
        /// do is reported by ``SocketMessages/identify(isKnown:)``.
        case identify([UInt8])
        case pong([UInt8])
        /// The conversation ends, with a close frame of this status code; `nil` for a frame without one.
        case close(UInt16?)
    }

    /// The codes of RFC 6455 §7.4.1.
    private enum Code {
        static let protocolError: UInt16 = 1002
        static let invalidText: UInt16 = 1007
        static let tooLarge: UInt16 = 1009
    }

    /// The maximum length of a message of several frames.
    private let mostBytes: Int
    /// The length of a message up to which the client shows a secret; `nil` once it has shown one.
    private var strangerBytes: Int?
    private var message: [UInt8] = []
    /// Whether the last frame of the message has come.
    private var isComplete = false
    /// Whether the fragments of the current message are text; `nil` between two messages.
    private var isText: Bool?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - mostBytes: The maximum length of a message of several frames.
    ///   - strangerBytes: The length of a message up to which the client shows a secret; `nil` for a client that need
    ///     not show one.
    init(mostBytes: Int, strangerBytes: Int? = nil) {
        self.mostBytes = mostBytes
        self.strangerBytes = strangerBytes
    }

    /// Notes that the client has shown a secret, so that its messages have the usual bound.
    mutating func trust() { strangerBytes = nil }

    /// Continues with a message after ``Action/identify(_:)``.
    ///
    /// - Parameter isKnown: Whether the first bytes show a valid secret.
    mutating func identify(isKnown: Bool) -> Action {
        guard isKnown else { return .close(Code.tooLarge) }
        trust()
        return end()
    }

    mutating func receive(_ frame: Frame) -> Action {
        // Frames from a client must be masked (§5.1).
        guard frame.isMasked, !frame.hasReservedBits else { return .close(Code.protocolError) }
        switch frame.opcode {
        case 0x0:
            guard isText != nil else { return .close(Code.protocolError) }
            return add(frame)
        case 0x1, 0x2:
            guard isText == nil else { return .close(Code.protocolError) }
            isText = frame.opcode == 0x1
            return add(frame)
        case 0x8: return Self.close(frame.payload)
        case 0x9: return .pong(frame.payload)
        case 0xA: return .wait
        default: return .close(Code.protocolError)
        }
    }

    private mutating func add(_ frame: Frame) -> Action {
        guard message.count + frame.payload.count <= mostBytes else { return .close(Code.tooLarge) }
        message += frame.payload
        isComplete = frame.isFinal
        if let strangerBytes, message.count > strangerBytes { return .identify(Array(message.prefix(strangerBytes))) }
        return end()
    }

    /// Passes on the message if it is complete.
    private mutating func end() -> Action {
        guard isComplete else { return .wait }
        defer { (message, isText) = ([], nil) }
        guard isText == false || Self.isUTF8(message[...]) else { return .close(Code.invalidText) }
        return .answer(message)
    }

    /// Returns the answer to a close frame, which has the same code (§5.5.1).
    private static func close(_ payload: [UInt8]) -> Action {
        guard !payload.isEmpty else { return .close(nil) }
        guard payload.count > 1 else { return .close(Code.protocolError) }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard mayBeSent(code) else { return .close(Code.protocolError) }
        return .close(isUTF8(payload[2...]) ? code : Code.invalidText)
    }

    /// Returns whether a close frame may have a code: the registered ones, and those of applications (§7.4.2).
    private static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool { String(validating: bytes, as: UTF8.self) != nil }
}
