import Dispatch
import Foundation
import Synchronization
import Testing
import TransferKit
import TransferTestServer
import TransferTestSupport

/// A monitor as the documents write it, in a file that imports TransferKit alone.
@Suite("The name of the metrics", .timeLimit(.minutes(1)))
struct MetricsNameTests {
    private final class Durations: EventMonitor {
        let queue = DispatchQueue(label: "durations")
        let ofTasks = Mutex(0)
        let transactions = Mutex<[URLSessionTaskTransactionMetrics]>([])

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) { ofTasks.withLock { $0 += 1 } }

        func request(_ request: TransferKit.Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
            transactions.withLock { $0 += metrics.transactionMetrics }
        }
    }

    @Test func aMonitorThatIsWrittenWithFoundationsNameIsCalled() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let monitor = Durations()
            let session = Session(eventMonitors: [monitor])
            let response = await session.request(server.url("/x")).serializingString().response
            let metrics: URLSessionTaskMetrics? = response.metrics
            #expect(metrics?.transactionMetrics.count == 1)
            await withCheckedContinuation { continuation in monitor.queue.async { continuation.resume() } }
            #expect(monitor.ofTasks.withLock { $0 } == 1)
            #expect(monitor.transactions.withLock { $0.count } == 1)
        }
    }
}
