import Testing

@testable import TransferServer

/// The rules of RFC 6455 for the frames of a client.
@Suite struct SocketMessageTests {
    private typealias Frame = SocketMessages.Frame

    private static func reaction(to frames: [SocketMessages.Frame]) -> SocketMessages.Action {
        var messages = SocketMessages(mostBytes: 10)
        var action = SocketMessages.Action.wait
        for frame in frames { action = messages.receive(frame) }
        return action
    }

    @Test func aMessageIsAssembledAlsoAroundAPing() {
        let frames = [
            Frame(isFinal: false, opcode: 1, payload: [0x61, 0xC3]), Frame(opcode: 9, payload: [1]),
            Frame(isFinal: false, opcode: 0), Frame(opcode: 0, payload: [0xA9]),
        ]
        var messages = SocketMessages(mostBytes: 10)
        #expect(frames.map { messages.receive($0) } == [.wait, .pong([1]), .wait, .answer([0x61, 0xC3, 0xA9])])
        #expect(messages.receive(Frame(opcode: 2, payload: [0xFF])) == .answer([0xFF]), "binary data is no text")
        #expect(messages.receive(Frame(opcode: 10)) == .wait)
    }

    @Test func framesAgainstTheProtocolEndTheConversation() {
        let faults: [[SocketMessages.Frame]] = [
            [Frame(opcode: 1, isMasked: false)], [Frame(hasReservedBits: true, opcode: 1)],
            [Frame(hasReservedBits: true, opcode: 9)], [Frame(opcode: 3)], [Frame(opcode: 7)], [Frame(opcode: 0xB)],
            [Frame(opcode: 0xF)], [Frame(opcode: 0)], [Frame(isFinal: false, opcode: 1), Frame(opcode: 1)],
            [Frame(isFinal: false, opcode: 1), Frame(opcode: 2)], [Frame(opcode: 1), Frame(opcode: 0)],
            [Frame(opcode: 8, payload: [3])], [Frame(opcode: 8, payload: [0x03, 0xEC])],
            [Frame(opcode: 8, payload: [0, 1])], [Frame(opcode: 8, payload: [0x13, 0x88])],
        ]
        for frames in faults { #expect(Self.reaction(to: frames) == .close(1002), "\(frames)") }
    }

    @Test func invalidTextAndLongMessagesHaveCodesOfTheirOwn() {
        #expect(Self.reaction(to: [Frame(opcode: 1, payload: [0xC3])]) == .close(1007))
        #expect(Self.reaction(to: [Frame(opcode: 8, payload: [0x03, 0xE8, 0xFF])]) == .close(1007))
        let half = Array(repeating: UInt8(0x61), count: 6)
        let long = [Frame(isFinal: false, opcode: 1, payload: half), Frame(opcode: 0, payload: half)]
        #expect(Self.reaction(to: long) == .close(1009))
    }

    @Test func aCloseFrameIsAnsweredWithItsCode() {
        #expect(Self.reaction(to: [Frame(opcode: 8)]) == .close(nil))
        #expect(Self.reaction(to: [Frame(opcode: 8, payload: [0x03, 0xE9, 0x62])]) == .close(1001))
        #expect(Self.reaction(to: [Frame(opcode: 8, payload: [0x0F, 0xA0])]) == .close(4000))
    }

    /// The first bytes of a long message show whether its client may send more.
    @Test func aLongMessageOfAStrangerShowsItsSecretFirst() {
        let half = Array(repeating: UInt8(0x61), count: 6)
        var messages = SocketMessages(mostBytes: 20, strangerBytes: 8)
        #expect(messages.receive(Frame(opcode: 1, payload: half)) == .answer(half), "a short one shows it when it ends")
        #expect(messages.receive(Frame(isFinal: false, opcode: 1, payload: half)) == .wait)
        let first = Array((half + half).prefix(8))
        #expect(messages.receive(Frame(isFinal: false, opcode: 0, payload: half)) == .identify(first))
        var stranger = messages
        #expect(stranger.identify(isKnown: false) == .close(1009))
        #expect(messages.identify(isKnown: true) == .wait)
        #expect(messages.receive(Frame(opcode: 0, payload: half)) == .answer(half + half + half))
        let whole = Array(repeating: UInt8(0x61), count: 20)
        #expect(messages.receive(Frame(opcode: 1, payload: whole)) == .answer(whole), "it is asked once")
        #expect(messages.receive(Frame(opcode: 1, payload: whole + [0x61])) == .close(1009), "the bound of all clients")
    }

    @Test func aLongFirstMessageInOneFrameIsPassedOnOnceItsClientIsKnown() {
        let whole = Array(repeating: UInt8(0x61), count: 20)
        var messages = SocketMessages(mostBytes: 20, strangerBytes: 8)
        #expect(messages.receive(Frame(opcode: 1, payload: whole)) == .identify(Array(whole.prefix(8))))
        #expect(messages.identify(isKnown: true) == .answer(whole))
        var trusted = SocketMessages(mostBytes: 20, strangerBytes: 8)
        trusted.trust()
        #expect(trusted.receive(Frame(opcode: 1, payload: whole)) == .answer(whole))
    }
}
