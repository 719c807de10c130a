import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// The scheduler's use of the levels that origins find, and of the configured numbers.
@Suite struct OriginPlacesTests {
    private let a = Lane(batch: 1, origin: "http://a.example")
    private let b = Lane(batch: 1, origin: "http://b.example")

    /// The jobs under way, and the time.
    private struct Bench {
        var scheduler: Scheduler
        var time = 100.0
        var active: [Scheduler.Candidate] = []
        private var nextID: Int64 = 1

        init(_ limits: Scheduler.Limits) { scheduler = Scheduler(limits: limits, now: .seconds(100)) }

        mutating func add(_ lane: Lane, _ count: Int) {
            let jobs = (0..<Int64(count)).map { Scheduler.Candidate(id: nextID + $0, lane: lane, priority: 0) }
            nextID += Int64(count)
            scheduler.claimed(lane, jobs, asked: count + 1)
        }

        /// - Returns: The number of started jobs.
        @discardableResult mutating func decide() -> Int {
            let before = active.count
            for action in scheduler.decide(now: .seconds(time)) {
                if case .start(let job) = action { active.append(job) }
            }
            return active.count - before
        }

        func count(_ lane: Lane) -> Int { active.count { $0.lane == lane } }

        /// Ends all jobs of a lane together after this number of seconds, before the next decision.
        mutating func endAll(of lane: Lane, after seconds: Double, bytes: Int64 = 4096) {
            time += seconds
            for job in active where job.lane == lane {
                scheduler.moved(bytes, at: lane.origin)
                scheduler.originAnswered(lane.origin, now: .seconds(time))
                scheduler.ended(job)
            }
            active.removeAll { $0.lane == lane }
        }
    }

    @Test func manyWaitingJobsGetMorePlacesAndOtherOriginsKeepTheirs() {
        var bench = Bench(.init(concurrency: 100))
        bench.add(a, 1000)
        bench.add(b, 1000)
        #expect(bench.decide() == 20, "ten for each")
        var seen: Set<Int> = []
        for _ in 0..<12 {
            bench.endAll(of: a, after: 0.05)
            bench.decide()
            seen.insert(bench.count(a))
        }
        #expect(seen == [10, 20, 40, 64] && bench.count(b) == 10)
    }

    @Test func aConfiguredNumberIsKept() {
        var bench = Bench(.init(concurrency: 100, perHost: 40))
        bench.add(a, 1000)
        #expect(bench.decide() == 40)
        for _ in 0..<12 {
            bench.endAll(of: a, after: 0.05)
            #expect(bench.decide() == 40)
        }
        bench.scheduler.originRefused(a.origin, .answer, since: .seconds(bench.time), now: .seconds(bench.time + 1))
        bench.endAll(of: a, after: 2)
        #expect(bench.decide() == 40)
    }

    @Test func anOriginsOwnLimitTakesPrecedenceInBothDirections() throws {
        let pattern = try #require(OriginPattern("http://a.example"))
        for (general, own, expected) in [(PerHost.exactly(3), PerHost.automatic, 10), (.automatic, 2, 2), (9, 4, 4)] {
            var bench = Bench(.init(perHost: general, bounds: OriginBounds([OriginLimits(pattern, perHost: own)])))
            bench.add(a, 100)
            #expect(bench.decide() == expected)
        }
    }

    /// The whole queue is the limit then, and not the origin, so nothing is learned about the origin.
    @Test func aFullQueueGivesNoOriginMorePlaces() {
        var bench = Bench(.init(concurrency: 6))
        bench.add(a, 1000)
        for _ in 0..<20 {
            #expect(bench.decide() == 6)
            #expect(!bench.scheduler.hasLevelsToLookAt)
            bench.endAll(of: a, after: 0.05)
        }
        bench.scheduler.setLimits(.init(concurrency: 64), now: .seconds(bench.time))
        #expect(bench.decide() == 10)
    }

    @Test func aRefusalHalvesTheLevelAndTheRestContinues() {
        var bench = Bench(.init(concurrency: 100))
        bench.add(a, 1000)
        bench.decide()
        while bench.count(a) < 40 {
            bench.endAll(of: a, after: 0.05)
            bench.decide()
        }
        let since = MonotonicTime.seconds(bench.time)
        for job in bench.active {
            bench.time += 0.001
            bench.scheduler.originRefused(a.origin, .answer, since: since, now: .seconds(bench.time))
            bench.scheduler.ended(job)
        }
        bench.active = []
        #expect(bench.decide() == 20)
    }

