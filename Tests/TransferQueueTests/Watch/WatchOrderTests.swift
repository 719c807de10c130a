import Foundation
import Glibc
import Synchronization
import Testing
import TransferFolders
import TransferQueue
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferJobs

/// The order of uploads.
@Suite(.timeLimit(.minutes(1))) struct WatchOrderTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("watched") }

    /// The number exceeds that of one claim; while the first upload is under way, one more file comes.
    @Test(arguments: WatchOrder.allCases) func aNewFileTakesItsPlaceAmongAllWaitingFiles(_ order: WatchOrder)
        async throws
    {
        let count = 400
        try await withTestServer { server in
            let latch = Latch()
            let arrivals = Mutex<[String]>([])
            let inbox = Inbox(server) { path in
                arrivals.withLock { $0.append(path) }
                latch.pass()
            }
            let spec = try folder.watchSpec(server) { $0.order = order }
            // The order of creation differs from that of the names.
            for number in 0..<count {
                let place = number * 7 % count
                try folder.write(String(repeating: "x", count: 100 + place), to: "in/f\(number)")
                try folder.touch("in/f\(number)", seconds: 1_000_000 + place)
            }
            try await withWatch(folder, spec, limits: BatchLimits(concurrency: 1, perHost: 1)) { queue, watched, log in
                await log.wait { $0.lastBacklog?.waiting == count }
                try folder.write("xx", to: "in/late")
                await log.wait { $0.lastBacklog?.waiting == count + 1 }
                // The runner knows all of the files.
                try await folder.history("count(*)", "job IN (SELECT id FROM job WHERE state = 0)", is: "0")
                // The runner receives the store's events in their order: the claim before this command.
                try await queue.ask(.resume, batch: watched.batch)
                latch.open()
                await log.wait(forConfirmations: count + 1)
            }
            let rest = arrivals.withLock { Array($0.dropFirst()) }
            let places = rest.map { path in
                Int(path.dropFirst()).map { $0 * 7 % count } ?? (order == .smallest ? -1 : count)
            }
            #expect(places == (order == .newest ? places.sorted(by: >) : places.sorted()))
            #expect(Set(inbox.puts.keys).count == count + 1)
        }
    }
}
