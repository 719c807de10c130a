import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// The configured limits on the starts at single origins in a second.
@Suite struct OriginRateTests {
    private let now = MonotonicTime.seconds(100)
    private let a = Lane(batch: 1, origin: "http://a.example")
    private let b = Lane(batch: 1, origin: "http://b.example")
    private let c = Lane(batch: 1, origin: "http://c.example")

    /// - Parameter origins: Patterns, the strongest first, and their rates.
    private func scheduler(_ origins: KeyValuePairs<String, Double>, requestRate: Double? = nil) throws -> Scheduler {
        let bounds = try origins.map { name, rate in
            OriginLimits(try #require(OriginPattern(name)), requestRate: rate)
        }
        let limits = Scheduler.Limits(
            concurrency: 100, perHost: .exactly(100), requestRate: requestRate, bounds: OriginBounds(bounds))
        return Scheduler(limits: limits, now: now)
    }

    private func jobs(_ lane: Lane, _ ids: ClosedRange<Int64>) -> [Scheduler.Candidate] {
        ids.map { Scheduler.Candidate(id: $0, lane: lane, priority: 0) }
    }

    /// Returns the start times of jobs, where no job ends and time advances to each requested moment.
    private func starts(_ scheduler: inout Scheduler, _ count: Int) -> [Int64: Double] {
        var time = now
        var starts: [Int64: Double] = [:]
        while true {
            for case .start(let candidate) in scheduler.decide(now: time) {
                starts[candidate.id] = (time - now).inSeconds
            }
            guard starts.count < count, let wake = scheduler.nextWake, wake > time else { return starts }
            time = wake
        }
    }

    private func expect(_ times: [Int64: Double], _ ids: ClosedRange<Int64>, every interval: Double) {
        for (index, id) in ids.enumerated() {
            #expect(abs((times[id] ?? .infinity) - Double(index) * interval) < 0.02, "\(id): \(times)")
        }
    }

    @Test func startsAtOneOriginKeepItsRateAndOthersDoNotWait() throws {
        var scheduler = try scheduler(["http://a.example": 4])
        scheduler.claimed(a, jobs(a, 1...5), asked: 256)
        scheduler.claimed(b, jobs(b, 11...15), asked: 256)
        let times = starts(&scheduler, 10)
        expect(times, 1...5, every: 0.25)
        expect(times, 11...15, every: 0)
    }

    /// The reported time is a whole millisecond, up to one later than the first allowed moment. The run decides at any
    /// moment between the two, and such a decision must not lose the time.
    @Test(arguments: [1_000, 99_000, 100_001, 100_500, 100_999])
    func aDecisionAtAnyMomentBeforeTheNextStartKeepsItsTime(microseconds: Int64) throws {
        var scheduler = try scheduler(["http://a.example": 10])
        scheduler.claimed(a, jobs(a, 1...2), asked: 256)
        var started = ids(scheduler.decide(now: now))
        let next = try #require(scheduler.nextWake)
        #expect(started == [1] && next == now + .milliseconds(101))
        started += ids(scheduler.decide(now: now + .microseconds(microseconds)))
        #expect(started == [1, 2] || scheduler.nextWake == next)
        started += ids(scheduler.decide(now: next))
        #expect(started == [1, 2])
    }

    private func ids(_ actions: [Scheduler.Action]) -> [Int64] {
        actions.compactMap { if case .start(let candidate) = $0 { candidate.id } else { nil } }
    }

    @Test func aPatternIsTheRateOfEachOfItsOriginsAndTheStrongestHolds() throws {
        var scheduler = try scheduler(["http://b.example": 10, "*.example": 2])
        for (lane, ids) in [(a, Int64(1)...3), (b, 11...13), (c, 21...23)] {
            scheduler.claimed(lane, jobs(lane, ids), asked: 256)
        }
        let times = starts(&scheduler, 9)
        expect(times, 1...3, every: 0.5)
        expect(times, 11...13, every: 0.1)
        expect(times, 21...23, every: 0.5)
    }

    @Test func theRateOfAllHoldsBesideThatOfAnOrigin() throws {
        var scheduler = try scheduler(["http://a.example": 100], requestRate: 2)
        scheduler.claimed(a, jobs(a, 1...3), asked: 256)
        expect(starts(&scheduler, 3), 1...3, every: 0.5)
    }

    @Test func lanesOfOneOriginShareItsRate() throws {
        var scheduler = try scheduler(["http://a.example": 4])
        let other = Lane(batch: 2, origin: a.origin)
        scheduler.claimed(a, jobs(a, 1...2), asked: 256)
        scheduler.claimed(other, jobs(other, 11...12), asked: 256)
        let times = starts(&scheduler, 4).values.sorted()
        #expect(times.count == 4)
        for (index, time) in times.enumerated() { #expect(abs(time - Double(index) * 0.25) < 0.02, "\(times)") }
    }

    @Test func refusingTakesNoneOfAnOriginsRate() throws {
        var scheduler = try scheduler(["http://a.example": 1])
        scheduler.originFailed(a.origin, job: 99, Sample.busy(), rule: RetryRule(), random: 0, now: now)
        scheduler.originExhausted(a.origin, Sample.unreachable())
        scheduler.claimed(a, jobs(a, 1...50), asked: 256)
        #expect(scheduler.decide(now: now).count == 50)
    }

    @Test func otherLimitsHoldFromTheNextDecisionOn() throws {
        var scheduler = try scheduler(["http://a.example": 0.001])
        scheduler.claimed(a, jobs(a, 1...3), asked: 256)
        #expect(starts(&scheduler, 1).count == 1)
        scheduler.setLimits(Scheduler.Limits(concurrency: 100, perHost: .exactly(100)), now: now)
        #expect(starts(&scheduler, 2).count == 2)
    }

    @Test func aThousandOriginsAndMoreEachHaveTheirRate() throws {
        var rates = StartRates(
            perSecond: nil, OriginBounds([OriginLimits(try #require(OriginPattern("*.example")), requestRate: 1)]),
            isShared: false, now: now)
        for number in 0..<3000 { rates.started(at: "http://\(number).example", now: now) }
        var waiting = (0..<3000).count { rates.turn(at: "http://\($0).example", now: now) != .now }
        #expect(waiting == 3000)
        let later = now + .seconds(2)
        // Rested origins are forgotten at the next start, and may start.
        rates.started(at: "http://new.example", now: later)
        waiting = (0..<3000).count { rates.turn(at: "http://\($0).example", now: later) != .now }
        #expect(waiting == 0)
        let turn = rates.turn(at: "http://new.example", now: later)
        #expect(turn != .now)
    }
}
