import TransferCore
import TransferEventLoop
import TransferQueue

/// The reported state of batches that other processes work on. It is pure: it takes the queue's answers, and returns
/// the events to report.
struct FleetView: Sendable {
    private(set) var names: [String] = []
    private let since: MonotonicTime
    /// The number of jobs that were complete when the watch began, by batch.
    private var kept: [String: Int] = [:]
    /// The bytes that were moved since then, by batch.
    private var bytes: [String: Int64] = [:]
    private var hasBegun = false
    private var finished: Set<String> = []
    /// The cursor of the last reported end.
    var cursor: Int64 = 0
    private(set) var hasFailures = false

    init(since: MonotonicTime) { self.since = since }

    /// Adds a batch.
    ///
    /// - Parameter kept: The number of its jobs that are complete already.
    mutating func add(_ name: String, kept: Int) {
        names.append(name)
        self.kept[name] = kept
    }

    var hasEnded: Bool { names.allSatisfy(finished.contains) }

    /// Begins the report.
    ///
    /// - Returns: The events of the first observation, once.
    mutating func begin(_ statuses: [BatchStatus]) -> [QueueEvent] {
        guard !hasBegun else { return [] }
        hasBegun = true
        return statuses.map { event($0, .batchStarted(totals($0))) }
    }

    /// Takes ends of jobs of the whole queue.
    ///
    /// - Returns: The ends of the batches in this view.
    mutating func take(_ ends: [QueueEvent]) -> [QueueEvent] {
        cursor = ends.last?.cursor ?? cursor
        let own = ends.filter { kept[$0.batch] != nil }
        for end in own {
            if case .finished(let receipt) = end.kind { bytes[end.batch, default: 0] += receipt.transferred }
        }
        return own
    }

    mutating func progress(_ statuses: [BatchStatus]) -> [QueueEvent] {
        // A batch that a user has forgotten never ends.
        finished.formUnion(Set(names).subtracting(statuses.map(\.name)))
        return statuses.filter { !finished.contains($0.name) }.map { status in
            let totals = totals(status)
            guard status.remaining == 0 else {
                var progress = BatchProgress()
                progress.totals = totals
                (progress.waiting, progress.rate, progress.eta) = (status.waiting, status.rate, status.eta)
                progress.active = status.active
                return event(status, .batchProgress(progress))
            }
            finished.insert(status.name)
            if totals.failed + totals.skipped + totals.cancelled > 0 { hasFailures = true }
            return event(status, .batchFinished(totals, duration: .now - since))
        }
    }

    /// Returns the current transfers of the batches.
    func transfers(_ jobs: [JobUnderWay]) -> [QueueEvent] {
        jobs.filter { kept[$0.batch] != nil && !finished.contains($0.batch) }.map { job in
            QueueEvent(
                time: WallClock.milliseconds, batch: job.batch, kind: .progress(job: job.job, job.progress))
        }
    }

    private func event(_ status: BatchStatus, _ kind: QueueEvent.Kind) -> QueueEvent {
        QueueEvent(time: WallClock.milliseconds, batch: status.name, kind: kind)
    }

    private func totals(_ status: BatchStatus) -> BatchTotals {
        var totals = BatchTotals()
        totals.jobs = status.total
        totals.kept = min(status.done, kept[status.name] ?? 0)
        totals.completed = status.done - totals.kept
        totals.failed = status.failed
        totals.skipped = status.skipped
        totals.cancelled = status.cancelled
        totals.bytes = bytes[status.name] ?? 0
        return totals
    }
}
