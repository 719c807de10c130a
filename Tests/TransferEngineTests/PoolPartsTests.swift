import CTransferCurl
import Testing
import TransferCore
import TransferEventLoop

@testable import TransferEngine

private let start = MonotonicTime(nanoseconds: 100_000_000_000)

extension ExchangeID {
    fileprivate init(_ number: UInt64) { self.init(number: number) }
}

@Suite struct DeadlinesTests {
    @Test func eachWaitEndsAtItsOwnTime() {
        var waits = Deadlines()
        #expect(waits.next == nil && waits.takeDue(start) == [])
        waits.set(ExchangeID(1), start + .seconds(2))
        waits.set(ExchangeID(2), start + .seconds(1))
        #expect(waits.next == start + .seconds(1))
        #expect(waits.takeDue(start + .milliseconds(999)) == [])
        #expect(waits.takeDue(start + .seconds(1)) == [ExchangeID(2)], "due at the moment itself")
        #expect(waits.takeDue(start + .seconds(1)) == [], "once")
        #expect(waits.next == start + .seconds(2))
    }

    @Test func aRemovedExchangeIsNeverDue() {
        var waits = Deadlines()
        waits.set(ExchangeID(1), start)
        #expect(waits.remove(ExchangeID(1)) && !waits.remove(ExchangeID(1)))
        #expect(waits.next == nil && waits.takeDue(start + .seconds(9)) == [])
    }

    @Test func theLastTimeThatWasSetCounts() {
        var waits = Deadlines()
        waits.set(ExchangeID(1), start)
        waits.set(ExchangeID(1), start + .seconds(5))
        #expect(waits.takeDue(start + .seconds(4)) == [])
        #expect(waits.takeDue(start + .seconds(5)) == [ExchangeID(1)])
    }
}

@Suite struct SilenceTests {
    private typealias Subject = Silence.Subject
    private let bound = Duration.seconds(10)

    private func look(
        _ silence: inout Silence, _ subjects: [Subject?], after: Duration
    ) -> (ended: [(Int, Silence.Fault)], next: MonotonicTime?) {
        silence.look(at: Array(subjects.indices), now: start + after) { subjects[$0] }
    }

    /// Rows: (suspended, deadline after the start, time of the check) → how the exchange ends.
    @Test(
        arguments: [
            (false, nil, Duration.milliseconds(9_999), nil),
            (false, nil, .seconds(10), .silent),
            (true, nil, .seconds(10), nil),
            (false, Duration.seconds(4), .seconds(3), nil),
            (false, .seconds(4), .seconds(4), .late),
            (true, .seconds(4), .seconds(4), .late),
            (false, .seconds(40), .seconds(10), .silent),
            (false, .seconds(10), .seconds(10), .late),
        ] as [(Bool, Duration?, Duration, Silence.Fault?)])
    func silentOrLateExchangesAreEnded(isHeld: Bool, deadline: Duration?, after: Duration, fault: Silence.Fault?) {
        var silence = Silence()
        let subject = Subject(
            lastActivity: start, isHeld: isHeld, bound: bound, deadline: deadline.map { start + $0 })
        let (ended, next) = look(&silence, [nil, subject], after: after)
        #expect(ended.map(\.1) == (fault.map { [$0] } ?? []) && ended.allSatisfy { $0.0 == 1 })
        #expect((next == nil) == (fault != nil), "whoever goes on is looked at again")
    }

    /// Rows: (bytes of all, exchanges, seconds since any byte moved, time of the check) → whether the exchange is given
    /// up.
    @Test(
        arguments: [
            (64_000, 16, 0, 10, false), (64_000, 16, 0, 49, false), (64_000, 16, 0, 50, true),
            // Each exchange has had its share, except one.
            (16 << 20, 16, 0, 10, true),
            // No byte moves on the link.
            (64_000, 16, 10, 10, true), (64_000, 16, 12, 30, true),
            // The exchange is alone.
            (0, 1, 10, 10, true),
        ] as [(Int64, Int, Int, Int, Bool)])
    func aSharedSlowLinkExtendsTheTimeout(
        moved: Int64, count: Int, idle: Int, after: Int, isOver: Bool
    ) {
        var silence = Silence()
        let now = start + .seconds(after)
        var subject = Subject(lastActivity: start, bound: bound)
        subject.company = Silence.Company(moved: moved, count: count, lastMoved: now + .seconds(-idle))
        let (ended, next) = look(&silence, [subject], after: .seconds(after))
        #expect(ended.isEmpty == !isOver)
        #expect(isOver || next.map { $0 > now && $0 <= now + bound / 8 + Silence.granularity } == true)
    }

    @Test func theNextCheckIsTheEarliestNeeded() {
        var silence = Silence()
        #expect(silence.begin(Subject(lastActivity: start, bound: bound), now: start) == start + bound)
        #expect(silence.begin(Subject(lastActivity: start, bound: .seconds(20)), now: start) == nil)
        let early = Subject(lastActivity: start, bound: bound, deadline: start + .seconds(3))
        #expect(silence.begin(early, now: start) == start + .seconds(3))
        #expect(silence.nextLook == start + .seconds(3))
    }

    @Test func checksAreNoFinerThanTheGranularity() {
        var silence = Silence()
        let (ended, next) = look(
            &silence, [Subject(lastActivity: start, bound: bound)], after: bound + .milliseconds(-1))
        #expect(ended.isEmpty && next == start + bound + .milliseconds(49))
        #expect(silence.nextLook == nil, "until it is asked for")
    }

