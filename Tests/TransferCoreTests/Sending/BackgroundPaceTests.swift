import Testing

@testable import TransferCore

/// A link with a queue in front, simulated in steps of time without a clock.
private struct SimulatedQueue {
    /// The rate in bytes a second.
    var rate: Double
    /// The round-trip time in seconds, without the queue.
    var base: Double
    /// The longest queue in seconds.
    var deepest = 1.0
    /// The rate of traffic that does not yield, in bytes a second.
    var others = 0.0
    var queue = 0.0
    var paces: [BackgroundPace]
    var moved: [Double]
    /// The round-trip times, which the flows see one round trip later.
    private var seen: [Double] = []
    var now = 0.0
    static let step = 0.01

    init(rate: Double, base: Double, flows: Int) {
        self.rate = rate
        self.base = base
        paces = Array(repeating: BackgroundPace(), count: flows)
        moved = Array(repeating: 0, count: flows)
    }

    /// - Returns: The delay of the queue at each step, and the share of the link that the flows used.
    mutating func run(_ seconds: Double) -> (delays: [Double], used: Double) {
        let before = moved.reduce(0, +)
        var delays: [Double] = []
        for _ in 0..<Int(seconds / Self.step) {
            let asked = paces.map { $0.window / (base + queue) }
            let all = asked.reduce(others, +)
            let share = min(1, rate / max(1, all))
            queue = min(deepest, max(0, queue + (all - rate) * Self.step / rate))
            for index in paces.indices {
                moved[index] += asked[index] * (queue > 0 ? share : 1) * Self.step
            }
            now += Self.step
            seen.append(base + queue)
            let late = max(0, seen.count - 1 - Int((base + queue) / Self.step))
            for index in paces.indices {
                _ = paces[index].take(
                    BackgroundPace.Sample(
                        now: now, roundTrip: seen[late], base: base, moved: Int64(moved[index]), segment: 1448))
            }
            delays.append(queue)
        }
        return (delays, (moved.reduce(0, +) - before) / (rate * seconds))
    }
}

@Suite struct BackgroundPaceTests {
    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    @Test(
        arguments: [(1e6, 0.01), (12.5e6, 0.02), (12.5e6, 0.1), (6e6, 0.3), (125e6, 0.05), (0.25e6, 0.04)]
            as [(Double, Double)], [1, 4, 16])
    func anIdleLinkIsFilledWithoutAStandingQueue(_ link: (Double, Double), _ flows: Int) {
        // Sixteen flows of two segments each are more than a slow link holds.
        if Double(flows * 2 * 1448) > link.0 * link.1 { return }
        var play = SimulatedQueue(rate: link.0, base: link.1, flows: flows)
        _ = play.run(max(10, 100 * link.1))
        let (delays, used) = play.run(max(20, 100 * link.1))
        #expect(used >= 0.8, "\(link) \(flows): \(used)")
        #expect(Self.median(delays) <= 0.025, "\(link) \(flows): \(Self.median(delays))")
    }

    @Test func backgroundTrafficYieldsOnAFullLink() {
        var play = SimulatedQueue(rate: 12.5e6, base: 0.04, flows: 4)
        _ = play.run(10)
        play.others = 12.5e6
        play.deepest = 0.1
        _ = play.run(5)
        let (_, used) = play.run(5)
        #expect(used <= 0.05, "\(used)")
        play.others = 0
        _ = play.run(10)
        let (_, after) = play.run(10)
        #expect(after >= 0.8, "it comes back once they have left: \(after)")
    }

    @Test func aConnectionThatIsNotUsedDoesNotGrow() {
        var pace = BackgroundPace(segment: 1000)
        for step in 0..<100 {
            _ = pace.take(
                BackgroundPace.Sample(now: Double(step), roundTrip: 0.1, base: 0.1, moved: 0, segment: 1000))
        }
        #expect(pace.window == 10_000)
    }

    @Test func aRoundTripThatIsNotKnownChangesNothing() {
        var pace = BackgroundPace()
        let isChanged = pace.take(BackgroundPace.Sample(now: 1, roundTrip: 0, base: 0, moved: 5, segment: 1448))
        #expect(!isChanged)
        #expect(pace == BackgroundPace())
    }

    @Test func atLeastTwoSegmentsMayBeOnTheWay() {
        var pace = BackgroundPace(segment: 1000)
        for step in 0..<100 {
            _ = pace.take(
                BackgroundPace.Sample(
                    now: Double(step), roundTrip: 0.9, base: 0.01, moved: Int64(step) * 10_000, segment: 1000))
        }
        #expect(pace.window == 2000)
    }
}
