import Glibc
import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferScheduling

/// The number of transfers that an origin gets where no number is configured.
@Suite struct ConcurrencyProbeTests {
    /// A simulated server. A transfer's time consists of the wait for its answer, its share of the link, and its turn
    /// at the single processor.
    struct Server: CustomTestStringConvertible {
        let testDescription: String
        var latency = 0.0
        /// The random part of the latency, which often multiplies it.
        var jitter = 0.0
        var sizes: ClosedRange<Double> = 4096...4096
        /// The rate of one connection, in bytes a second.
        var perConnection = Double.infinity
        var line = Double.infinity
        /// The time that each transfer takes of a processor that does one thing at a time, in seconds.
        var processor = 0.0
        var jobs = 2000
        /// The length of a simulation step, in seconds.
        var step = 0.001

        init(_ name: String, _ set: (inout Server) -> Void) {
            testDescription = name
            set(&self)
        }
    }

    struct Run {
        var seconds = 0.0
        /// The number of places, and since when.
        var levels: [(time: Double, places: Int)] = []
        var highest: Int { levels.map(\.places).max() ?? 0 }
        var last: Int { levels.last?.places ?? 0 }

        /// Returns the time with more places than `places`.
        func time(above places: Int) -> Double {
            zip(levels, levels.dropFirst().map(\.time) + [seconds]).reduce(0) { sum, step in
                step.0.places > places ? sum + step.1 - step.0.time : sum
            }
        }
    }

    private struct Flight {
        var wait: Double
        var work: Double
        let size: Double
        var left: Double
        var reported = 0.0

        /// Whether the transfer's bytes are on the link.
        var isMoving: Bool { wait <= 0 && work <= 0 }
    }

    private func run(_ server: Server, seed: UInt64) -> Run {
        var random = SplitMix64(state: seed)
        var level = ConcurrencyProbe()
        var flights: [Flight] = []
        var run = Run()
        let step = server.step
        var looked = 0.0
        var jobs = server.jobs
        while jobs > 0 || !flights.isEmpty {
            while jobs > 0, flights.count < level.places {
                let chance = -log(Double.random(in: 1e-9..<1, using: &random))
                let size = Double.random(in: server.sizes, using: &random)
                let wait = server.latency * (1 - server.jitter + server.jitter * chance)
                flights.append(Flight(wait: wait, work: server.processor, size: size, left: size))
                jobs -= 1
            }
            if run.levels.last?.places != level.places { run.levels.append((run.seconds, level.places)) }
            run.seconds += step
            let now = MonotonicTime.seconds(run.seconds)
            let share = server.line / Double(max(1, flights.count(where: \.isMoving)))
            var processor = step
            for index in flights.indices {
                if flights[index].wait > 0 {
                    flights[index].wait -= step
                    // The rest of a step belongs to no transfer.
                    if flights[index].wait < step / 2 { flights[index].wait = 0 }
                } else if flights[index].work > 0 {
                    let used = min(processor, flights[index].work)
                    processor -= used
                    flights[index].work -= used
                    if flights[index].work < step / 1000 { flights[index].work = 0 }
                }
                guard flights[index].isMoving else { continue }
                flights[index].left -= min(flights[index].left, min(server.perConnection, share) * step)
            }
            for flight in flights where flight.left <= 0 {
                level.moved(Int64(flight.size - flight.reported))
                level.answered(isFull: jobs > 0, now: now)
            }
            flights.removeAll { $0.left <= 0 }
            guard run.seconds - looked >= 0.25 else { continue }
            looked = run.seconds
            for index in flights.indices {
                let moved = flights[index].size - flights[index].left
                level.moved(Int64(moved - flights[index].reported))
                flights[index].reported = moved
            }
            level.look(isFull: jobs > 0, now: now)
        }
        return run
    }

    // MARK: Gains and losses of more places

    private static let mebibyte = Double(1 << 20)

    static let slowAnswers: [Server] = [
        Server("50 ms an answer") { $0.latency = 0.05 },
        Server("50 ms, half of it by chance") { ($0.latency, $0.jitter) = (0.05, 0.5) },
        Server("50 ms, all of it by chance") { ($0.latency, $0.jitter, $0.jobs) = (0.05, 1, 4000) },
        Server("2 s an answer") { ($0.latency, $0.jobs, $0.step) = (2, 600, 0.01) },
        Server("8 MB/s for each connection") {
            ($0.latency, $0.perConnection, $0.jobs, $0.step) = (0.02, 8e6, 100, 0.005)
            $0.sizes = 32 * mebibyte...128 * mebibyte
        },
        Server("200 kB/s for each connection, small and large files") {
            ($0.latency, $0.perConnection, $0.jobs, $0.step) = (0.02, 2e5, 500, 0.005)
            $0.sizes = 1000...mebibyte
        },
    ]

    @Test(arguments: slowAnswers) func theLevelReaches64WhenTransfersWaitForTheServer(server: Server) {
        for seed in UInt64(1)...4 {
            let run = run(server, seed: seed)
            #expect(run.last == 64 && run.levels.first?.places == 10, "\(seed): \(run.levels)")
            #expect(run.levels.map(\.places).allSatisfy { [10, 20, 40, 64].contains($0) })
        }
    }

