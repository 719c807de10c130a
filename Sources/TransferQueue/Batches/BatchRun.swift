import TransferCore
import TransferEventLoop
import TransferJobs
import TransferStore

/// The run of one batch: its counts, its rate, and the remaining jobs. Only the runner uses it.
final class BatchRun {
    let id: Int64
    let name: String
    let directory: String
    let started: MonotonicTime
    var totals = BatchTotals()
    /// The number of jobs that could not be read; they are in no store.
    var unreadable = 0
    /// The number of jobs that have not ended: in the store or under way.
    var remaining = 0
    /// The stamp of the last transaction that the counts include, if the batch belongs to a watched folder.
    var stamp = 0
    /// Whether the jobs that were complete before have been checked.
    var isChecked = false
    var isFinished = false
    /// Whether the run ended before the batch did.
    var wasStopped = false
    /// Whether only the staging's numbers are known of the batch.
    var isAsStaged = false
    /// Whether files get an attribute with their source.
    var marksFiles = false
    /// Whether jobs without a proof of their content fail, whatever the jobs themselves allow.
    var isStrict = false
    /// The bytes of attempts that have ended; those under way are read from their meters.
    var settledBytes: Int64 = 0
    /// The number of jobs found complete without a request. They say nothing about the pace of other jobs.
    var keptUnasked = 0
    /// Whether other processes work on the batch at the same time; the jobs that they complete count as kept.
    var isShared = false
    /// The number of jobs that have ended after a request to their servers.
    private var asked = 0
    private var pace = Pace()

    /// The rate of the batch, and the outlook for the rest.
    private struct Pace {
        var bytes = RateWindow()
        var ends = RateWindow()
        var outlook = BatchOutlook()
    }

    init(id: Int64, name: String, directory: String, now: MonotonicTime) {
        self.id = id
        self.name = name
        self.directory = directory
        started = now
        pace.bytes.note(0, at: now)
    }

    init(_ batch: HeldBatch, _ options: RunOptions, now: MonotonicTime) {
        (id, name, directory) = (batch.id, batch.name, batch.directory)
        started = now
        pace.bytes.note(0, at: now)
        marksFiles = options.marksFiles
        isStrict = options.strict
    }

    // MARK: Counts

    /// Takes the store's counts when the run begins.
    ///
    /// - Parameters:
    ///   - goesOn: Whether jobs that ended badly in this run, before the batch got more, stay ended.
    ///   - asksAgain: Whether complete files are checked again instead of simply kept.
    /// - Returns: The totals to report.
    func begin(_ tally: BatchTally, goesOn: Bool, asksAgain: Bool) -> BatchTotals {
        let counts = tally.counts
        var totals = BatchTotals()
        totals.jobs = counts.values.reduce(0, +)
        if let watched = tally.watched {
            stamp = watched.stamp
            // No process visits the ended jobs of a watched folder: the upload history records their outcome.
            totals.kept = watched.counts[.done] ?? 0
            totals.failed = watched.counts[.failed] ?? 0
            totals.cancelled = watched.counts[.cancelled] ?? 0
        }
        if goesOn {
            totals.failed = counts[.failed] ?? 0
            totals.skipped = counts[.skipped] ?? 0
            totals.cancelled = counts[.cancelled] ?? 0
        }
        if isShared { totals.kept = counts[.done] ?? 0 }
        self.totals = totals
        remaining = totals.jobs - counts.ended
        totals.kept = asksAgain ? 0 : counts[.done] ?? 0
        return totals
    }

    /// Takes the store's counts after another party has changed jobs.
    ///
    /// - Returns: Whether the counts are stale because more has been counted here since.
    func refresh(_ tally: BatchTally) -> Bool {
        let counts = tally.counts
        if let stamp = tally.watched?.stamp {
            guard stamp > self.stamp else { return true }
            self.stamp = stamp
        }
        totals.jobs = counts.values.reduce(0, +) + unreadable
        totals.failed = (counts[.failed] ?? 0) + unreadable
        totals.skipped = counts[.skipped] ?? 0
        totals.cancelled = counts[.cancelled] ?? 0
        if isShared { totals.kept = max(0, (counts[.done] ?? 0) - totals.completed) }
        remaining = totals.jobs - unreadable - counts.ended
        // The store keeps only the latest of the complete jobs.
        if tally.watched != nil { totals.jobs = remaining + totals.ended }
        return false
    }

    /// Counts the jobs that a watched folder added.
    ///
    /// - Returns: `false` if the last counts from the store include them already.
    func count(_ changes: HistoryChanges) -> Bool {
        guard changes.stamp > stamp else { return false }
        stamp = changes.stamp
        remaining += changes.added + changes.revived
        totals.jobs += changes.added
        totals.failed -= changes.revived
        return true
    }

    /// Removes jobs from the counts because their files have newer versions.
    func leave(_ count: Int) {
        remaining -= count
        totals.jobs -= count
    }

    /// Counts a job that has ended.
    func count(_ outcome: JobEnd.Outcome) {
        remaining -= 1
        switch outcome {
        case .done:
            totals.completed += 1
            asked += 1
        case .kept(let receipt, _):
            totals.kept += 1
            if receipt.isConfirmed { asked += 1 } else { keptUnasked += 1 }
        case .failed:
            totals.failed += 1
            asked += 1
        case .cancelled: totals.cancelled += 1
        case .dropped: totals.jobs -= 1
        }
    }

    // MARK: Rates

    /// Notes the current position.
    ///
    /// - Parameters:
    ///   - moved: The bytes of all its transfers, including the ended ones.
    ///   - underWay: The transfers that are under way.
    func sample(bytes moved: Int64, underWay: [BatchOutlook.Transfer] = [], now: MonotonicTime) {
        pace.bytes.note(moved, at: now)
        pace.ends.note(Int64(totals.jobs - remaining - keptUnasked), at: now)
        pace.outlook = BatchOutlook(
            rate: pace.bytes.perSecond, jobRate: pace.ends.perSecond, ended: asked, endedBytes: settledBytes,
            underWay: underWay,
            waiting: max(0, remaining - underWay.count))
    }

    /// The rate, in bytes per second.
    var rate: Int64 { pace.bytes.rate }

    /// The estimated remaining time.
    var eta: Duration? { pace.outlook.eta }
}
