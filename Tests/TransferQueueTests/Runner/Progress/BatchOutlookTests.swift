import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferQueue

@Suite struct BatchOutlookTests {
    typealias Transfer = BatchOutlook.Transfer

    @Test func noTimeIsEstimatedWithoutMovement() {
        var outlook = BatchOutlook(underWay: [Transfer(total: 1000, completed: 10)], waiting: 5)
        #expect(outlook.eta == nil)
        outlook.ended = 3
        outlook.endedBytes = 3000
        #expect(outlook.eta == nil)
    }

    @Test func noTimeIsEstimatedWithoutRemainingJobs() {
        #expect(BatchOutlook(rate: 100, jobRate: 1, ended: 5, endedBytes: 500).eta == nil)
    }

    /// Two transfers run at 500 bytes a second each: the sum of their own times would be twice as long.
    @Test func theTotalRateDecidesAndNotThatOfEachTransfer() {
        let transfers = [Transfer(total: 6000, completed: 1000), Transfer(total: 6000, completed: 1000)]
        #expect(BatchOutlook(rate: 1000, underWay: transfers).eta == .seconds(10))
    }

    /// Many small files beside a slow long one arrive fast, but the batch ends with the long one.
    @Test func theBatchTakesAtLeastAsLongAsItsLongestTransfer() {
        let long = Transfer(total: 40_000, completed: 2000, rate: 200)
        let short = Transfer(total: 60, completed: 0, rate: 120)
        #expect(BatchOutlook(rate: 4000, underWay: [long, short]).eta == .seconds(190))
        #expect(BatchOutlook(jobRate: 9, ended: 1, underWay: [long], waiting: 8).eta == .seconds(190))
    }

    @Test func workThatIsLeftTakesAtLeastASecond() {
        #expect(BatchOutlook(rate: 1_000_000, underWay: [Transfer(total: 10, completed: 9)]).eta == .seconds(1))
        #expect(BatchOutlook(jobRate: 1000, ended: 1, waiting: 1).eta == .seconds(1))
    }

    @Test func waitingJobsAreEstimatedLikeTheOthers() {
        var outlook = BatchOutlook(rate: 1000, underWay: [Transfer(total: 2000, completed: 0)], waiting: 3)
        #expect(outlook.eta == .seconds(8))
        outlook.ended = 1
        outlook.endedBytes = 4000
        #expect(outlook.eta == .seconds(2 + 9))
    }

    @Test func anUnknownSizeIsEstimatedLikeTheOthers() {
        let unknown = Transfer(total: nil, completed: 500)
        #expect(BatchOutlook(rate: 100, underWay: [unknown]).eta == nil)
        #expect(BatchOutlook(rate: 100, ended: 1, endedBytes: 1500, underWay: [unknown]).eta == .seconds(10))
    }

    /// The jobs are empty files, and files that their servers report as unchanged.
    @Test func jobsWithoutBytesAreCounted() {
        #expect(BatchOutlook(jobRate: 2, ended: 10, waiting: 20).eta == .seconds(10))
    }

    @Test func anAbsurdRemainingTimeIsNotReported() {
        #expect(BatchOutlook(rate: 0.001, underWay: [Transfer(total: 1 << 40, completed: 0)]).eta == nil)
    }
}
