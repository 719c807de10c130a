import Testing
import TransferCore

@testable import TransferQueue

/// The time that the last work of a run gets.
@Suite struct DrainRuleTests {
    @Test(arguments: [
        // An idle run has nothing to give back where its store is away.
        (asked: 30, underWay: 0, isStoreAway: true, limit: 0), (30, 0, false, 3), (1, 0, false, 1), (30, 5, false, 30),
        (30, 5, true, 3), (1, 5, true, 1), (0, 5, false, 0),
    ])
    func aStoreThatIsAwayShortensTheDrain(asked: Int, underWay: Int, isStoreAway: Bool, limit: Int) {
        let given = DrainRule.limit(.seconds(asked), underWay: underWay, isStoreAway: isStoreAway)
        #expect(given == .seconds(limit))
    }

    @Test func recordsAloneHaveSecondsAfterTheLastTransfer() {
        let now = MonotonicTime(nanoseconds: 0)
        let end = now + .seconds(30)
        #expect(DrainRule.end(end, afterLastTransferAt: now) == now + DrainRule.storeAnswers)
        #expect(DrainRule.end(end, afterLastTransferAt: now + .seconds(29)) == end)
    }
}