    /// The ends of exchanges start new ones, which may need an earlier check than the existing ones.
    @Test func aCheckRequestedMeanwhileIsKept() {
        var silence = Silence()
        let (_, next) = look(&silence, [Subject(lastActivity: start, bound: .seconds(60))], after: bound)
        let new = Subject(lastActivity: start + bound, bound: .seconds(1))
        #expect(silence.begin(new, now: start + bound) == start + .seconds(11))
        #expect(next == start + .seconds(60) && next.flatMap { silence.wants($0) } == nil)
        #expect(silence.nextLook == start + .seconds(11))
    }
}

@Suite struct SocketInterestTests {
    @Test func socketsAreRegisteredForWhatLibcurlWants() {
        var interest = SocketInterest()
        #expect(interest.changed(7, CURL_POLL_IN) == .readable)
        #expect(interest.changed(7, CURL_POLL_OUT) == .writable)
        #expect(interest.changed(7, CURL_POLL_INOUT) == [.readable, .writable])
        #expect(interest.changed(7, CURL_POLL_NONE) == nil)
        #expect(interest.ready(7, awaitsReply: true) == .tell)
    }

    /// To register a kept connection anew for each request would cost two system calls.
    @Test func aSocketOfNoInterestStaysRegisteredUntilSomethingHappens() {
        var interest = SocketInterest()
        _ = interest.changed(7, CURL_POLL_IN)
        #expect(interest.changed(7, CURL_POLL_REMOVE) == nil)
        #expect(interest.changed(7, CURL_POLL_IN) == .readable)
        #expect(interest.ready(7, awaitsReply: false) == .tell)
        _ = interest.changed(7, CURL_POLL_REMOVE)
        #expect(interest.ready(7, awaitsReply: false) == .unregister)
        #expect(interest.ready(8, awaitsReply: false) == .tell)
    }

    @Test func aReplyThatLibcurlLeavesIsOfferedAgainLater() {
        var interest = SocketInterest()
        _ = interest.changed(7, CURL_POLL_REMOVE)
        #expect(interest.ready(7, awaitsReply: true) == .offer)
        let isPutOff = interest.offered(7, hasBytes: false, awaitsReply: true)
        #expect(!isPutOff && !interest.hasUnread, "taken")
        let isLeft = interest.offered(7, hasBytes: true, awaitsReply: true)
        #expect(isLeft && interest.hasUnread)
        let again = interest.offerAgain { _ in true }
        #expect(again == [7] && !interest.hasUnread)
        #expect(interest.ready(7, awaitsReply: true) == .offer)
        let isUnregistered = interest.offered(7, hasBytes: true, awaitsReply: false)
        #expect(isUnregistered && !interest.hasUnread, "nobody waits any more")
    }

    /// libcurl asks for no control connection whose replies all came with its own calls.
    @Test func aReplyIsOfferedOnASocketThatLibcurlNeverAskedFor() {
        var interest = SocketInterest()
        let isNew = interest.expectsReply(on: 7)
        #expect(isNew)
        #expect(interest.ready(7, awaitsReply: true) == .offer)
        let isRegistered = !interest.expectsReply(on: 7)
        #expect(isRegistered)
    }

    @Test func aReplyIsOfferedOnASocketThatWasUnregisteredBetweenSteps() {
        var interest = SocketInterest()
        _ = interest.changed(7, CURL_POLL_IN)
        _ = interest.changed(7, CURL_POLL_REMOVE)
        #expect(interest.ready(7, awaitsReply: false) == .unregister)
        let isNew = interest.expectsReply(on: 7)
        #expect(isNew)
        #expect(interest.ready(7, awaitsReply: true) == .offer)
    }

    /// A registration would replace that of libcurl, or offer the reply twice.
    @Test func aSocketThatIsWatchedAlreadyIsNotRegisteredForReplies() {
        var interest = SocketInterest()
        _ = interest.changed(7, CURL_POLL_OUT)
        let wanted = interest.expectsReply(on: 7)
        #expect(!wanted)
        _ = interest.changed(7, CURL_POLL_REMOVE)
        let kept = interest.expectsReply(on: 7)
        #expect(!kept)
        _ = interest.offered(7, hasBytes: true, awaitsReply: true)
        let unread = interest.expectsReply(on: 7)
        #expect(!unread)
    }

    @Test func anAbandonedReplyIsNotOffered() {
        var interest = SocketInterest()
        _ = interest.changed(7, CURL_POLL_REMOVE)
        _ = interest.offered(7, hasBytes: true, awaitsReply: true)
        #expect(interest.offerAgain { _ in false } == [])
        #expect(interest.offerAgain { _ in true } == [], "forgotten")
    }

    /// epoll notifies libcurl directly then. A registration for the offer would replace that of libcurl.
    @Test func aSocketThatLibcurlWantsAgainIsNotOffered() {
        var interest = SocketInterest()
        _ = interest.changed(7, CURL_POLL_REMOVE)
        _ = interest.offered(7, hasBytes: true, awaitsReply: true)
        #expect(interest.changed(7, CURL_POLL_IN) == .readable)
        #expect(interest.offerAgain { _ in true } == [])
        #expect(interest.ready(7, awaitsReply: true) == .tell)
    }
}
