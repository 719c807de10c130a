import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// The scheduler against a world that answers at random: no job is lost, duplicated, started beyond a limit or
/// forgotten.
@Suite struct SchedulerModelTests {
    /// The store and the network as the scheduler sees them.
    struct World {
        var random: SplitMix64
        var scheduler: Scheduler
        var now = MonotonicTime.seconds(0)
        let limits: Scheduler.Limits
        let perHost: Int
        var ready: [Lane: [Scheduler.Candidate]] = [:]
        /// The store's answers to claims. The scheduler receives an answer later, and other events of the store before
        /// it.
        var claims: [(lane: Lane, count: Int, page: [Scheduler.Candidate]?)] = []
        var window: Set<Int64> = []
        var active: [Int64: Scheduler.Candidate] = [:]
        var sleeping: [Scheduler.Candidate] = []
        var ended: Set<Int64> = []
        var troubled: Set<String> = []
        var faults: [String] = []
        var rounds = 0
        var starts: [MonotonicTime] = []

        init(seed: UInt64, jobs: Int) {
            random = SplitMix64(state: seed)
            let concurrency = Int.random(in: 1...8, using: &random)
            perHost = .random(in: 1...4, using: &random)
            limits = Scheduler.Limits(
                concurrency: concurrency, perHost: .exactly(perHost),
                requestRate: Bool.random(using: &random) ? .random(in: 5...500, using: &random) : nil)
            scheduler = Scheduler(limits: limits, now: now)
            let lanes = (0..<Int.random(in: 1...6, using: &random)).map {
                Lane(batch: Int64($0 % 2), origin: "http://h\($0 / 2)")
            }
            troubled = Set(lanes.map(\.origin).filter { _ in Bool.random(using: &random) })
            for id in 0..<Int64(jobs) {
                let lane = lanes[Int.random(in: 0..<lanes.count, using: &random)]
                let priority = Int.random(in: 0...2, using: &random)
                ready[lane, default: []].append(.init(id: id, lane: lane, priority: priority))
            }
            for (lane, jobs) in ready { scheduler.backlogIs(lane, jobs.count) }
        }

        mutating func check(_ condition: Bool, _ what: String) { if !condition { faults.append("\(rounds): \(what)") } }

        mutating func decide() {
            let before = active.count
            var startedHere: [String: Int] = [:]
            for action in scheduler.decide(now: now) {
                switch action {
                case .start(let job):
                    check(window.remove(job.id) != nil, "started \(job.id), which is not in the window")
                    active[job.id] = job
                    startedHere[job.lane.origin, default: 0] += 1
                    starts.append(now)
                case .refuse(let job, _):
                    check(window.remove(job.id) != nil, "refused \(job.id), which is not in the window")
                    check(ended.insert(job.id).inserted, "\(job.id) ended twice")
                case .claim(let lane, let count):
                    check(!claims.contains { $0.lane == lane }, "claims \(lane) twice at a time")
                    claims.append((lane, count, nil))
                case .reserve, .share: check(false, "asks for times of a store that nobody shares")
                }
            }
            check(active.count <= limits.concurrency || active.count == before, "\(active.count) at once")
            for (origin, jobs) in Dictionary(grouping: active.values, by: \.lane.origin) {
                check(jobs.count <= perHost, "\(jobs.count) at once to \(origin)")
            }
            check(scheduler.active.count == active.count, "counts \(scheduler.active.count) of \(active.count) active")
        }

        mutating func goOnWithClaim(_ index: Int) {
            if let page = claims[index].page {
                let claim = claims.remove(at: index)
                window.formUnion(page.map(\.id))
                return scheduler.claimed(claim.lane, page, asked: claim.count)
            }
            let (lane, count, _) = claims[index]
            let page = Array((ready[lane] ?? []).sorted { ($1.priority, $0.id) < ($0.priority, $1.id) }.prefix(count))
            let taken = Set(page.map(\.id))
            ready[lane]?.removeAll { taken.contains($0.id) }
            claims[index].page = page
        }

