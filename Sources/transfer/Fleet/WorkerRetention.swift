import TransferCore
import TransferEventLoop
import TransferFleet

/// The regular removal of batches that ended long ago, by a worker.
struct WorkerRetention: Sendable {
    let address: FleetAddress
    /// The time for which batches are kept after their end.
    let age: Duration
    let reporter: Reporter

    /// The time between two removals. Workers that started together do not remove together.
    private static var interval: Duration { .seconds(Int.random(in: 3000...4200)) }

    /// Removes old batches now and about once an hour, until the task is cancelled.
    func run() async {
        let pool = WorkerPool(name: "retention", threads: 1)
        defer { pool.stop() }
        var isFailing = false
        while !Task.isCancelled {
            do {
                let names = try await pool.run { [address, age] in
                    try FleetRetention(address).prune(olderThan: age)
                }
                if !names.isEmpty {
                    reporter.note(
                        .info,
                        "\(NumberText.count(names.count, "batch", plural: "batches")) that ended more than \(DurationText.words(age)) ago: removed"
                    )
                }
                isFailing = false
            } catch {
                if !isFailing, !Task.isCancelled {
                    let words = (error as? TransferError)?.message ?? "\(error)"
                    reporter.note(.warn, "old batches could not be removed: \(words)")
                }
                isFailing = true
            }
            // The sleep is necessary: the time between two removals is a time, and no event ends it.
            try? await Task.sleep(for: Self.interval)
        }
    }
}
