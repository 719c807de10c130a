import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferQueue

/// Ends and steps on their way to the store.
@Suite struct RecorderTests {
    private func end(_ id: Int64) -> JobEnd { JobEnd(id: id, batch: 1, identity: "\(id)", outcome: .cancelled) }

    private func step(_ id: Int64, _ state: JobState = .queued) -> JobStep {
        JobStep(
            id: id, state: state, attempts: 3, mirror: 0, spentMirrors: 0, origin: "http://h.example", batch: 1,
            identity: "\(id)")
    }

    private func written(_ answer: Recorder.Answer) -> [Int64]? {
        guard case .write(let ends, let steps) = answer else { return nil }
        return ends.map(\.id) + steps.map(\.id)
    }

    @Test func recordsDuringAWriteBecomeTheNextGroup() {
        var recorder = Recorder(now: .seconds(0))
        recorder.add(end(1))
        let value1 = written(recorder.next(now: .seconds(0), isAwaited: false))
        #expect(value1 == [1])
        recorder.add(end(2))
        guard case .nothing = recorder.next(now: .seconds(9), isAwaited: true) else {
            Issue.record("a second group at the same time")
            return
        }
        recorder.written()
        let value2 = written(recorder.next(now: .seconds(9), isAwaited: true))
        #expect(value2 == [2])
        #expect(recorder.isEmpty)
    }

    @Test func endsGatherForAMomentUnlessACallerWaits() {
        var recorder = Recorder(now: .seconds(5))
        recorder.add(end(1))
        guard case .later(.seconds(5)) = recorder.next(now: .seconds(4), isAwaited: false) else {
            Issue.record("written before its time")
            return
        }
        let value3 = written(recorder.next(now: .seconds(4), isAwaited: true))
        #expect(value3 == [1])
        recorder.written()
        // A job waits for the record of its step; a full group accepts no more.
        recorder.add(step(2))
        let value4 = written(recorder.next(now: .seconds(4), isAwaited: false))
        #expect(value4 == [2])
        recorder.written()
        for id in 10..<266 as Range<Int64> { recorder.add(end(id)) }
        let value5 = written(recorder.next(now: .seconds(4), isAwaited: false))?.count
        #expect(value5 == 256)
    }

    @Test func stepsThatArentOnTheirWayCanBeChangedAndCancelled() {
        var recorder = Recorder(now: .seconds(0))
        for id in 1...3 as ClosedRange<Int64> { recorder.add(step(id, .waiting)) }
        recorder.change(where: { $0.id == 2 }) { $0.state = .queued }
        recorder.cancel { $0.id == 3 }
        #expect(recorder.steps.map(\.state) == [.waiting, .queued])
        #expect(recorder.ends.map(\.id) == [3] && recorder.ends[0].wasCancelled)
        #expect(recorder.holds(3) && !recorder.holds(4))
    }

    /// A cancellation in that moment must not lose the job's hook, its place in a folder, or the parts that were left.
    @Test func theCancellationOfAStepKeepsWhatTheAttemptLeft() throws {
        var recorder = Recorder(now: .seconds(0))
        var step = step(1, .waiting)
        let part = ResumeData(
            url: "http://h.example/x", validator: nil, total: 12, bootID: "b", partialFile: "/tmp/x.part")
        (step.resume, step.upload, step.watch, step.tellsHook) = (part, .replaced(.sample()), .version, true)
        recorder.add(step)
        recorder.cancel { _ in true }
        let end = try #require(recorder.ends.first)
        #expect(end.resume?.total == 12 && end.upload == .replaced(.sample()) && end.isWatched && end.tellsHook)
    }
}
