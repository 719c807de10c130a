import Synchronization
import Testing
import TransferCore
import TransferEventLoop
import TransferQueueFixtures

@testable import TransferJobs
@testable import TransferStore

@Suite(.timeLimit(.minutes(1))) struct JobPrefetcherTests {
    struct Refused: Error {}

    let pool = WorkerPool(name: "reader", threads: 1)

    private static func job(_ number: Int) -> JobSpec { Sample.download("http://h.example/x", to: "\(number)") }

    @Test(arguments: [0, 1, 127, 128, 129, 5000]) func bringsEveryJobInOrder(_ count: Int) throws {
        var taken: [String] = []
        let result = try JobPrefetcher(on: pool, directory: "/d") { add in
            for number in 0..<count { try add(Self.job(number), nil) }
            return true
        }.takeAll {
            taken.append($0.row.destination)
        }
        #expect(result && taken == (0..<count).map { "/d/\($0)" })
    }

    @Test func aReadersRefusalIsTheResult() throws {
        let result = try JobPrefetcher(on: pool, directory: "/d") { add in
            try add(Self.job(0), nil)
            return false
        }.takeAll { _ in
        }
        #expect(!result)
    }

    @Test func aReadersErrorComesAfterItsJobs() {
        var taken = 0
        #expect(throws: Refused.self) {
            _ = try JobPrefetcher(on: pool, directory: "/d") { add in
                for number in 0..<200 { try add(Self.job(number), nil) }
                throw Refused()
            }.takeAll { _ in
                taken += 1
            }
        }
        #expect(taken == 128, "what filled no group is dropped: nothing of the file is kept")
    }

    /// The reader of an endless file stops with the writer.
    @Test func aWritersErrorEndsTheReading() async throws {
        let read = Mutex(0)
        #expect(throws: Refused.self) {
            _ = try JobPrefetcher(on: pool, directory: "/d") { add in
                while true {
                    try add(Self.job(0), nil)
                    read.withLock { $0 += 1 }
                }
            }.takeAll { _ in
                throw Refused()
            }
        }
        #expect(read.withLock { $0 } < 6000)
        // The thread is available again.
        try await pool.run {}
    }

    /// A prefetcher for a queue that cannot be opened leaves no thread behind.
    @Test func anUnusedFileIsNotReadToItsEnd() async throws {
        let handover = JobPrefetcher(on: pool, directory: "/d") { add in
            while true { try add(Self.job(0), nil) }
        }
        handover.abandon()
        try await pool.run {}
        #expect(throws: (any Error).self) { _ = try handover.takeAll { _ in } }
    }

    @Test func aReadingBringsItsJobsAgain() throws {
        let calls = Mutex(0)
        let reading = JobReading(directory: "/d") { add in
            let call = calls.withLock {
                $0 += 1
                return $0
            }
            for number in 0..<300 { try add(Self.job(number), nil) }
            return call == 2
        }
        for round in 1...2 {
            var taken: [String] = []
            #expect(try reading.takeAll { taken.append($0.row.destination) } == (round == 2))
            #expect(taken == (0..<300).map { "/d/\($0)" })
        }
        #expect(calls.withLock { $0 } == 2)
    }
}
