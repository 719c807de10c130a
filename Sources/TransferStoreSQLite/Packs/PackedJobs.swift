import Synchronization
package import TransferStore

/// Jobs that this process has packed, until they have rows.
package final class PackedJobs: Sendable {
    private struct Batch {
        /// The number of the first job.
        let first: Int64
        var jobs: [StagedJob?]

        mutating func take(_ id: Int64) -> StagedJob? {
            guard id >= first, id - first < jobs.count else { return nil }
            return exchange(&jobs[Int(id - first)], with: nil)
        }
    }

    private let batches = Mutex<[Int64: Batch]>([:])

    /// - Parameter first: The number of the first job; the others follow.
    package func keep(_ jobs: [StagedJob], first: Int64, of batch: Int64) {
        // The array is converted one by one: a cast as a whole looks up the types of each element at run time.
        let jobs: [StagedJob?] = jobs.map { $0 }
        batches.withLock { $0[batch] = Batch(first: first, jobs: jobs) }
    }

    /// Returns a job with a number, once.
    package func take(_ id: Int64, of batch: Int64) -> StagedJob? { batches.withLock { $0[batch]?.take(id) ?? nil } }

    package func forget(_ batch: Int64) { batches.withLock { $0[batch] = nil } }

    package func forgetAll() { batches.withLock { $0 = [:] } }
}
