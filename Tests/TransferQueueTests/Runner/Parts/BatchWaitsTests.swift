import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore

/// The reports about a running batch: its counts, and the reasons why its jobs wait.
@Suite struct BatchWaitsTests {
    private let lane = Lane(batch: 1, origin: "http://h.example:80")

    private func note(
        _ waits: BatchWaits, pause: (error: TransferError, remaining: Duration)? = nil
    ) -> BatchProgress {
        var progress = BatchProgress()
        waits.note(in: &progress, now: .seconds(0)) { _ in pause }
        return progress
    }

    private func sleeper(_ due: Double, disk: String? = nil) -> SleepingJob {
        SleepingJob(id: 1, lane: lane, due: .seconds(due), isAsked: false, disk: disk)
    }

    @Test func noMoreJobsWaitThanAreLeft() {
        var waits = BatchWaits(left: 3, busy: 1)
        waits.held = (byNetwork: 5, byOrigin: [:])
        #expect(note(waits).waiting == 2)
    }

    @Test func theNetworkIsNamedBeforeAnOriginAndThatBeforeABackoff() {
        var waits = BatchWaits(left: 9, busy: 0, asleep: [sleeper(8), sleeper(5)])
        #expect(note(waits).waitReason == .retry(remaining: .seconds(5)))
        #expect(note(waits).waitingForReason == 2)
        waits.held = (byNetwork: 0, byOrigin: [lane.origin: 2])
        let busy = Sample.busy(retryAfter: .seconds(3))
        let held = note(waits, pause: (busy, .seconds(3)))
        #expect(held.waitReason == .held(by: lane.origin, busy, remaining: .seconds(3)))
        #expect(held.waitingForReason == 4)
        waits.network = .network("offline")
        waits.held.byNetwork = 1
        let network = note(waits, pause: (busy, .seconds(3)))
        #expect(network.waitReason == .network("offline") && network.waitingForReason == 1)
    }

    @Test func aFullDiskIsNamedWhenItDelaysTheNextJob() {
        let waits = BatchWaits(left: 9, busy: 0, asleep: [sleeper(5, disk: "no space"), sleeper(8)])
        #expect(note(waits).waitReason == .disk("no space", remaining: .seconds(5)))
        #expect(note(waits).waitingForReason == 1)
    }

    @Test func aCountdownAloneIsNoNews() {
        let (early, late) = (
            note(BatchWaits(left: 1, busy: 0, asleep: [sleeper(5)])),
            note(BatchWaits(left: 1, busy: 0, asleep: [sleeper(9)]))
        )
        #expect(BatchReport(early) == BatchReport(late))
    }

    // MARK: Counts

    private func run() -> BatchRun {
        BatchRun(HeldBatch(id: 1, name: "b", directory: "/"), RunOptions(), now: .seconds(0))
    }

    @Test func completeJobsCountAsLeftUntilTheyAreChecked() {
        let (run, tally) = (run(), BatchTally(counts: [.done: 4, .failed: 1, .queued: 2]))
        let reported = run.begin(tally, goesOn: false, asksAgain: false)
        #expect(reported.jobs == 7 && reported.kept == 4 && reported.failed == 0)
        #expect(run.remaining == 2 && run.totals.kept == 0)
        let again = self.run().begin(tally, goesOn: true, asksAgain: true)
        #expect(again.kept == 0 && again.failed == 1)
    }

    @Test func aCountOfTheStoreHoldsUnlessMoreWasCountedSince() {
        let run = run()
        var changes = HistoryChanges()
        (changes.stamp, changes.added) = (5, 2)
        #expect(run.count(changes) && run.remaining == 2 && run.totals.jobs == 2)
        #expect(!run.count(changes), "counted already")
        var tally = BatchTally(counts: [.queued: 3])
        tally.watched = FolderTally(stamp: 4)
        #expect(run.refresh(tally), "out of date")
        tally.watched = FolderTally(stamp: 6)
        #expect(!run.refresh(tally) && run.remaining == 3)
    }

    @Test func eachEndIsCountedOnce() {
        let run = run()
        (run.totals.jobs, run.remaining) = (5, 5)
        let receipt = Sample.receipt("b", "a")
        let stamp = FileStamp(size: 7, modified: 0)
        run.count(.done(receipt, stamp))
        run.count(.kept(receipt, nil))
        run.count(.cancelled)
        run.count(.dropped(isChanged: true))
        run.count(.failed(Sample.busy(), attempts: 1, host: nil))
        #expect(run.remaining == 0 && run.totals.jobs == 4 && run.totals.ended == 4 && run.keptUnasked == 1)
    }
}
