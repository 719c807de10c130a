import Testing
import TransferCore

@testable import TransferReachability

@Suite("Dumps and what is told meanwhile")
struct NetlinkDialogueTests {
    static let port: UInt32 = 4711

    /// Answers a question with messages and its end.
    private func answer(
        _ dialogue: inout NetlinkDialogue, _ question: NetlinkDialogue.Question, _ messages: [UInt8] = [],
        interrupted: Bool = false, error: Int32 = 0
    ) {
        for var frame in NetlinkFrame.parse(messages) {
            (frame.sequence, frame.port, frame.isPart) = (question.sequence, Self.port, true)
            dialogue.take(frame)
        }
        var end = NetlinkFrame(message: .done(error), sequence: question.sequence, port: Self.port)
        end.isInterrupted = interrupted
        dialogue.take(end)
    }

    private func tell(_ dialogue: inout NetlinkDialogue, _ messages: [UInt8]) {
        for frame in NetlinkFrame.parse(messages) { dialogue.take(frame) }
    }

    /// - Returns: The requested topics.
    @discardableResult
    private func finish(_ dialogue: inout NetlinkDialogue, _ tables: [NetlinkTopic: [UInt8]]) -> [NetlinkTopic] {
        var asked: [NetlinkTopic] = []
        while let question = dialogue.next() {
            asked.append(question.topic)
            answer(&dialogue, question, tables[question.topic] ?? [])
            if asked.count > 50 { break }
        }
        return asked
    }

    private let tables: [NetlinkTopic: [UInt8]] = [
        .links: NetworkStateTests.eth0, .addresses4: NetworkStateTests.address, .routes4: NetworkStateTests.route,
    ]

    private func status(_ dialogue: NetlinkDialogue) -> NetworkReachabilityManager.NetworkReachabilityStatus {
        dialogue.state.snapshot(rule: MeteredRule(), managed: ManagedNetwork()).status
    }

    @Test func everythingIsRequestedOnceAndThenReported() {
        var dialogue = NetlinkDialogue(port: Self.port)
        #expect(!dialogue.isTellable)
        let asked = finish(&dialogue, tables)
        #expect(asked == NetlinkTopic.allCases)
        #expect(dialogue.isTellable && dialogue.hasChanged && status(dialogue) == .reachable(.ethernetOrWiFi))
        dialogue.reported()
        #expect(!dialogue.hasChanged && dialogue.next() == nil)
    }

    @Test func oneQuestionIsPutAtATime() {
        var dialogue = NetlinkDialogue(port: Self.port)
        let first = dialogue.next()
        #expect(first?.topic == .links && dialogue.next() == nil && dialogue.isWaiting)
    }

    @Test func anOverrunAsksForEverythingAnewAfterAPause() throws {
        var dialogue = NetlinkDialogue(port: Self.port)
        finish(&dialogue, tables)
        dialogue.overran()
        #expect(!dialogue.isTellable)
        let questionAsked = dialogue.next()
        let question = try #require(questionAsked)
        #expect(question.topic == .links && question.pause > .zero)
        answer(&dialogue, question)
        // The new tables replace the lost messages, and they are empty.
        let asked = finish(&dialogue, [:])
        #expect(asked == Array(NetlinkTopic.allCases.dropFirst()) && status(dialogue) == .notReachable)
        // Errors are forgotten once all tables were received.
        dialogue.reported()
        tell(&dialogue, MessageBytes.message(104) { $0.append(UInt64(0)) })
        let nextAsked = dialogue.next()
        let next = try #require(nextAsked)
        #expect(next.topic == .routes4 && next.pause == .zero)
    }

    @Test func troublesPauseLongerAndLongerButNeverForLong() {
        var dialogue = NetlinkDialogue(port: Self.port)
        var pauses: [Duration] = []
        for _ in 0..<12 {
            guard let question = dialogue.next() else { break }
            pauses.append(question.pause)
            answer(&dialogue, question, interrupted: true)
        }
        #expect(pauses.count == 12 && pauses == pauses.sorted() && pauses[1] == .milliseconds(5))
        #expect(pauses.last == .milliseconds(320))
    }

    @Test func anInterruptedOrRefusedDumpIsAskedForAgain() {
        for (interrupted, error) in [(true, 0 as Int32), (false, 16), (false, 4)] {
            var dialogue = NetlinkDialogue(port: Self.port)
            guard let question = dialogue.next() else { continue }
            answer(&dialogue, question, interrupted: interrupted, error: error)
            let asked = finish(&dialogue, tables)
            #expect(asked.filter { $0 == .links }.count == 1, "\(interrupted) \(error)")
        }
    }

    @Test func unsupportedTablesAreEmpty() {
        var dialogue = NetlinkDialogue(port: Self.port)
        while let question = dialogue.next() {
            let refusal = NetlinkFrame(message: .error(95), sequence: question.sequence, port: Self.port)
            dialogue.take(refusal)
        }
        #expect(dialogue.isTellable && dialogue.state.links.isEmpty)
    }

    /// The dump was made before the message, and read after it.
    @Test func messagesDuringADumpAreNewerThanIt() throws {
        var dialogue = NetlinkDialogue(port: Self.port)
        finish(&dialogue, tables)
        tell(&dialogue, MessageBytes.message(104) { $0.append(UInt64(0)) })
        let questionAsked = dialogue.next()
        let question = try #require(questionAsked)
        #expect(question.topic == .routes4)
        tell(&dialogue, MessageBytes.route(via: "192.0.2.1", 2, metric: 100, type: 25))
        answer(&dialogue, question, NetworkStateTests.route)
        #expect(Array(dialogue.state.routes).isEmpty)
    }

    /// The link is removed and added again, and the dump already has it. The repeated message leads to the same state.
    @Test func repeatedMessagesLeadToTheSameState() throws {
        var dialogue = NetlinkDialogue(port: Self.port)
        finish(&dialogue, tables)
        tell(&dialogue, MessageBytes.message(104) { $0.append(UInt64(0)) })
        let questionAsked = dialogue.next()
        let question = try #require(questionAsked)
        tell(&dialogue, MessageBytes.route(via: "192.0.2.1", 2, metric: 100, type: 25) + NetworkStateTests.route)
        answer(&dialogue, question, NetworkStateTests.route)
        #expect(Array(dialogue.state.routes).count == 1)
    }

    @Test func answersToOthersAndToEarlierQuestionsAreNotTaken() throws {
        var dialogue = NetlinkDialogue(port: Self.port)
        finish(&dialogue, tables)
        dialogue.reported()
        var late = try #require(NetlinkFrame.parse(MessageBytes.route(via: "192.0.2.1", 2, metric: 1)).first)
        (late.sequence, late.port) = (1, Self.port)
        dialogue.take(late)
        #expect(!dialogue.hasChanged)
        // A change by another program has that program's numbers.
        (late.sequence, late.port) = (77, 999)
        dialogue.take(late)
        #expect(dialogue.hasChanged)
    }

    @Test func anUnsettledStateIsReportedAllTheSame() {
        var dialogue = NetlinkDialogue(port: Self.port)
        finish(&dialogue, tables)
        dialogue.reported()
        var rounds = 0
        repeat {
            tell(&dialogue, MessageBytes.message(104) { $0.append(UInt64(0)) })
            guard let question = dialogue.next() else { break }
            tell(&dialogue, MessageBytes.message(104) { $0.append(UInt64(0)) })
            answer(&dialogue, question, NetworkStateTests.route)
            rounds += 1
        } while !dialogue.isTellable && rounds < 100
        #expect(dialogue.isTellable && rounds == 14)
    }
}
