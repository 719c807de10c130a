import FoundationEssentials
import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferScheduling

/// The level of an origin that several processes find together, each of which reports its observations.
@Suite struct OriginObservationsTests {
    private let now = MonotonicTime.seconds(100)

    /// Lets two processes report their observations in turns for this time; the level goes through a store's text each
    /// time.
    private func level(for seconds: Double, from level: ConcurrencyProbe = ConcurrencyProbe(), at start: MonotonicTime)
        throws
        -> ConcurrencyProbe
    {
        var level = level
        for turn in 0..<Int(seconds * 8) {
            var seen = OriginObservations()
            // Each place completes twenty files a second.
            for _ in 0..<max(1, level.places * 20 / 8) {
                seen.moved(1000)
                seen.answered()
            }
            level.saw(seen, inUse: level.places, isFull: true, now: start + .milliseconds(Int64(turn) * 125))
            level = try JSONDecoder().decode(ConcurrencyProbe.self, from: JSONEncoder().encode(level))
        }
        return level
    }

    @Test func theLevelGrowsWithTheObservationsOfAllProcesses() throws {
        #expect(try level(for: 0.5, at: now).places < ConcurrencyProbe.most)
        #expect(try level(for: 30, at: now).places == ConcurrencyProbe.most)
    }

    @Test func aRefusalOfOneProcessLowersTheLevelForAll() throws {
        var level = try level(for: 30, at: now)
        let later = now + .seconds(31)
        var seen = OriginObservations()
        for _ in 0..<3 { seen.refused(OriginObservations.Refusal(.answer, since: later + .milliseconds(-100))) }
        level.saw(seen, inUse: 64, isFull: true, now: later)
        #expect(level.places == 32, "once for all that were under way together")
        level.saw(OriginObservations(), inUse: 32, isFull: true, now: later + .seconds(10))
        #expect(level.places == 33)
    }

    @Test func momentsAreConvertedToTheOtherClock() {
        var seen = OriginObservations()
        seen.refused(OriginObservations.Refusal(.answer, since: .seconds(90)))
        let reported = seen.reported(at: .seconds(100), as: .seconds(1_000_000))
        #expect(reported.refusals.map(\.since) == [.seconds(999_990)])
    }
}
