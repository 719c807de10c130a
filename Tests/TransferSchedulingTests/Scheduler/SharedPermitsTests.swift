import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// Places at origins that several processes share.
@Suite struct SharedPermitsTests {
    private let now = MonotonicTime.seconds(100)
    private let origin = "http://a.example"
    private typealias Use = SharedPermits.Use

    // MARK: The grant of one process

    private struct Grant {
        let use: Use
        let places: Int
        let others: [Use]
        let count: Int

        init(_ held: Int, _ wanted: Int, of places: Int, _ others: [(Int, Int)], gets count: Int) {
            use = Use(held: held, wanted: wanted)
            self.places = places
            self.others = others.map { Use(held: $0.0, wanted: $0.1) }
            self.count = count
        }
    }

    private static let grants = [
        // A process alone gets the number that it wants, up to the limit.
        Grant(0, 4, of: 64, [], gets: 4), Grant(0, 9, of: 6, [], gets: 6), Grant(3, 0, of: 6, [], gets: 0),
        // Places of other processes are taken; places that they do not want are free.
        Grant(0, 9, of: 6, [(6, 6)], gets: 0), Grant(0, 9, of: 6, [(2, 2)], gets: 4),
        Grant(0, 9, of: 6, [(9, 9)], gets: 0),
        // A second process has too few places: it gets its share, and no more than that.
        Grant(6, 9, of: 6, [(0, 9)], gets: 3), Grant(6, 9, of: 6, [(0, 1)], gets: 3),
        Grant(3, 9, of: 6, [(3, 9)], gets: 3),
        Grant(4, 9, of: 6, [(2, 2)], gets: 4), Grant(6, 6, of: 6, [(0, 4), (0, 4)], gets: 2),
        // There are fewer places than processes.
        Grant(2, 4, of: 2, [(0, 4), (0, 4), (0, 4)], gets: 1), Grant(0, 4, of: 2, [(1, 4), (1, 4)], gets: 0),
    ]

    @Test(arguments: SharedPermitsTests.grants.indices) func aProcessGetsFreePlacesAndAShare(index: Int) {
        let grant = Self.grants[index]
        #expect(grant.use.granted(of: grant.places, beside: grant.others) == grant.count, "\(grant)")
    }

    // MARK: Several processes

    /// A simulated store of several processes.
    private struct Store {
        let places: Int
        var uses: [Int: Use] = [:]

        mutating func share(_ ask: SharedPermits.Ask, of process: Int) -> SharedPermits.Given {
            let count = ask.use.granted(of: places, beside: uses.filter { $0.key != process }.map(\.value))
            uses[process] = Use(held: max(count, ask.use.held), wanted: ask.use.wanted)
            return SharedPermits.Given(ask, count: count)
        }
    }

    private func scheduler(_ concurrency: Int) -> Scheduler {
        let limits = Scheduler.Limits(concurrency: concurrency, perHost: .exactly(1))
        return Scheduler(limits: limits, ahead: .shared(concurrency: concurrency), isShared: true, now: now)
    }

    /// Several processes with endless jobs, each of which takes 50 ms.
    private struct Fleet {
        var schedulers: [Scheduler]
        var store: Store
        var running: [(process: Int, job: Scheduler.Candidate, end: Int)] = []
        /// The store's answers on their way, with their recipients.
        var answers: [(process: Int, given: SharedPermits.Given)] = []
        var nextID: Int64 = 1
        var done: [Int: Int] = [:]
        var mostAtOnce = 0

        mutating func tick(_ tick: Int, now: MonotonicTime, lane: Lane, process: Int) {
            for ended in running where ended.process == process && ended.end == tick {
                schedulers[process].ended(ended.job)
                done[process, default: 0] += 1
            }
            running.removeAll { $0.process == process && $0.end == tick }
            for answer in answers where answer.process == process { schedulers[process].placesAreGiven(answer.given) }
            answers.removeAll { $0.process == process }
            for action in schedulers[process].decide(now: now) {
                switch action {
                case .start(let job): running.append((process, job, tick + 5))
                case .claim(let lane, let count):
                    let jobs = (0..<Int64(count)).map {
                        Scheduler.Candidate(id: nextID + $0, lane: lane, priority: 0)
                    }
                    nextID += Int64(count)
                    schedulers[process].claimed(lane, jobs, asked: count)
                case .share(let ask): answers.append((process, store.share(ask, of: process)))
                case .reserve, .refuse: break
                }
            }
            mostAtOnce = max(mostAtOnce, running.count)
        }
    }

    private func run(_ concurrency: [Int], places: Int, seconds: Int) -> Fleet {
        var fleet = Fleet(schedulers: concurrency.map(scheduler), store: Store(places: places))
        let lane = Lane(batch: 1, origin: origin)
        for process in concurrency.indices { fleet.schedulers[process].backlogGrew(lane, by: 1_000_000) }
        for tick in 0..<(seconds * 100) {
            let time = now + .milliseconds(Int64(tick) * 10)
            for process in concurrency.indices { fleet.tick(tick, now: time, lane: lane, process: process) }
        }
        return fleet
    }

