import TransferCore
import TransferEventLoop

/// The regular removal of batches that ended long ago, by a process that runs for long.
package struct RetentionSchedule: Sendable {
    /// The time for which batches are kept after their end.
    private let age: Duration
    private let remove: @Sendable (Duration) throws -> [String]
    private let report: @Sendable (_ words: String, _ isFailure: Bool) -> Void

    /// The time between two removals. Processes that started together do not remove together.
    private static var interval: Duration { .seconds(Int.random(in: 3000...4200)) }

    /// Creates a schedule.
    ///
    /// - Parameters:
    ///   - age: The time for which batches are kept after their end.
    ///   - remove: A closure that removes older batches, and returns their names. It may block.
    ///   - report: A closure that gets each removal in words, and the first failure of several.
    package init(
        age: Duration, remove: @escaping @Sendable (Duration) throws -> [String],
        report: @escaping @Sendable (_ words: String, _ isFailure: Bool) -> Void
    ) {
        self.age = age
        self.remove = remove
        self.report = report
    }

    /// Removes old batches now and about once an hour, until the task is cancelled.
    package func run() async {
        let pool = WorkerPool(name: "retention", threads: 1)
        defer { pool.stop() }
        var isFailing = false
        while !Task.isCancelled {
            isFailing = await removeOnce(on: pool, wasFailing: isFailing)
            // The sleep is necessary: the time between two removals is a time, and no event ends it.
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// - Returns: Whether the removal failed.
    func removeOnce(on pool: WorkerPool, wasFailing: Bool) async -> Bool {
        do {
            let names = try await pool.run { [age, remove] in try remove(age) }
            if !names.isEmpty {
                let count = CountText.words(names.count, "batch", plural: "batches")
                report("\(count) that ended more than \(DurationText.words(age)) ago: removed", false)
            }
            return false
        } catch {
            if !wasFailing, !Task.isCancelled {
                let words = (error as? TransferError)?.message ?? "\(error)"
                report("old batches could not be removed: \(words)", true)
            }
            return true
        }
    }
}
