import Synchronization

/// Batches with jobs that may have arrived (`mayHaveBeenSent`): they aren't sent again before somebody has been told, and
/// are when the batch is run again after that.
///
/// A run has told when it ended by itself. The database learns of that when the process ends in order: nobody may have
/// read what one had to say that was killed.
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