    @Test func processesThatWantNoMoreThanThereIsAllWorkAtFullSpeed() {
        let fleet = run([4, 4, 4, 4, 4, 4, 4, 4], places: 64, seconds: 10)
        // The expected rate is 20 jobs a second and slot, without the first moments.
        for process in 0..<8 { #expect(fleet.done[process, default: 0] > 4 * 20 * 9, "\(process): \(fleet.done)") }
    }

    @Test(arguments: [([16, 16, 16, 16], 16), ([32, 2, 8], 8), ([4, 4, 4, 4, 4, 4], 3)])
    func neverAreMoreUnderWayThanAllMayHave(concurrency: [Int], places: Int) {
        let fleet = run(concurrency, places: places, seconds: 20)
        #expect(fleet.mostAtOnce == places)
        let done = fleet.done.values.reduce(0, +)
        #expect(done > places * 20 * 20 * 8 / 10, "places are used: \(done)")
        if places >= concurrency.count {
            for process in concurrency.indices {
                let share = min(concurrency[process], places / concurrency.count)
                #expect(fleet.done[process, default: 0] > share * 20 * 15, "\(process): \(fleet.done)")
            }
        }
    }

    @Test func aProcessWithoutJobsGivesItsPlacesBack() {
        var places = SharedPermits()
        places.want(origin)
        var use = Use(held: 0, wanted: 4)
        func ask(_ time: MonotonicTime) -> [SharedPermits.Ask] {
            places.asks(now: time, most: 4, reported: { _ in .exactly(8) }, use: { _ in use }).asks
        }
        let first = ask(now)
        #expect(first.map(\.use) == [use] && places.count(at: origin) == 0)
        places.given(SharedPermits.Given(first[0], count: 4))
        #expect(places.count(at: origin) == 4)
        use = Use(held: 0, wanted: 0)
        #expect(ask(now + .milliseconds(900)).isEmpty, "the next job may be on its way")
        let last = ask(now + .milliseconds(1000))
        #expect(last.map(\.use) == [use] && places.count(at: origin) == 0)
        places.given(SharedPermits.Given(last[0], count: 0))
        #expect(ask(now + .seconds(5)).isEmpty)
    }

    @Test func noMoreThanTheGrantIsStartedDuringAQuery() {
        var places = SharedPermits()
        places.want(origin)
        func ask(_ time: MonotonicTime, held: Int) -> SharedPermits.Ask? {
            places.asks(
                now: time, most: 8, reported: { _ in .automatic }, use: { _ in Use(held: held, wanted: 8) }
            ).asks.first
        }
        guard let first = ask(now, held: 0) else { return #expect(Bool(false), "it is asked at once") }
        places.given(SharedPermits.Given(first, count: 6))
        #expect(ask(now + .milliseconds(200), held: 4) != nil)
        #expect(places.count(at: origin) == 4)
    }

    @Test func aRefusalHalvesThePlacesAndIsReportedAtOnce() {
        var places = SharedPermits()
        places.want(origin)
        func ask(_ time: MonotonicTime) -> SharedPermits.Ask? {
            places.asks(
                now: time, most: 16, reported: { _ in .automatic }, use: { _ in Use(held: 8, wanted: 16) }
            ).asks.first
        }
        guard let first = ask(now) else { return #expect(Bool(false), "it is asked at once") }
        places.given(SharedPermits.Given(first, count: 12))
        let refused = now + .milliseconds(50)
        for _ in 0..<5 {
            let refusal = OriginObservations.Refusal(.answer, since: now + .milliseconds(10))
            places.refused(origin, refusal, now: refused)
        }
        #expect(places.count(at: origin) == 6, "once for all that were under way together")
        #expect(ask(refused)?.seen.refusals.count == 5)
    }

    /// FTP's "too many users" has no status. With a configured number, each process finds its own limit.
    @Test(arguments: [PerHost.automatic, .exactly(8)]) func aCrowdedServerIsARefusalToAllWithAnAutomaticNumber(
        _ reported: PerHost
    ) throws {
        var places = OriginPlaces(reported, OriginBounds(), isShared: true)
        places.filled(origin)
        func ask(_ time: MonotonicTime) throws -> SharedPermits.Ask {
            try #require(places.asks(now: time, most: 8) { _ in Use(held: 8, wanted: 8) }.asks.first)
        }
        places.given(SharedPermits.Given(try ask(now), count: 8))
        for others in [7, 6, 5] {
            let time = now + .milliseconds(100)
            places.crowded(origin, others: others, since: now, now: time)
        }
        let isAutomatic = reported == .automatic
        #expect(places.count(at: origin) == (isAutomatic ? 4 : 5))
        #expect(try ask(now + .seconds(2)).seen.refusals.count == (isAutomatic ? 3 : 0))
    }

    @Test func originsBeyondTheQueriedOnesGetTheirTurn() {
        var places = SharedPermits()
        for number in 0..<600 { places.want("http://\(number).example") }
        var seen = Set<String>()
        var time = now
        while seen.count < 600, time < now + .seconds(60) {
            let asks = places.asks(
                now: time, most: 4, reported: { _ in .exactly(1) },
                use: { seen.contains($0) ? Use(held: 0, wanted: 0) : Use(held: 0, wanted: 1) }
            ).asks
            for ask in asks {
                if ask.use.wanted > 0 { seen.insert(ask.origin) }
                places.given(SharedPermits.Given(ask, count: ask.use.wanted))
            }
            time = time + .milliseconds(100)
        }
        #expect(seen.count == 600)
    }
}
