import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling
@testable import TransferStore

/// Jobs on their way into the run.
@Suite struct AdmissionTests {
    private let lane = Lane(batch: 1, origin: "http://h.example")

    @Test func sleepersWakeAtTheirTimeAndEarlierWithTheNetwork() {
        var admission = Admission(Scheduler(limits: .init(concurrency: 1, perHost: 1), now: .seconds(0)))
        for (id, time, isAsked) in [(1, 10.0, false), (2, 5, true), (3, 20, true)] as [(Int64, Double, Bool)] {
            admission.sleep(SleepingJob(id: id, lane: lane, due: MonotonicTime.seconds(time), isAsked: isAsked))
        }
        #expect(admission.nextDue == MonotonicTime.seconds(5))
        let due = admission.wake(now: MonotonicTime.seconds(5))
        #expect(due == [2])
        // A pause that the server asked for holds.
        let unasked = admission.wakeUnasked()
        #expect(unasked == [1])
        admission.forgetSleepers(of: 1)
        #expect(admission.nextDue == nil)
    }
}
