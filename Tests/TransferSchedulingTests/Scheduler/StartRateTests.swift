import Testing
import TransferCore
import TransferQueueFixtures

@testable import TransferScheduling

@Suite struct StartRateTests {
    @Test func theFirstStartsAtOnceAndTheNextInTime() {
        var rate = StartRate(perSecond: 10, now: .seconds(0))
        #expect(rate.take(now: .seconds(0)) == nil)
        let next = rate.take(now: .seconds(0))
        #expect(next == .seconds(0.101))
        #expect(rate.take(now: .seconds(0.101)) == nil)
    }

    @Test(arguments: [0.1, 0.5, 1, 3, 20, 1000])
    func neverMoreThanAskedInAnyWindow(_ perSecond: Double) {
        var rate = StartRate(perSecond: perSecond, now: .seconds(0))
        var now = MonotonicTime.seconds(0)
        var starts: [MonotonicTime] = []
        // The loop asks like the scheduler's pump: again and again until the answer is to wait.
        for _ in 0..<500 {
            if let next = rate.take(now: now) {
                #expect(next > now)
                now = next
            } else {
                starts.append(now)
            }
        }
        for (index, start) in starts.enumerated() {
            let inSecond = starts[index...].prefix { $0 - start < .seconds(1) }.count
            #expect(Double(inSecond) <= max(1, perSecond) + 1)
        }
        let span = (starts[starts.count - 1] - starts[0]).inSeconds
        #expect(Double(starts.count - 1) <= span * perSecond + 1)
        // The rate is not much lower either: a wait loses at most a millisecond.
        #expect(span <= Double(starts.count) * (1 / perSecond + 0.001) + 0.001)
    }

    @Test func savesUpAtMostOneSecondsWorth() {
        var rate = StartRate(perSecond: 5, now: .seconds(0))
        var burst = 0
        while rate.take(now: .seconds(3600)) == nil { burst += 1 }
        #expect(burst == 5)
    }

    @Test func anAbsurdRateNeitherTrapsNorStartsASecondOne() {
        for perSecond in [0, -1, 1e-300, .infinity, .nan] {
            var rate = StartRate(perSecond: perSecond, now: .seconds(0))
            #expect(rate.take(now: .seconds(0)) == nil)
            if perSecond < .infinity { #expect(rate.take(now: .seconds(1)) ?? .seconds(1) > .seconds(0)) }
        }
    }
}
