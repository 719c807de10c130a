import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// A queue that runs many cells at a time. Each cell has servers, batches and a folder of its own.
final class MatrixBench: Sendable {
    struct End: Sendable {
        /// The failure of the job; `nil` for a job that is complete.
        var failure: JobFailure?
        var isKept = false
    }

    /// The observations about one batch.
    struct Seen: Sendable {
        var ends: [End] = []
        var restarts = 0
        var retries = 0
    }

    let folder: TemporaryFolder
    let queue: JobQueue
    let ssh = MatrixSSH()
    private let seen = AwaitedState([String: Seen]())

    /// The number of times that an attempt is repeated; `mostTime` bounds the waits that a server asks for.
    static let limit = 3
    /// The number of waits on a server's request that fit into `retry.maxWait` with our own backoff: 10, 20, 40 and 80
    /// ms, then 100.
    static let mostWaits = 23
    static let mostTime = Duration.seconds(20)

    init(_ folder: TemporaryFolder, _ queue: JobQueue) {
        self.folder = folder
        self.queue = queue
        queue.observe { [seen] event in
            let end: End?
            switch event.kind {
            case .finished: end = End()
            case .kept: end = End(isKept: true)
            case .failed(let failure): end = End(failure: failure)
            case .retrying:
                seen.change { $0[event.batch, default: Seen()].retries += 1 }
                return
            case .restarted:
                seen.change { $0[event.batch, default: Seen()].restarts += 1 }
                return
            default: return
            }
            guard let end else { return }
            seen.change { $0[event.batch, default: Seen()].ends.append(end) }
        }
    }

    /// Runs a job to its end, as a further run of its batch.
    ///
    /// - Throws: ``DidNotEnd``
    func end(_ job: JobSpec, batch: String) async throws -> End {
        let before = seen.state[batch]?.ends.count ?? 0
        let staged = try await queue.stage([job], name: batch)
        await queue.begin(staged)
        return try await within(Self.mostTime) { [seen] in
            await seen.wait { ($0[batch]?.ends.count ?? 0) > before }
            guard let ends = seen.state[batch]?.ends, ends.count > before else { throw CancellationError() }
            return ends[before]
        }
    }

    /// Returns rules that make a cell short: delays of milliseconds, and few of them.
    static func settings(stalls: Bool = false) -> JobSettings {
        var settings = Sample.retries(limit)
        settings.retry.jitter = false
        // Waits that a server asks for grow up to this limit, and sum up to two seconds.
        settings.retry.maxDelay = .milliseconds(100)
        settings.retry.maxWait = .seconds(2)
        // A stall is silence until the timeout. The other faults never reach the timeout, however busy the machine is.
        settings.timeout = stalls ? .seconds(1) : .seconds(30)
        return settings
    }

    /// Runs all cells, several at a time, and returns their outcomes in order.
    static func run(_ cells: [MatrixCell], width: Int = 12) async throws -> [MatrixOutcome] {
        let folder = try TemporaryFolder("matrix")
        let limits = BatchLimits(concurrency: 200)
        return try await withQueue(folder, limits: limits, configure: { $0.progressInterval = nil }) { queue in
            let bench = MatrixBench(folder, queue)
            let service = Task { try await queue.run() }
            let outcomes = await withTaskGroup(of: (Int, MatrixOutcome).self) { group in
                var outcomes = [MatrixOutcome](repeating: MatrixOutcome(text: ""), count: cells.count)
                var next = 0
                func add() {
                    guard next < cells.count else { return }
                    let (number, cell) = (next, cells[next])
                    next += 1
                    group.addTask { (number, await outcome(of: cell, bench)) }
                }
                for _ in 0..<width { add() }
                while let (number, outcome) = await group.next() {
                    outcomes[number] = outcome
                    add()
                }
                return outcomes
            }
            service.cancel()
            try await service.value
            return outcomes
        }
    }

    private static func outcome(of cell: MatrixCell, _ bench: MatrixBench) async -> MatrixOutcome {
        do {
            return try await cell.run(bench)
        } catch {
            return MatrixOutcome(text: "did not end", faults: ["\(error)"])
        }
    }
}