    /// The bound for 2,000 files of 4 KiB is 1.15 times the time of 64 at once; this is the rule's own part of it.
    @Test func twoThousandSmallFilesTakeLittleLongerThanWith64AtOnce() {
        let run = run(Server("50 ms") { $0.latency = 0.05 }, seed: 1)
        let best = (2000.0 / 64).rounded(.up) * 0.05
        #expect(run.seconds <= best * 1.15, "\(run.seconds) s, \(run.levels)")
        // Each of the three doublings takes two rounds: one in which connections are made, and one that is measured.
        #expect(run.levels.map(\.places) == [10, 20, 40, 64])
        #expect(run.levels[3].time <= 0.31, "\(run.levels)")
    }

    static let sharedLines: [Server] = [
        Server("a line of 50 MB/s, large files") {
            ($0.latency, $0.jitter, $0.line, $0.jobs) = (0.02, 0.5, 50e6, 300)
            $0.sizes = mebibyte...8 * mebibyte
        },
        Server("a line of 50 MB/s, files of one size") {
            ($0.latency, $0.line, $0.jobs) = (0.001, 50e6, 300)
            $0.sizes = 4 * mebibyte...4 * mebibyte
        },
        Server("a line of 1 MB/s") {
            ($0.latency, $0.line, $0.jobs, $0.step) = (0.02, 1e6, 60, 0.01)
            $0.sizes = 8 * mebibyte...8 * mebibyte
        },
        Server("5 ms of one processor") { ($0.processor, $0.jobs) = (0.005, 6000) },
        Server("2 ms of one processor, after 8 ms") { ($0.latency, $0.processor, $0.jobs) = (0.008, 0.002, 10_000) },
    ]

    @Test(arguments: sharedLines) func theLevelStaysAt10WithoutAGain(server: Server) {
        for seed in UInt64(1)...2 {
            let run = run(server, seed: seed)
            #expect(run.highest <= 20, "\(seed): \(run.levels)")
            // The probes become rarer: after the first two, at most one in each doubling of the time.
            let tries = run.levels.count { $0.places == 20 }
            #expect(Double(tries) <= 3 + log2(max(1, run.seconds)), "\(seed): \(run.levels)")
            #expect(run.time(above: 10) <= 0.5 * run.seconds, "\(seed): \(run.levels)")
        }
    }

    @Test func unusedPlacesTeachNothing() {
        var level = ConcurrencyProbe()
        var time = 0.0
        for _ in 0..<1000 {
            time += 0.01
            level.answered(isFull: false, now: .seconds(time))
        }
        #expect(level.places == 10 && level.isNew && !level.isGrowing(isFull: false) && level.isGrowing(isFull: true))
    }

    @Test func aDoublingInWhichTheWorkRanOutIsTakenBackLater() {
        var level = ConcurrencyProbe()
        var time = 0.0
        while level.places == 10, time < 10 {
            time += 0.01
            level.answered(isFull: true, now: .seconds(time))
        }
        #expect(level.places == 20)
        level.answered(isFull: false, now: .seconds(time))
        level.answered(isFull: true, now: .seconds(time + 19))
        #expect(level.places == 20, "it may be judged yet")
        level.answered(isFull: false, now: .seconds(time + 20))
        level.answered(isFull: true, now: .seconds(time + 40))
        #expect(level.places == 10, "a rate of long ago says nothing")
    }

    // MARK: Prompt answers

    @Test func anAnswerWithinARoundTripFromAfarBringsTwoMorePlacesAtOnce() {
        var level = ConcurrencyProbe()
        level.answered(isFull: true, isPrompt: true, now: .seconds(1))
        #expect(level.places == 12)
        for _ in 0..<100 { level.answered(isFull: true, isPrompt: true, now: .seconds(1)) }
        #expect(level.places == ConcurrencyProbe.most)
    }

    @Test func promptAnswersAddNoPlacesWithoutWaitersOrAfterARefusal() {
        var level = ConcurrencyProbe()
        level.answered(isFull: false, isPrompt: true, now: .seconds(1))
        #expect(level.places == 10)
        level.refused(.answer, inUse: 10, since: .seconds(1), now: .seconds(2))
        let narrowed = level.places
        level.answered(isFull: true, isPrompt: true, now: .seconds(2))
        #expect(level.places == narrowed && narrowed < 10)
    }

    @Test(arguments: [
        (0.1, 0.1, true), (0.12, 0.1, true), (0.14, 0.1, false), (0.3, 0.1, false),
        // On a nearby server the cause of the time cannot be determined.
        (0.0005, 0.0004, false), (0.004, 0.004, false), (0.008, 0.006, true),
    ])
    func anAnswerIsPromptWhenTheRoundTripTookNearlyAllItsTime(seconds: Double, roundTrip: Double, isPrompt: Bool) {
        #expect(AnswerWait(seconds: seconds, roundTrip: roundTrip).isPrompt == isPrompt)
    }

    @Test func serversOfFilesBeginWithEight() {
        #expect(ConcurrencyProbe.first(at: "sftp://a") == 8 && ConcurrencyProbe.first(at: "ftp://a") == 8)
        #expect(ConcurrencyProbe.first(at: "https://a") == 10 && ConcurrencyProbe.first(at: "http://a") == 10)
    }
}
