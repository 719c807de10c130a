import TransferCore
import TransferQueue

/// The sentences of a worker about its end.
struct WorkerText {
    /// The time for the transfers under way.
    let limit: Duration

    func begun(underWay count: Int) -> String {
        let transfers = NumberText.count(count, "transfer")
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
    func ended(_ report: DrainReport) -> String? {
        guard report.underWay > 0 else { return nil }
        guard report.left > 0 else { return "all transfers under way have ended" }
        return
            "\(NumberText.grouped(report.left)) of \(NumberText.count(report.underWay, "transfer")) did not end in time: checkpointed and given back"
    }
}
