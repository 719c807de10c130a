import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// Servers that take fewer jobs at a time than the limit, and show it by a refusal.
@Suite struct OriginRoomTests {
    private let now = MonotonicTime.seconds(100)
    private let lane = Lane(batch: 1, origin: "ftp://a.example")

    private func candidate(_ id: Int64) -> Scheduler.Candidate { .init(id: id, lane: lane, priority: 0) }

    private func started(_ scheduler: inout Scheduler, _ now: MonotonicTime) -> [Int64] {
        scheduler.decide(now: now).compactMap { if case .start(let candidate) = $0 { candidate.id } else { nil } }
    }

    @Test func asManyStartAsTheServerTakesAndOneMoreAMinute() {
        var scheduler = Scheduler(limits: .init(concurrency: 32, perHost: 8), now: now)
        scheduler.claimed(lane, (1...40).map { candidate($0) }, asked: 256)
        #expect(started(&scheduler, now) == Array(1...8))
        // The server takes two: six are refused, one after the other, and no pause is needed.
        for id in Int64(3)...8 {
            let hasOthers = scheduler.originCrowded(lane.origin, since: now, now: now)
            #expect(hasOthers)
            scheduler.ended(candidate(id))
            #expect(started(&scheduler, now) == [])
        }
        #expect(scheduler.pause(of: lane.origin, now: now) == nil)
        scheduler.ended(candidate(1))
        #expect(started(&scheduler, now) == [9], "two at a time")
        // Transfers of other clients end at a server, too.
        #expect(started(&scheduler, now + .seconds(59)) == [])
        #expect(started(&scheduler, now + .seconds(60)) == [10])
        #expect(started(&scheduler, now + .seconds(3600)) == Array(11...15), "no more than the limit")
        #expect(started(&scheduler, now + .seconds(7200)) == [])
    }

    @Test func oneJobMayAlwaysStartAndASingleRefusalIsNoCrowd() {
        var scheduler = Scheduler(limits: .init(concurrency: 32, perHost: 8), now: now)
        scheduler.claimed(lane, [candidate(1), candidate(2)], asked: 256)
        #expect(started(&scheduler, now) == [1, 2])
        let hasOthers = scheduler.originCrowded(lane.origin, since: now, now: now)
        #expect(hasOthers)
        scheduler.ended(candidate(1))
        let isCrowded = scheduler.originCrowded(lane.origin, since: now, now: now)
        #expect(!isCrowded, "nobody of ours is there: the server is full of others")
        scheduler.ended(candidate(2))
        scheduler.claimed(lane, [candidate(3), candidate(4)], asked: 256)
        #expect(started(&scheduler, now) == [3])
    }
}
