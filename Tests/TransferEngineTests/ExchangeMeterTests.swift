import Synchronization
import Testing

@testable import TransferEngine

@Suite struct ExchangeMeterTests {
    /// A short download may have ended before the next look at its counters.
    @Test func theFirstBytesOfABodyAreReportedOnce() {
        let reports = Mutex(0)
        let meter = ExchangeMeter(onFirstBytes: { reports.withLock { $0 += 1 } })
        meter.update(received: 0)
        #expect(reports.withLock { $0 } == 0)
        meter.update(received: 100)
        meter.update(received: 200)
        #expect(reports.withLock { $0 } == 1)
        #expect(meter.received == 200)
    }
}
