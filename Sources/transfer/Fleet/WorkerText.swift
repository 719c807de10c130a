import TransferCore
import TransferQueue

/// The sentences of a worker about its end.
struct WorkerText {
    /// The time for the transfers under way.
    let limit: Duration

    /// - Parameter isAway: Whether the queue's database is away, so that no end can be recorded.
    func begun(underWay count: Int, isAway: Bool = false) -> String {
        let transfers = NumberText.count(count, "transfer")
        if isAway {
            return count == 0
                ? "ending: no transfer is under way, and the queue's database is away"
                : "ending: the queue's database is away, so \(transfers) under way will be checkpointed within seconds"
        }
        if count == 0 { return "ending: no new jobs, and no transfer is under way" }
        if limit <= .zero {
            return "ending: no new jobs, and \(transfers) under way will be checkpointed and given back"
        }
        return
            "ending: no new jobs, and \(transfers) under way may end within \(DurationText.words(limit)); a second signal ends the worker at once"
    }

    /// Returns the sentence after the drain.
    ///
    /// - Returns: `nil` where no transfer was under way.
    func ended(_ report: DrainReport, isAway: Bool = false) -> String? {
        guard report.underWay > 0 else { return nil }
        if isAway {
            return
                "the ends of \(NumberText.count(report.underWay, "transfer")) could not be recorded, as the queue's database is away: other workers continue the jobs when this worker's lease is over"
        }
        guard report.left > 0 else { return "all transfers under way have ended" }
        return
            "\(NumberText.grouped(report.left)) of \(NumberText.count(report.underWay, "transfer")) did not end in time: checkpointed and given back"
    }
}
