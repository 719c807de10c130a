import Synchronization

/// Batches with jobs that may have arrived (`mayHaveBeenSent`). Such jobs are sent again only when the batch is run
/// again after that doubt was reported to a user.
///
/// A run that ended in order has reported its doubtful jobs. The database records that when the process ends in order:
/// the report of a process that was killed may never have been read.
package final class DoubtfulBatches: Sendable {
    private enum Stage { case found, reported }

    private let batches = Mutex<[Int64: Stage]>([:])

    package init() {}

    package func found(in batch: Int64) {
        batches.withLock { if $0[batch] == nil { $0[batch] = .found } }
    }

    package func runEnded(of batch: Int64) {
        batches.withLock { if $0[batch] != nil { $0[batch] = .reported } }
    }

    package func isReported(_ batch: Int64) -> Bool { batches.withLock { $0[batch] == .reported } }

    package var reported: [Int64] { batches.withLock { $0.filter { $0.value == .reported }.map(\.key) } }
}
