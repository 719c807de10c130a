import Synchronization
import Testing

@testable import TransferServer

/// The answer to monitors, also where the queue's database hangs.
@Suite(.timeLimit(.minutes(1))) struct QueueHealthTests {
    private struct Fault: Error {}

    @Test func theAnswerIsThatOfTheCheck() async {
        #expect(await QueueHealth(within: .seconds(50)) {}.isGood())
        #expect(await QueueHealth(within: .seconds(50)) { throw Fault() }.isGood() == false)
    }

    /// Further callers wait for the check that is under way.
    @Test func aCheckThatHangsIsAnsweredInTimeAndNotRepeated() async {
        let (released, release) = AsyncStream<Void>.makeStream()
        let count = Mutex(0)
        let health = QueueHealth(within: .milliseconds(20)) {
            count.withLock { $0 += 1 }
            for await _ in released { break }
        }
        for _ in 0..<3 { #expect(await health.isGood() == false) }
        #expect(count.withLock { $0 } == 1)
        release.finish()
    }
}
