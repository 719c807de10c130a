import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// Batches of many origins: the cost of a start depends on the changes, not on the number of lanes.
@Suite(.timeLimit(.minutes(1))) struct ManyLanesTests {
    private static let origins: Int64 = 40_000

    private func lane(_ number: Int64) -> Lane { Lane(batch: 1, origin: "http://h\(number).example") }

    /// A search through all lanes at each start would take 1.6 thousand million steps: the test would not end.
    @Test func eachOfManyOriginsGetsItsTurn() {
        var scheduler = Scheduler(limits: .init(concurrency: 32, perHost: 4), now: .seconds(0))
        for number in 0..<Self.origins { scheduler.backlogIs(lane(number), 1) }
        var started: Set<Int64> = []
        var claims: [Lane] = []
        func follow(_ actions: [Scheduler.Action], _ scheduler: inout Scheduler) -> [Scheduler.Candidate] {
            var begun: [Scheduler.Candidate] = []
            for action in actions {
                switch action {
                case .start(let candidate): begun.append(candidate)
                case .claim(let lane, _): claims.append(lane)
                case .reserve, .share: Issue.record("nobody shares the queue")
                case .refuse: Issue.record("nothing was refused")
                }
            }
            return begun
        }
        var running = follow(scheduler.decide(now: .seconds(0)), &scheduler)
        #expect(running.isEmpty && claims.count == Self.origins, "each is asked for once")
        for (id, lane) in claims.enumerated() {
            scheduler.claimed(lane, [.init(id: Int64(id), lane: lane, priority: id % 3)], asked: 256)
        }
        while true {
            running += follow(scheduler.decide(now: .seconds(1)), &scheduler)
            guard let next = running.popLast() else { break }
            #expect(running.count < 32)
            started.insert(next.id)
            scheduler.ended(next)
        }
        #expect(started.count == Self.origins && scheduler.isIdle)
    }

    /// A paused origin delays its own lanes, and the other origins are not asked about it.
    @Test func pausesEndOneByOne() {
        var scheduler = Scheduler(limits: .init(concurrency: 8), now: .seconds(0))
        for number in Int64(0)..<100 {
            let error = Sample.unreachable(retryAfter: .seconds(1))
            scheduler.restorePause(of: lane(number).origin, error, until: .seconds(Double(1 + number % 10)))
            scheduler.claimed(lane(number), [.init(id: number, lane: lane(number), priority: 0)], asked: 256)
        }
        var ended: Set<Int64> = []
        for second in 1...10 {
            #expect(scheduler.decide(now: .seconds(Double(second) - 0.5)).isEmpty)
            #expect(scheduler.nextWake == .seconds(Double(second)))
            var isDone = false
            while !isDone {
                isDone = true
                for case .start(let candidate) in scheduler.decide(now: .seconds(Double(second))) {
                    isDone = false
                    #expect(candidate.id % 10 == Int64(second - 1))
                    ended.insert(candidate.id)
                    scheduler.originAnswered(candidate.lane.origin)
                    scheduler.ended(candidate)
                }
            }
        }
        #expect(ended.count == 100 && scheduler.nextWake == nil)
    }
}
