import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferQueue

@Suite struct RateWindowTests {
    /// Returns a window that observed a count once a second.
    func window(_ counts: [Int64]) -> RateWindow {
        var window = RateWindow()
        for (second, count) in counts.enumerated() { window.note(count, at: .seconds(Double(second))) }
        return window
    }

    @Test func oneSampleIsNoRate() {
        #expect(window([]).rate == 0 && window([900]).rate == 0)
    }

    @Test func aSlowLinkShowsItsRate() {
        #expect(window((0...60).map { $0 * 1000 }).rate == 1000)
        // A packet comes every other second.
        #expect((1160...1740).contains(window((0...60).map { $0 / 2 * 2900 }).rate))
    }

    @Test func theRateIsThatOfTheLastSeconds() {
        let counts = (0...30).map { Int64(max(0, $0 - 20)) * 500 }
        #expect(window(counts).rate == 500)
    }

    @Test func theRateFallsToZeroWithinTheWindow() {
        let moving = (0...10).map { Int64($0) * 1_000_000 }
        let still = [Int64](repeating: 10_000_000, count: 5)
        #expect(window(moving + still).rate == 0)
        #expect(window(moving + still.prefix(2)).rate > 0)
    }

    @Test func aCountThatFallsIsNoMovementBackwards() {
        #expect(window([1000, 10]).rate == 0)
        #expect(window([1000, 10, 510]).rate == 500)
    }

    @Test func manyObservationsKeepFewSamplesAndTheSameRate() {
        var window = RateWindow()
        for look in 0...10_000 { window.note(Int64(look), at: .seconds(Double(look) / 1000)) }
        #expect((990...1010).contains(window.rate))
    }

    @Test func twoSamplesAtOneTimeAreNoRate() {
        var window = RateWindow()
        window.note(100, at: .seconds(1))
        window.note(900, at: .seconds(1))
        #expect(window.rate == 0)
    }
}
