import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// Starts at origins whose rate several processes keep together.
@Suite struct SharedRateTokensTests {
    private let now = MonotonicTime.seconds(100)
    private let lane = Lane(batch: 1, origin: "http://a.example")

    /// A store that hands out times one after the other, to any process.
    private struct Store {
        var free: [String: MonotonicTime] = [:]

        mutating func give(_ ask: SharedRateTokens.Ask, now: MonotonicTime) -> SharedRateTokens.Given {
            let first = max(free[ask.origin] ?? now, now)
            free[ask.origin] = first + ask.interval * ask.count
            return SharedRateTokens.Given(ask, first: first)
        }
    }

    private func scheduler(_ rate: Double, all: Double? = nil) throws -> Scheduler {
        let bounds = [OriginLimits(try #require(OriginPattern("http://a.example")), requestRate: rate)]
        let limits = Scheduler.Limits(
            concurrency: 100, perHost: .exactly(100), requestRate: all, bounds: OriginBounds(bounds))
        return Scheduler(limits: limits, isShared: true, now: now)
    }

    private func jobs(_ lane: Lane, _ count: Int64) -> [Scheduler.Candidate] {
        (1...count).map { Scheduler.Candidate(id: $0, lane: lane, priority: 0) }
    }

    /// Returns the start times of jobs of several processes, in seconds, where each job ends at once.
    private func starts(_ schedulers: inout [Scheduler], for seconds: Int) -> [[Double]] {
        var store = Store()
        var starts = schedulers.map { _ in [Double]() }
        for tick in 0..<(seconds * 100) {
            let time = now + .milliseconds(Int64(tick) * 10)
            for process in schedulers.indices {
                for action in schedulers[process].decide(now: time) {
                    switch action {
                    case .start(let candidate):
                        starts[process].append((time - now).inSeconds)
                        schedulers[process].ended(candidate)
                    case .reserve(let ask): schedulers[process].startsAreGiven(store.give(ask, now: time))
                    case .share(let ask):
                        schedulers[process].placesAreGiven(SharedPermits.Given(ask, count: ask.use.wanted))
                    case .claim, .refuse: break
                    }
                }
            }
        }
        return starts
    }

    @Test func severalProcessesTogetherKeepTheRateAndEachGetsItsPart() throws {
        var schedulers = [try scheduler(5), try scheduler(5), try scheduler(5)]
        for process in schedulers.indices { schedulers[process].claimed(lane, jobs(lane, 100), asked: 256) }
        let starts = starts(&schedulers, for: 20)
        let all = starts.joined().sorted()
        for (index, time) in all.enumerated() where index + 5 < all.count {
            #expect(all[index + 5] - time > 1, "six in a second from \(time) on")
        }
        #expect(all.count >= 85, "\(all.count) of 100")
        #expect(starts.allSatisfy { $0.count >= 20 }, "\(starts.map(\.count))")
    }

    @Test func theRateOfAllOriginsIsSharedToo() throws {
        let other = Lane(batch: 1, origin: "http://b.example")
        var schedulers = [try scheduler(100, all: 4), try scheduler(100, all: 4)]
        schedulers[0].claimed(lane, jobs(lane, 100), asked: 256)
        schedulers[1].claimed(other, jobs(other, 100), asked: 256)
        let starts = starts(&schedulers, for: 10)
        #expect((33...40).contains(starts.joined().count), "\(starts)")
        #expect(starts.allSatisfy { $0.count >= 10 }, "\(starts.map(\.count))")
    }

    @Test func anUnusedTimeIsLost() {
        var starts = SharedRateTokens()
        #expect(starts.turn(at: "a", perSecond: 10, now: now) == .unknown)
        let ask = starts.asks { _ in 5 }
        #expect(ask.map(\.count) == [5])
        #expect(starts.turn(at: "a", perSecond: 10, now: now) == .unknown)
        #expect(starts.asks { _ in 5 }.isEmpty, "it is asked for already")
        starts.given(SharedRateTokens.Given(ask[0], first: now))
        #expect(starts.turn(at: "a", perSecond: 10, now: now + SharedRateTokens.grace) == .now)
        // The first two times have passed, and the third comes at 220 ms.
        let late = now + .milliseconds(170)
        #expect(starts.turn(at: "a", perSecond: 10, now: late) == .at(now + .milliseconds(220)))
        #expect(starts.turn(at: "a", perSecond: 10, now: now + .seconds(9)) == .unknown)
        #expect(starts.asks { _ in 5 }.count == 1)
    }

    @Test func noMoreTimesAreTakenThanJobsWaitAndThanASecondHas() {
        var starts = SharedRateTokens()
        for (rate, jobs, count) in [(10.0, 3, 3), (10, 50, 10), (0.1, 50, 1), (1000, 500, 64), (1000, 0, 1)] {
            let origin = "\(rate) \(jobs)"
            _ = starts.turn(at: origin, perSecond: rate, now: now)
            #expect(starts.asks { _ in jobs }.map(\.count) == [count], "\(origin)")
        }
    }

    @Test func aPauseThatAnotherProcessHeardOfHoldsHere() throws {
        var scheduler = Scheduler(limits: Scheduler.Limits(), now: now)
        var error = TransferError(.httpStatus, "busy", cause: .http(status: 429), isTransient: true, scope: .origin)
        error.retryAfter = .seconds(5)
        scheduler.originFailed(
            lane.origin, job: 9, TransferError(.cannotConnect, "bad luck"), rule: RetryRule(), random: 0, now: now)
        scheduler.restorePause(of: lane.origin, error, until: now + .seconds(5))
        scheduler.claimed(lane, jobs(lane, 3), asked: 256)
        #expect(scheduler.decide(now: now).isEmpty)
        scheduler.restorePause(of: lane.origin, error, until: now + .seconds(2))
        #expect(scheduler.decide(now: now + .seconds(3)).isEmpty, "the longer one holds")
        scheduler.restorePause(of: lane.origin, error, until: now + .seconds(8))
        #expect(scheduler.decide(now: now + .seconds(6)).isEmpty && scheduler.nextWake == now + .seconds(8))
        #expect(scheduler.decide(now: now + .seconds(8)).count == 1, "one tries")
    }
}
