import TransferCore
import TransferFleet
import TransferQueue

/// The regular removal of batches that ended long ago, by a worker.
struct WorkerRetention: Sendable {
    let address: FleetAddress
    /// The time for which batches are kept after their end.
    let age: Duration
    let reporter: Reporter

    /// Removes old batches now and about once an hour, until the task is cancelled.
    func run() async {
        await RetentionSchedule(age: age) { [address] age in
            try FleetRetention(address).prune(olderThan: age)
        } report: { [reporter] words, isFailure in
            reporter.note(isFailure ? .warn : .info, words)
        }.run()
    }
}
