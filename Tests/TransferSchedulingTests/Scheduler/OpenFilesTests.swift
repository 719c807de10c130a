import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferScheduling

/// This machine's lack of descriptors, which reduces the number of places for a time.
@Suite struct OpenFilesTests {
    private let start = MonotonicTime(nanoseconds: 0)

    @Test func fewerJobsAreUnderWayAfterALack() {
        var scheduler = Scheduler(limits: .init(concurrency: 32), now: start)
        #expect(scheduler.concurrency(start) == 32)
        scheduler.descriptorsLacked(others: 17, now: start)
        #expect(scheduler.concurrency(start) == 17)
        scheduler.descriptorsLacked(others: 20, now: start)
        #expect(scheduler.concurrency(start) == 17, "never more by a lack")
        scheduler.descriptorsLacked(others: 0, now: start)
        #expect(scheduler.concurrency(start) == 1, "one goes on trying")
    }

    @Test func placesReturnOneAMinuteUpToTheLimit() {
        var scheduler = Scheduler(limits: .init(concurrency: 4), now: start)
        scheduler.descriptorsLacked(others: 2, now: start)
        #expect(scheduler.concurrency(start + .seconds(59)) == 2)
        #expect(scheduler.concurrency(start + .seconds(60)) == 3)
        #expect(scheduler.concurrency(start + .seconds(120)) == 4)
        #expect(scheduler.openFiles == nil)
    }
}
