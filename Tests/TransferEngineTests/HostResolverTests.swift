import Glibc
import Synchronization
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// The look-ups that the table starts, their waiters, and the answers that it keeps.
final class AnswerTableTests {
    private typealias Table = AnswerTable<String>
    private static let failure = Table.Answer.failure(TransferError(.cannotResolveHost, "no", isTransient: true))
    private static let system = Table.Question(host: "a.example", link: nil)
    private static let bound = Table.Question(host: "a.example", link: "wg0")
    private static let start = MonotonicTime(nanoseconds: 0)

    private var table = Table(lifetime: .seconds(60))

    private func find(
        _ question: Table.Question, _ ticket: UInt64, after: Duration = .zero
    ) -> Table.Finding {
        table.find(question, ticket, "waiter \(ticket)", now: Self.start + after)
    }

    private func find(_ ticket: UInt64, after: Duration = .zero) -> Table.Finding {
        find(Self.system, ticket, after: after)
    }

    private func answered(_ ask: UInt64, _ answer: Table.Answer, after: Duration = .zero) -> String {
        switch table.answered(ask, answer, now: Self.start + after) {
        case .deliver(let waiters, .success(let addresses)): "\(addresses) to \(waiters)"
        case .deliver(let waiters, .failure(let error)): "\(error) to \(waiters)"
        case .ask(let ask): "ask \(ask)"
        case .nothing: "nothing"
        }
    }

    @Test func concurrentLookUpsShareOneAnswerForItsLifetime() {
        #expect(find(1) == .mustAsk(1))
        #expect(find(2) == .waiting)
        #expect(table.begin(1) == Self.system)
        #expect(find(3) == .waiting)
        #expect(answered(1, .success(["::1"])) == #"["::1"] to ["waiter 1", "waiter 2", "waiter 3"]"#)
        #expect(find(4, after: .seconds(59)) == .known(["::1"]))
        #expect(find(5, after: .seconds(60)) == .mustAsk(2))
    }

    @Test func failuresAreNotKept() {
        #expect(find(1) == .mustAsk(1))
        _ = table.begin(1)
        #expect(answered(1, Self.failure) == #"no to ["waiter 1"]"#)
        #expect(find(2) == .mustAsk(2))
    }

    @Test func linksHaveAnswersOfTheirOwn() {
        #expect(find(Self.system, 1) == .mustAsk(1))
        #expect(find(Self.bound, 2) == .mustAsk(2))
        _ = table.begin(1)
        #expect(answered(1, .success(["::1"])) == #"["::1"] to ["waiter 1"]"#)
        #expect(find(Self.bound, 3) == .waiting)
        #expect(find(Table.Question(host: "a.example", link: "wg1"), 4) == .mustAsk(3))
    }

    @Test func answersFromBeforeAFlushAreNotKept() {
        #expect(find(1) == .mustAsk(1))
        _ = table.begin(1)
        #expect(table.flush() == [], "getaddrinfo cannot be interrupted")
        #expect(find(2) == .mustAsk(2), "the old answer is not for those who come after it")
        #expect(answered(1, .success(["::1"])) == #"["::1"] to ["waiter 1"]"#)
        _ = table.begin(2)
        #expect(answered(2, .success(["::2"])) == #"["::2"] to ["waiter 2"]"#)
        #expect(find(3) == .known(["::2"]))
        #expect(table.flush() == [])
        #expect(find(4) == .mustAsk(3))
    }

    @Test func oldFailuresAreAskedForAnew() {
        #expect(find(1) == .mustAsk(1))
        _ = table.begin(1)
        _ = table.flush()
        #expect(answered(1, Self.failure) == "ask 2")
        #expect(table.begin(2) == Self.system)
        #expect(answered(2, Self.failure) == #"no to ["waiter 1"]"#, "this one is of the new network")
    }

    @Test func oldFailuresWaitForTheNewAnswerIfOneIsPending() {
        #expect(find(1) == .mustAsk(1))
        _ = table.begin(1)
        _ = table.flush()
        #expect(find(2) == .mustAsk(2))
        #expect(answered(1, Self.failure) == "nothing")
        _ = table.begin(2)
        #expect(answered(2, .success(["::2"])) == #"["::2"] to ["waiter 2", "waiter 1"]"#)
    }

