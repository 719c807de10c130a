import Testing
import TransferCore

/// The choice of the source for the next connection of a file.
@Suite struct SegmentSourcesTests {
    private static let urls = ["https://a.example/x", "https://b.example/x", "https://c.example/x"]

    /// Sources of which the first is in use.
    private var sources: SegmentSources {
        var sources = SegmentSources(Self.urls)
        sources.isFirstUnderWay = true
        return sources
    }

    @Test func anUntriedSourceComesFirst() {
        var sources = sources
        #expect(sources.next(now: 100) == 1)
        sources.opened(1)
        #expect(sources.next(now: 100) == 2)
    }

    @Test func aSourceWhoseServerAsksForAPauseIsNotAskedMeanwhile() {
        var sources = SegmentSources(Array(Self.urls.prefix(2)))
        sources.isFirstUnderWay = true
        sources.pause(1, until: 160)
        #expect(sources.next(now: 100) == 0)
        // A shorter pause does not end the longer one.
        sources.pause(1, until: 110)
        #expect(sources.next(now: 159) == 0)
        #expect(sources.next(now: 160) == 1)
    }

    /// The last connection may go to a source that has just failed, and to a paused one only where no other is left.
    @Test func theLastConnectionPrefersASourceThatIsNotPaused() {
        var sources = SegmentSources(Array(Self.urls.prefix(2)))
        sources.pause(0, until: 3_700)
        sources.opened(1)
        sources.closed(1, bytes: 0, seconds: 1, fault: "reset", now: 100)
        #expect(sources.next(now: 100) == nil)
        #expect(sources.next(now: 100, isLast: true) == 1)
        sources.drop(1, "gone")
        #expect(sources.next(now: 100, isLast: true) == 0)
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
        // The current rate decides.
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

    // MARK: Requests that bring nothing

    /// A server that accepts one connection refuses the seven others at once, which is one failure.
    @Test func connectionsThatWereOpenTogetherFailOnce() {
        var sources = SegmentSources([Self.urls[0]])
        sources.isFirstUnderWay = true
        for _ in 0..<7 { sources.opened(0) }
        for number in 0..<7 {
            sources.closed(0, bytes: 0, seconds: 1, fault: "403", now: 101 + Double(number) / 100)
        }
        #expect(sources[0].failures == 1 && sources[0].dropped == nil)
        #expect(sources.next(now: 103) == nil)
        // One connection shows whether the source works again.
        #expect(sources.next(now: 107) == 0)
        sources.opened(0)
        #expect(sources.next(now: 107) == nil)
        sources.closed(0, bytes: SegmentSources.fruitful, seconds: 1, fault: "cut", now: 108)
        for _ in 0..<3 {
            #expect(sources.next(now: 108) == 0)
            sources.opened(0)
        }
    }

    /// An answer that breaks off after a byte, or has one byte, is not worth its request.
    @Test(arguments: [0, 1, SegmentSources.fruitful - 1]) func aFewBytesAreNoProgress(_ bytes: Int64) {
        var sources = SegmentSources([Self.urls[0]])
        var (now, requests) = (100.0, 0)
        while sources[0].dropped == nil, requests < 100 {
            if sources.next(now: now) == 0 {
                sources.opened(0)
                sources.measured(0, 1, now: now, of: bytes)
                sources.closed(0, bytes: bytes, seconds: 0.01, fault: "cut", now: now + 0.01)
                requests += 1
            }
            now += 0.1
        }
        // At most three requests, with growing pauses between them.
        #expect(requests == 3 && now > 114)
    }

    @Test func aSourceThatFailedInAnEarlierAttemptIsTriedByOneConnection() {
        var sources = SegmentSources(Self.urls, hasFailed: true)
        sources.isFirstUnderWay = true
        for index in 1...2 {
            sources.opened(index)
            sources.measured(index, 1, now: 100)
        }
        sources.measured(0, 1e6, now: 100, of: 0)
        #expect(sources.next(now: 100) == 0)
        sources.opened(0)
        #expect(sources.next(now: 100) != 0)
    }
}