    /// The files are large: none ends, and the observed bytes show that more places pay.
    @Test func bytesOfTransfersUnderWayAreObserved() {
        var bench = Bench(.init(concurrency: 100))
        bench.add(a, 1000)
        bench.decide()
        var seen: Set<Int> = [bench.count(a)]
        for _ in 0..<40 {
            #expect(bench.scheduler.hasLevelsToLookAt || bench.count(a) == ConcurrencyProbe.most)
            bench.time += 0.25
            // Each connection moves 8 MB/s.
            bench.scheduler.moved(Int64(bench.count(a)) * 2_000_000, at: a.origin)
            bench.scheduler.lookAtLevels(now: .seconds(bench.time))
            bench.decide()
            seen.insert(bench.count(a))
        }
        #expect(seen == [10, 20, 40, 64] && !bench.scheduler.hasLevelsToLookAt)
    }

    /// A file's own connections count together with the jobs, and make room for them.
    @Test func partsOfAFileHaveTheirPlacesAmongThe64() {
        var bench = Bench(.init(concurrency: 100))
        bench.add(a, 1)
        bench.decide()
        #expect(bench.scheduler.spareConnections(to: a.origin) == 63)
        for _ in 0..<15 { bench.scheduler.connectionOpened(to: a.origin) }
        #expect(bench.scheduler.spareConnections(to: a.origin) == 48)
        bench.add(a, 9)
        #expect(bench.scheduler.spareConnections(to: a.origin) == 0, "they are about to start")
        #expect(bench.decide() == 9, "the parts took none of the ten places")
        #expect(bench.scheduler.spareConnections(to: a.origin) == 39)
        bench.add(a, 1)
        #expect(bench.decide() == 0)
        #expect(bench.scheduler.spareConnections(to: a.origin) == -15)
    }

    @Test func aNumberFromTheUserBoundsConnectionsToo() {
        var bench = Bench(.init(concurrency: 100, perHost: .exactly(4)))
        bench.add(a, 1)
        bench.decide()
        for _ in 0..<3 { bench.scheduler.connectionOpened(to: a.origin) }
        bench.add(a, 2)
        #expect(bench.decide() == 0 && bench.scheduler.spareConnections(to: a.origin) == -3)
        for _ in 0..<3 { bench.scheduler.connectionClosed(to: a.origin) }
        #expect(bench.decide() == 2)
    }

    /// Connections are not given back for jobs that could not start anyway.
    @Test func jobsThatCannotStartTakeNoConnectionsFromAFile() {
        var bench = Bench(.init(concurrency: 100, perHost: .exactly(4)))
        let night = Lane(batch: 1, origin: a.origin, network: "night")
        bench.scheduler.setNetwork(NetworkGate(shut: ["night"]))
        bench.add(a, 1)
        bench.decide()
        bench.add(night, 5)
        #expect(bench.scheduler.spareConnections(to: a.origin) == 3)
        bench.scheduler.setNetwork(NetworkGate())
        #expect(bench.scheduler.spareConnections(to: a.origin) == 0)
    }

    @Test func largeFilesLeavePlacesToLaterJobs() {
        var bench = Bench(.init(concurrency: 100))
        bench.add(a, 40)
        #expect(bench.decide() == 10)
        for job in bench.active { bench.scheduler.left(OriginLoads.large, of: job) }
        #expect(bench.decide() == 2, "a quarter of the places is kept")
        for job in bench.active { bench.scheduler.left(OriginLoads.large, of: job) }
        #expect(bench.decide() == 0, "large ones have those, too")
        bench.scheduler.left(OriginLoads.large - 1, of: bench.active[0])
        #expect(bench.decide() == 0, "ten of twelve count")
        for job in bench.active { bench.scheduler.ended(job) }
        bench.active = []
        #expect(bench.scheduler.loads.large(at: a.origin) == 0 && bench.decide() == 10)
    }

    @Test func aRefusedPartTakesConnectionsAway() {
        var bench = Bench(.init(concurrency: 100))
        bench.add(a, 1)
        bench.decide()
        for _ in 0..<15 { bench.scheduler.connectionOpened(to: a.origin) }
        bench.scheduler.originRefused(a.origin, .answer, since: .seconds(100), now: .seconds(101))
        #expect(bench.scheduler.spareConnections(to: a.origin) == 8 - 16)
        #expect(bench.scheduler.hasLevelsToLookAt, "some come back by time")
    }
}