    @Test func oldFailuresTakeTheNewAnswerWhereItIsThere() {
        #expect(find(1) == .mustAsk(1))
        _ = table.begin(1)
        _ = table.flush()
        #expect(find(2) == .mustAsk(2))
        _ = table.begin(2)
        #expect(answered(2, .success(["::2"])) == #"["::2"] to ["waiter 2"]"#)
        #expect(answered(1, Self.failure) == #"["::2"] to ["waiter 1"]"#)
    }

    @Test func aFlushInterruptsALookUpOverALinkOnce() {
        #expect(find(Self.bound, 1) == .mustAsk(1))
        #expect(table.flush() == [], "it has not begun, so it will be of the new network")
        #expect(find(Self.bound, 2) == .waiting)
        _ = table.begin(1)
        #expect(table.flush() == [1])
        #expect(table.flush() == [])
        #expect(answered(1, Self.failure) == "ask 2")
    }

    @Test func anAbandonedLookUpIsNotStarted() {
        #expect(find(Self.system, 1) == .mustAsk(1))
        #expect(find(Self.bound, 2) == .mustAsk(2))
        #expect(table.abandon(1) == nil && table.abandon(2) == nil)
        #expect(table.begin(1) == nil && table.begin(2) == nil)
        #expect(find(Self.bound, 3) == .mustAsk(3))
    }

    @Test func theLastWaiterInterruptsALookUpOverALink() {
        #expect(find(Self.bound, 1) == .mustAsk(1))
        _ = table.begin(1)
        #expect(find(Self.bound, 2) == .waiting)
        #expect(table.abandon(1) == nil)
        #expect(table.abandon(1) == nil, "it has given up already")
        #expect(table.abandon(2) == 1)
        #expect(find(Self.bound, 3) == .mustAsk(2), "what is interrupted is joined by nobody")
        #expect(answered(1, Self.failure) == "nothing")
        _ = table.begin(2)
        #expect(answered(2, .success(["::1"])) == #"["::1"] to ["waiter 3"]"#)
    }

    @Test func theSystemsAnswerIsKeptWithoutWaiters() {
        #expect(find(Self.system, 1) == .mustAsk(1))
        _ = table.begin(1)
        #expect(table.abandon(1) == nil)
        #expect(answered(1, .success(["::1"])) == #"["::1"] to []"#)
        #expect(find(Self.system, 2) == .known(["::1"]))
    }

    @Test func oldFailuresWithoutWaitersAreForgotten() {
        #expect(find(Self.system, 1) == .mustAsk(1))
        _ = table.begin(1)
        _ = table.flush()
        #expect(table.abandon(1) == nil)
        #expect(answered(1, Self.failure) == "no to []")
        #expect(find(Self.system, 2) == .mustAsk(2))
    }
}

/// The shell around the table: threads, interrupts, and names that need no look-up.
struct HostResolverTests {
    /// The look-ups so far, and their answers, which the test gives at a time of its choice.
    private final class Asked: Sendable {
        private let questions = Mutex<[String]>([])
        private let answers = Mutex<[HostResolver.Answer]>([])
        let gate = Gate()

        var all: [String] { questions.withLock { $0 } }

        func lookUp(_ question: String) -> HostResolver.Answer {
            questions.withLock { $0.append(question) }
            gate.pass()
            return answers.withLock { $0.removeFirst() }
        }

        func answer(_ answer: HostResolver.Answer) {
            answers.withLock { $0.append(answer) }
            gate.letThrough()
        }
    }

    private static let failure = HostResolver.Answer.failure(TransferError(.cannotResolveHost, "no"))

    private static func resolver(_ asked: Asked) -> HostResolver {
        HostResolver(
            threads: 2, lookUpOverLink: { host, link, _ in asked.lookUp("\(host) over \(link)") },
            lookUp: { asked.lookUp($0) })
    }

    /// The answer, once it has come.
    private final class Box: Sendable {
        private let got = Mutex<[HostResolver.Answer]>([])
        var all: [HostResolver.Answer] { got.withLock { $0 } }
        func receive(_ answer: HostResolver.Answer) { got.withLock { $0.append(answer) } }
    }

