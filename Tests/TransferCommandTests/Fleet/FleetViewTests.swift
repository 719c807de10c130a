import Testing
import TransferCore
import TransferQueue

@testable import transfer

/// The reports about batches that workers run, without any queue.
@Suite struct FleetViewTests {
    private func status(_ done: Int, failed: Int = 0, of total: Int = 4) -> BatchStatus {
        BatchStatus(
            name: "b", source: nil, total: total, done: done, failed: failed, remaining: total - done - failed, rate: 7)
    }

    private func end(_ batch: String, _ cursor: Int64) -> QueueEvent {
        QueueEvent(time: 1, batch: batch, cursor: cursor, kind: .cancelled(job: "j"))
    }

    private var view: FleetView {
        var view = FleetView(since: MonotonicTime(nanoseconds: 0))
        view.add("b", kept: 1)
        return view
    }

    @Test func aBatchBeginsOnceContinuesAndEnds() throws {
        var view = view
        guard case .batchStarted(let totals)? = view.begin([status(1)]).first?.kind else {
            Issue.record("it did not begin")
            return
        }
        #expect(totals.jobs == 4 && totals.kept == 1 && totals.completed == 0)
        #expect(view.begin([status(1)]).isEmpty)
        guard case .batchProgress(let progress)? = view.progress([status(3)]).first?.kind else {
            Issue.record("it did not go on")
            return
        }
        #expect(progress.totals.completed == 2 && progress.rate == 7 && !view.hasEnded)
        guard case .batchFinished(let last, _)? = view.progress([status(3, failed: 1)]).first?.kind else {
            Issue.record("it did not end")
            return
        }
        #expect(last.completed == 2 && last.failed == 1 && view.hasEnded && view.hasFailures)
        #expect(view.progress([status(3, failed: 1)]).isEmpty, "the end is told once")
    }

    @Test func endsOfOtherBatchesArePassedOver() {
        var view = view
        #expect(view.take([end("a", 4), end("b", 5), end("c", 6)]).map(\.cursor) == [5])
        #expect(view.cursor == 6)
        #expect(view.take([]).isEmpty && view.cursor == 6)
    }

    @Test func transfersOfOtherAndEndedBatchesAreOmitted() {
        var view = view
        let progress = JobProgress(completed: 1, total: 2, rate: 3, phase: .transferring)
        let jobs = ["a", "b"].map { JobUnderWay(batch: $0, job: "j", isUpload: false, progress: progress) }
        #expect(view.transfers(jobs).map(\.batch) == ["b"])
        _ = view.progress([status(4)])
        #expect(view.transfers(jobs).isEmpty)
    }

    @Test func aForgottenBatchHasEnded() {
        var view = view
        _ = view.begin([status(1)])
        #expect(view.progress([]).isEmpty && view.hasEnded && !view.hasFailures)
    }
}
