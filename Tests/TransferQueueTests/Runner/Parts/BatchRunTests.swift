import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferQueue

@Suite struct BatchRunTests {
    func run(_ samples: [(Double, bytes: Int64, ended: Int)], jobs: Int) -> BatchRun {
        let run = BatchRun(id: 1, name: "b", directory: "/", now: .seconds(0))
        run.totals.jobs = jobs
        for (time, bytes, ended) in samples {
            run.remaining = jobs - ended
            run.sample(bytes: bytes, now: .seconds(time))
        }
        return run
    }

    @Test func knowsNothingBeforeTimeHasPassed() {
        #expect(run([], jobs: 5).rate == 0 && run([], jobs: 5).eta == nil)
        let twice = run([(0, 100, 1), (0, 900, 2)], jobs: 5)
        #expect(twice.rate == 0 && twice.eta == nil, "no time has passed")
    }

    @Test func theRateIsThatSinceTheRunBegan() {
        #expect(run([(1, 100, 1)], jobs: 5).rate == 100)
    }

    @Test func theRateIsOverTheLastSeconds() {
        var samples: [(Double, bytes: Int64, ended: Int)] = []
        for second in 0...30 { samples.append((Double(second), bytes: Int64(max(0, second - 20)) * 500, ended: 0)) }
        #expect(run(samples, jobs: 5).rate == 500)
    }

    @Test func theRateIsNeverNegative() {
        #expect(run([(0, 1000, 0), (1, 10, 0)], jobs: 5).rate == 0)
    }

    @Test func theTimeLeftFollowsFromTheJobsThatEnd() {
        #expect(run([(0, 0, 0), (5, 0, 10)], jobs: 30).eta == .seconds(10))
        #expect(run([(0, 0, 3), (5, 0, 3)], jobs: 30).eta == nil, "nothing ended")
        #expect(run([(0, 0, 0), (5, 0, 30)], jobs: 30).eta == nil, "nothing is left")
    }

    @Test func totalsCountTheRemainingJobs() {
        var totals = BatchTotals()
        totals.jobs = 10
        totals.kept = 1
        totals.completed = 2
        totals.failed = 1
        totals.skipped = 1
        totals.cancelled = 1
        #expect(totals.remaining == 4)
    }
}
