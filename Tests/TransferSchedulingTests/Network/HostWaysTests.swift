import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferScheduling

/// The probes for hosts on the machine's own network, and the time that a result stays valid.
@Suite struct HostWaysTests {
    private let start = MonotonicTime.seconds(100)
    private let nas = HostWays.Question(host: "nas.lan")

    @Test func aQuestionIsAskedOnceUntilItIsAnswered() {
        var ways = HostWays()
        #expect(ways.ask([nas], now: start) == [nas] && ways.ask([nas], now: start).isEmpty)
        #expect(ways.finding(nas) == nil && ways.nextLook == nil)
        ways.answered(nas, .routes([2]), generation: 0, now: start)
        #expect(ways.finding(nas) == .routes([2]) && ways.ask([nas], now: start + .seconds(299)).isEmpty)
        #expect(ways.ask([nas], now: start + .seconds(300)) == [nas])
        #expect(ways.finding(nas) == .routes([2]), "what is known holds until the new answer")
    }

    /// result × when the host is probed again
    @Test(arguments: [
        (HostWays.Finding.routes([2]), Int64(300)), (HostWays.Finding.unknownName, Int64(300)),
        (HostWays.Finding.routes([]), Int64(2)), (HostWays.Finding.unanswered, Int64(2)),
    ])
    func aBadResultIsProbedAgainSoon(_ finding: HostWays.Finding, _ seconds: Int64) {
        var ways = HostWays()
        _ = ways.ask([nas], now: start)
        ways.answered(nas, finding, generation: 0, now: start)
        #expect(ways.nextLook == start + .seconds(seconds))
    }

    @Test func theIntervalsGrowToAMinute() {
        var ways = HostWays()
        var now = start
        var waits: [Duration] = []
        for _ in 0..<8 {
            #expect(ways.ask([nas], now: now) == [nas])
            ways.answered(nas, .unanswered, generation: 0, now: now)
            waits.append((ways.nextLook ?? now) - now)
            now = ways.nextLook ?? now
        }
        #expect(waits == [2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
    }

    @Test func anAnswerOfTheFormerNetworkIsIgnored() {
        var ways = HostWays()
        _ = ways.ask([nas], now: start)
        ways.forget()
        #expect(ways.ask([nas], now: start) == [nas])
        ways.answered(nas, .routes([2]), generation: 0, now: start)
        #expect(ways.finding(nas) == nil)
        ways.answered(nas, .routes([3]), generation: 1, now: start)
        #expect(ways.finding(nas) == .routes([3]))
    }

    @Test func noMoreThanSomeAreAskedAtATime() {
        var ways = HostWays()
        let many = Set((0..<100).map { HostWays.Question(host: "h\($0)") })
        let first = ways.ask(many, now: start)
        #expect(first.count == HostWays.mostAsked && ways.ask(many, now: start).isEmpty)
        for question in first { ways.answered(question, .routes([]), generation: 0, now: start) }
        #expect(Set(ways.ask(many, now: start)) == many.subtracting(first))
    }
}
