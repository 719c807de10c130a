import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// Copies from server to server, whose buffers have a common limit.
extension SchedulerTests {
    private var c: Lane { Lane(batch: 1, origin: "http://c.example") }

    @Test func copiesHaveABoundBesideTheBatchsOwn() {
        let (most, copies) = (CopyPlaces.most, 1...Int64(CopyPlaces.most + 3))
        var scheduler = scheduler(1000, perHost: 500)
        scheduler.claimed(a, copies.map { Scheduler.Candidate(id: $0, lane: a, priority: 0, isCopy: true) }, asked: 512)
        #expect(started(scheduler.decide(now: now)).count == most)
        // Other jobs do not wait for them, and a copy to a second origin does.
        scheduler.claimed(b, jobs(b, 1001...1003), asked: 256)
        scheduler.claimed(c, [Scheduler.Candidate(id: 2001, lane: c, priority: 0, isCopy: true)], asked: 256)
        #expect(started(scheduler.decide(now: now)) == [1001, 1002, 1003])
        var rest = Set([2001] + copies.suffix(3))
        for number in 1...Int64(4) {
            scheduler.ended(.init(id: number, lane: a, priority: 0))
            let next = started(scheduler.decide(now: now))
            #expect(next.count == 1 && rest.isSuperset(of: next))
            rest.subtract(next)
        }
        #expect(rest.isEmpty)
    }

    /// A place that a paused origin cannot use goes to the next origin.
    @Test func aFreePlaceOfACopyIsNotKeptForAnOriginThatMayStartNone() {
        var scheduler = scheduler(1000, perHost: 500)
        let copies = { (lane: Lane, ids: ClosedRange<Int64>) in
            ids.map { Scheduler.Candidate(id: $0, lane: lane, priority: 0, isCopy: true) }
        }
        scheduler.claimed(a, copies(a, 1...Int64(CopyPlaces.most)), asked: 512)
        #expect(started(scheduler.decide(now: now)).count == CopyPlaces.most)
        scheduler.claimed(b, copies(b, 1001...1002), asked: 256)
        scheduler.claimed(c, copies(c, 2001...2002), asked: 256)
        #expect(started(scheduler.decide(now: now)).isEmpty)
        scheduler.restorePause(
            of: b.origin, TransferError(.httpStatus, "503"), until: now + .seconds(60))
        scheduler.ended(.init(id: 1, lane: a, priority: 0))
        scheduler.ended(.init(id: 2, lane: a, priority: 0))
        #expect(started(scheduler.decide(now: now)) == [2001, 2002])
    }
}
