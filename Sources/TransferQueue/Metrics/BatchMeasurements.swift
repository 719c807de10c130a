import TransferJobs

/// The gauges of batches: the sums of their reports.
struct BatchMeasurements: Sendable {
    private struct Batch {
        var totals = BatchTotals()
        var active = 0
        var waiting = 0
        var waits: [String: Int] = [:]
        /// The label of its watched folder, and the number of files that wait.
        var pending: (folder: String, count: Int)?
    }

    private var batches: [String: Batch] = [:]
    private var shownReasons: Set<String> = []

    /// Takes a report.
    ///
    /// - Returns: The changes of metrics that follow.
    mutating func report(_ name: String, _ progress: BatchProgress) -> [Measurement] {
        var batch = batches[name] ?? Batch()
        (batch.totals, batch.active, batch.waiting) = (progress.totals, progress.active, progress.waiting)
        batch.waits = Self.waits(progress)
        batches[name] = batch
        shownReasons.formUnion(batch.waits.keys)
        return changes
    }

    /// Takes the number of files that wait in a batch.
    ///
    /// - Returns: The number of waiting files of all batches with this label.
    mutating func pending(of name: String, as folder: String, _ count: Int) -> Measurement {
        batches[name]?.pending = (folder, count)
        let sum = batches.values.reduce(0) { $0 + ($1.pending?.folder == folder ? $1.pending?.count ?? 0 : 0) }
        return Measurement(.folderPending, [folder], .set(Double(sum)))
    }

    private static func waits(_ progress: BatchProgress) -> [String: Int] {
        guard progress.waiting > 0 else { return [:] }
        guard let reason = progress.waitReason else { return ["other": progress.waiting] }
        let count = min(progress.waiting, progress.waitingForReason ?? progress.waiting)
        var waits = [reason.metricLabel: count]
        if count < progress.waiting { waits["other", default: 0] += progress.waiting - count }
        return waits
    }

    /// The values of all batches. Jobs under way are not included: each reports itself.
    var changes: [Measurement] {
        var jobs = ["queued": 0, "waiting": 0, "done": 0, "failed": 0, "skipped": 0, "cancelled": 0]
        var waits: [String: Int] = [:]
        for batch in batches.values {
            let totals = batch.totals
            jobs["waiting", default: 0] += batch.waiting
            jobs["queued", default: 0] += max(0, totals.remaining - batch.active - batch.waiting)
            jobs["done", default: 0] += totals.kept + totals.completed
            jobs["failed", default: 0] += totals.failed
            jobs["skipped", default: 0] += totals.skipped
            jobs["cancelled", default: 0] += totals.cancelled
            for (reason, count) in batch.waits { waits[reason, default: 0] += count }
        }
        return jobs.sorted { $0.key < $1.key }.map { Measurement(.jobs, [$0.key, ""], .set(Double($0.value))) }
            + shownReasons.sorted().map { Measurement(.jobsWaiting, [$0], .set(Double(waits[$0] ?? 0))) }
    }
}

/// Values of a label, of which only the first get their own name; all later ones become `other`.
struct BoundedLabels: Sendable {
    private let limit: Int
    private var known: Set<String> = []

    init(_ limit: Int) { self.limit = limit }

    mutating func label(_ value: String) -> String {
        if known.contains(value) { return value }
        guard known.count < limit else { return "other" }
        known.insert(value)
        return value
    }
}

extension WaitReason {
    var metricLabel: String {
        switch self {
        case .host: "host"
        case .retry: "retry"
        case .dependency: "dependency"
        case .slot: "slot"
        case .disk: "disk"
        case .schedule: "schedule"
        case .clock: "clock"
        case .openFiles: "openFiles"
        case .network: "network"
        case .paused: "paused"
        }
    }
}