        mutating func putBack(_ job: Scheduler.Candidate) {
            ready[job.lane, default: []].append(job)
            scheduler.backlogGrew(job.lane, by: 1)
        }

        /// Ends one transfer in one of the ways that the runner knows.
        mutating func endOne(_ job: Scheduler.Candidate) {
            active[job.id] = nil
            let origin = job.lane.origin
            let isTrouble = troubled.contains(origin) && Int.random(in: 0..<4, using: &random) > 0
            switch Int.random(in: 0..<10, using: &random) {
            case _ where isTrouble:
                let wish: Duration? =
                    Bool.random(using: &random) ? .milliseconds(.random(in: 1...5000, using: &random)) : nil
                scheduler.originFailed(
                    origin, job: job.id, Sample.unreachable(retryAfter: wish),
                    rule: RetryRule(limit: 40), random: .random(in: 0..<1, using: &random), now: now)
                scheduler.ended(job)
                if Int.random(in: 0..<30, using: &random) == 0 {
                    scheduler.originExhausted(origin, Sample.unreachable())
                    check(ended.insert(job.id).inserted, "\(job.id) ended twice")
                } else {
                    sleeping.append(job)
                }
            case 0, 1:
                // A fault of this machine, a pause or a stop says nothing about the origin.
                scheduler.originAbandoned(origin, job: job.id, now: now)
                scheduler.ended(job)
                putBack(job)
            default:
                scheduler.originAnswered(origin)
                scheduler.ended(job)
                check(ended.insert(job.id).inserted, "\(job.id) ended twice")
            }
        }

        mutating func step() {
            rounds += 1
            // The trouble ends at some point, as otherwise no job would have to end.
            if rounds == 3000 { troubled = [] }
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where !claims.isEmpty: goOnWithClaim(.random(in: 0..<claims.count, using: &random))
            case 1 where !sleeping.isEmpty:
                putBack(sleeping.remove(at: .random(in: 0..<sleeping.count, using: &random)))
            case 2:
                let chosen = Int64.random(in: 0..<7, using: &random)
                for job in scheduler.remove(where: { $0.id % 7 == chosen }) {
                    check(window.remove(job.id) != nil, "took out \(job.id), which is not in the window")
                    putBack(job)
                }
            case 3: now = now + .milliseconds(.random(in: 0...2000, using: &random))
            default:
                // The order of a dictionary does not follow the seed.
                if let id = active.keys.sorted().randomElement(using: &random), let job = active[id] { endOne(job) }
            }
            decide()
        }

        /// Advances the time when nothing else can happen: the scheduler has to name a time at which a job starts.
        mutating func jumpIfStuck() -> Bool {
            guard claims.isEmpty, active.isEmpty, sleeping.isEmpty, !scheduler.isIdle else { return true }
            guard let wake = scheduler.nextWake else { return false }
            now = max(now, wake)
            decide()
            return true
        }
    }

    @Test(arguments: 0..<60)
    func everyJobEndsOnceAndNoLimitIsBroken(_ seed: Int) {
        let count = seed % 10 == 0 ? 900 : 120
        var world = World(seed: UInt64(seed), jobs: count)
        world.decide()
        while world.ended.count < count, world.faults.isEmpty, world.rounds < 200_000 {
            world.step()
            guard world.jumpIfStuck() else {
                world.faults.append("nothing will ever start again; \(count - world.ended.count) jobs are left")
                break
            }
        }
        #expect(world.faults.isEmpty)
        #expect(world.ended.count == count)
        #expect(world.scheduler.isIdle || !world.claims.isEmpty)
        if let rate = world.limits.requestRate {
            for (index, start) in world.starts.enumerated() {
                let inSecond = world.starts[index...].prefix { $0 - start < .seconds(1) }.count
                #expect(Double(inSecond) <= 2 * rate + 1, "a burst of a second's worth, and what is allowed meanwhile")
            }
        }
    }
}
