import DequeModule
import Testing
import TransferCore

@testable import TransferQueue

/// Jobs on their way into the run.
@Suite struct AdmissionTests {
    private let lane = Lane(batch: 1, origin: "http://h.example")
    private let other = Lane(batch: 2, origin: "http://h.example")

    private func want(_ lane: Lane) -> LaneWant { LaneWant(lane: lane, limit: 4) }

    private func reserve(_ ids: ClosedRange<Int64>) -> Deque<JobReserve.Job> {
        let spec = Shared(wrappedValue: Sample.download("http://h.example/x", to: "x"))
        return Deque(ids.map { JobReserve.Job(id: $0, identity: "\($0)", spec: spec) })
    }

    @Test func whatCameBackGoesBeforeTheReserve() {
        var admission = Admission()
        admission.reserve(reserve(1...3), in: lane)
        let value1 = admission.split([want(lane), want(other)]).ofReserves.map(\.lane)
        #expect(value1 == [lane])
        admission.cameBack(lane)
        admission.cameBack(other)
        let value2 = admission.split([want(lane)]).ofStore.map(\.lane)
        #expect(value2 == [lane])
        // Once: then it's the reserve's turn again.
        let value3 = admission.split([want(lane)]).ofReserves.map(\.lane)
        #expect(value3 == [lane])
    }

    @Test func aReserveIsTakenInItsOrderAndForgottenWithItsBatch() {
        var admission = Admission()
        admission.reserve(reserve(1...5), in: lane)
        let value4 = admission.takeReserved(lane, atMost: 2).map(\.id)
        #expect(value4 == [1, 2])
        #expect(admission.reserved(lane) == 3)
        admission.forgetReserves(of: 2)
        let value5 = admission.takeReserved(lane, atMost: 9).map(\.id)
        #expect(value5 == [3, 4, 5])
        let value6 = admission.takeReserved(lane, atMost: 9).isEmpty
        #expect(!admission.hasReserve(lane) && value6)
    }

    @Test func sleepersWakeAtTheirTimeAndEarlierWithTheNetwork() {
        var admission = Admission()
        for (id, due, isAsked) in [(1, 10.0, false), (2, 5, true), (3, 20, true)] as [(Int64, Double, Bool)] {
            admission.sleep(SleepingJob(id: id, lane: lane, due: MonotonicTime.seconds(due), isAsked: isAsked))
        }
        #expect(admission.nextDue == MonotonicTime.seconds(5))
        let value7 = admission.wake(now: MonotonicTime.seconds(5))
        #expect(value7 == [2])
        // A server's own wish holds.
        let value8 = admission.wakeUnasked()
        #expect(value8 == [1])
        admission.forgetSleepers(of: 1)
        #expect(admission.nextDue == nil)
    }
}
