import Synchronization
import Testing

@testable import TransferServer

/// The bound on queries that hold the end of the service.
@Suite(.timeLimit(.minutes(1))) struct EndingBoundTests {
    @Test func workThatIsToEndIsFreedOfItsQueries() async {
        let (freed, free) = AsyncStream<Void>.makeStream()
        let bound = EndingBound(.milliseconds(1)) { free.yield() }
        let work = Task {
            // The query ignores the cancellation, as a thread that blocks does.
            await bound.run { await Task { for await _ in freed { break } }.value }
        }
        work.cancel()
        await work.value
        bound.end()
    }

    @Test func anEndInTimeCancelsNothing() async {
        let count = Mutex(0)
        let bound = EndingBound(.zero) { count.withLock { $0 += 1 } }
        await bound.run {}
        bound.end()
        bound.begin()
        #expect(count.withLock { $0 } == 0)
    }
}
