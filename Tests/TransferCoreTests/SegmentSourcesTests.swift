import Testing
import TransferCore

/// Which of a file's sources gets the next connection.
@Suite struct SegmentSourcesTests {
    private static let urls = ["https://a.example/x", "https://b.example/x", "https://c.example/x"]

    /// The first one is under way.
    private var sources: SegmentSources {
        var sources = SegmentSources(Self.urls)
        sources.isFirstUnderWay = true
        return sources
    }

    @Test func oneThatNobodyHasAskedComesFirst() {
        var sources = sources
        #expect(sources.next(now: 100) == 1)
        sources.opened(1)
        #expect(sources.next(now: 100) == 2)
    }

    @Test func theFasterOneGetsMoreAndASlowOneNone() {
        var sources = sources
        sources.measured(0, 1e6, now: 100)
        sources.opened(1)
        sources.measured(1, 20e6, now: 100)
        sources.opened(2)
        sources.measured(2, 16e6, now: 100)
        for expected in [1, 2, 1, 2] {
            let next = sources.next(now: 100)
            #expect(next == expected)
            if let next { sources.opened(next) }
        }
        #expect(sources.isSlow(0))
    }

    @Test func aSlowOneIsAskedAgainLater() {
        var sources = sources
        sources.measured(0, 20e6, now: 100)
        sources.opened(1)
        sources.closed(1, bytes: 1 << 20, seconds: 1, fault: nil, now: 101)
        sources.opened(2)
        sources.measured(2, 20e6, now: 101)
        #expect(sources.next(now: 102) != 1)
        #expect(sources.next(now: 131) == 1)
        // What it brings now is what counts.
        sources.opened(1)
        sources.measured(1, 40e6, now: 132)
        #expect(sources[1].rate == 40e6)
    }

    @Test func aDeadOneIsLeftAloneForAWhileAndThenForGood() {
        var sources = sources
        sources.measured(0, 1e6, now: 100)
        sources.opened(2)
        sources.measured(2, 1e6, now: 100)
        for round in 0..<3 {
            let now = 100 + Double(round) * 10
            sources.opened(1)
            sources.closed(1, bytes: 0, seconds: 0.1, fault: "connection refused", now: now)
            #expect(sources.next(now: now + 1) != 1)
        }
        #expect(sources[1].dropped == "connection refused")
        sources.measured(0, 1e6, now: 999)
        sources.measured(2, 1e6, now: 999)
        #expect(sources.next(now: 1000) != 1)
    }
}