    @Test func theLinkIsPassedToTheLookUp() async {
        let (asked, box) = (Asked(), Box())
        let resolver = Self.resolver(asked)
        _ = resolver.addresses(of: "a.example", link: "wg0", completion: box.receive)
        asked.answer(.success(["192.0.2.1"]))
        await eventually { box.all.count == 1 }
        #expect(asked.all == ["a.example over wg0"])
        guard case .known(["192.0.2.1"]) = resolver.addresses(of: "a.example", link: "wg0", completion: box.receive)
        else { return #expect(Bool(false), "it is known") }
        _ = resolver.addresses(of: "a.example", link: nil, completion: box.receive)
        asked.answer(.success(["192.0.2.2"]))
        await eventually { box.all.count == 2 }
        #expect(asked.all == ["a.example over wg0", "a.example"])
    }

    @Test func aFailureFromBeforeAFlushIsAskedForAnew() async {
        let (asked, box) = (Asked(), Box())
        let resolver = Self.resolver(asked)
        _ = resolver.addresses(of: "a.example", link: nil, completion: box.receive)
        await eventually { asked.all.count == 1 }
        resolver.flush()
        asked.answer(Self.failure)
        await eventually { asked.all.count == 2 }
        #expect(box.all.isEmpty)
        asked.answer(.success(["192.0.2.1"]))
        await eventually { box.all.count == 1 }
        #expect(box.all == [.success(["192.0.2.1"])])
    }

    /// The resolver has one thread: an abandoned look-up must not delay other look-ups.
    @Test func anAbandonedLookUpFreesItsThread() async throws {
        let (begun, box) = (Box(), Box())
        let resolver = HostResolver(
            threads: 1,
            lookUpOverLink: { _, _, interrupt in
                begun.receive(Self.failure)
                var polled = pollfd(fd: interrupt.descriptor, events: Int16(POLLIN), revents: 0)
                while poll(&polled, 1, -1) < 0 {}
                return Self.failure
            }, lookUp: { _ in .success(["192.0.2.1"]) })
        let finding = resolver.addresses(of: "a.example", link: "wg0", completion: box.receive)
        guard case .asked(let ticket) = finding else { throw TestSupportError("not asked") }
        await eventually { begun.all.count == 1 }
        _ = resolver.addresses(of: "b.example", link: nil, completion: box.receive)
        resolver.abandon(ticket)
        await eventually { box.all.count == 1 }
        #expect(box.all == [.success(["192.0.2.1"])])
        // A flush and the end of the resolver interrupt the look-up as well.
        _ = resolver.addresses(of: "a.example", link: "wg0", completion: box.receive)
        await eventually { begun.all.count == 2 }
        resolver.flush()
        await eventually { begun.all.count == 3 }
    }

    @Test(arguments: [
        ("192.0.2.1", ["192.0.2.1"]), ("::1", ["::1"]), ("127.1", ["127.0.0.1"]), ("2130706433", ["127.0.0.1"]),
        ("0x7f.1", ["127.0.0.1"]), ("localhost", ["127.0.0.1", "::1"]), ("LOCALHOST", ["127.0.0.1", "::1"]),
        ("localhost.", ["127.0.0.1", "::1"]), ("a.b.localhost", ["127.0.0.1", "::1"]),
    ])
    func addressesAndThisMachineNeedNoLookUp(_ host: String, _ expected: [String]) {
        for link in [nil, "wg0"] {
            let resolver = HostResolver(
                threads: 1, lookUpOverLink: { _, _, _ in Self.failure }, lookUp: { _ in Self.failure })
            guard case .known(let addresses) = resolver.addresses(of: host, link: link, completion: { _ in }) else {
                Issue.record("\(host) was asked for")
                return
            }
            #expect(addresses == expected)
        }
    }

    @Test(arguments: ["localhost.example", "notlocalhost", "a.example", "1.2.3.4.example", "256.1.1.1", "10e.example"])
    func namesThatLookAlikeAreAskedFor(_ host: String) { #expect(SpecialName.addresses(host) == nil) }
}
