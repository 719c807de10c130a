import Testing

@testable import TransferCore

@Suite struct RescanPaceTests {
    private func looks(every interval: Duration, for time: Duration) -> Int {
        var pace = RescanPace(longest: .seconds(10))
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var (now, looks) = (start, 0)
        while now - start < time {
            if pace.due(at: now) <= now {
                pace.looked(at: now)
                looks += 1
            }
            now = now + interval
        }
        return looks
    }

    @Test func aFloodIsLookedAtSeldom() {
        #expect(looks(every: .milliseconds(1), for: .seconds(60)) <= 20)
        #expect(looks(every: .milliseconds(1), for: .seconds(600)) <= 80)
    }

    @Test func newsNowAndThenAreLookedAtAtOnce() { #expect(looks(every: .seconds(12), for: .seconds(600)) == 50) }

    @Test func aRestEndsTheFlood() {
        var pace = RescanPace(longest: .seconds(10))
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        for _ in 0..<30 {
            now = pace.due(at: now)
            pace.looked(at: now)
        }
        #expect(pace.due(at: now) > now)
        now = now + .seconds(60)
        #expect(pace.due(at: now) == now)
        pace.looked(at: now)
        #expect(pace.due(at: now) == now)
    }
}
