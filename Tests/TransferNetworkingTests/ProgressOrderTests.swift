import Dispatch
import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("The order of progress", .timeLimit(.minutes(1)))
struct ProgressOrderTests {
    /// Many steps without a network, which a concurrent queue could reorder.
    @Test func aConcurrentQueueReceivesProgressInOrder() async {
        let calls = Calls<Int64>()
        let queue = DispatchQueue(label: "many", attributes: .concurrent)
        let observer = ProgressObservers.Observer(queue: queue) { calls.add($0.completedUnitCount) }
        for step in Int64(1)...1000 { observer.tell(ProgressCount(completed: step, total: 1000)) }
        _ = await calls.first { $0 == 1000 }
        #expect(calls.all == Array(1...1000))
    }

    @Test func progressIsReportedOnTheGivenQueue() async {
        let (queue, key) = (DispatchQueue(label: "named"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        let places = Calls<Bool>()
        let observer = ProgressObservers.Observer(queue: queue) { _ in
            places.add(DispatchQueue.getSpecific(key: key) == true)
        }
        observer.tell(ProgressCount(completed: 1, total: 1))
        let isThere = await places.first()
        #expect(isThere == true)
    }

    @Test func aDownloadOnAConcurrentQueueGrowsAndEndsAtOne() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 3, count: 3_000_000))
            let queue = DispatchQueue(label: "many", attributes: .concurrent)
            let calls = Calls<Double>()
            let request = makeSession().request(server.url("/x"))
                .downloadProgress(queue: queue) { calls.add($0.fractionCompleted) }
            _ = await request.serializingData().response
            _ = await calls.first { $0 == 1 }
            #expect(calls.all == calls.all.sorted())
        }
    }

    /// The length is not declared, so only the end is known.
    @Test func anUploadOfAStreamEndsAtOne() async throws {
        try await withTestServer { server async throws in
            server.acceptUploads("/up")
            let calls = Calls<Double>()
            let request = makeSession().upload(InputStream(data: Data(count: 300_000)), to: server.url("/up"))
                .uploadProgress(queue: testQueue) { calls.add($0.fractionCompleted) }
            _ = await request.serializingData().response
            let last = await calls.first { $0 == 1 }
            #expect(last == 1)
            #expect(request.uploadProgress.fractionCompleted == 1)
        }
    }
}
