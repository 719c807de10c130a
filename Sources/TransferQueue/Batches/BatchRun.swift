import TransferCore
import TransferEventLoop
import TransferJobs
import TransferStore

/// The run of one batch: its counts, its rate, and what is left. The runner's own.
final class BatchRun {
    let id: Int64
    let name: String
    let directory: String
    let started: MonotonicTime
    var totals = BatchTotals()
    /// Jobs that could not be read: they are in no store.
    var unreadable = 0
    /// Jobs not ended: in the store or under way.
    var remaining = 0
    /// The last transaction that the counts include, by its stamp, where the batch is a watched folder's.
    var stamp = 0
    /// Whether what was complete before has been looked at.
    var isChecked = false
    var isFinished = false
    /// The run ended before the batch did.
    var wasStopped = false
    /// Whether nothing is known of it but what staging said.
    var isAsStaged = false
    /// Whether files are to bear a note of where they came from.
    var marksFiles = false
    /// Whether what nothing proves fails, whatever the jobs say of that.
    var isStrict = false
    /// Bytes of attempts that have ended; those under way are read off their meters.
    var settledBytes: Int64 = 0
    /// Jobs that turned out to be complete without a question to anybody: no measure of how fast the others go.
    var keptUnasked = 0
    /// Whether other processes work on it at the same time: what they have completed counts as kept.
    var isShared = false
    /// Jobs that have ended after a question to their servers.
    private var asked = 0
    private var pace = Pace()

    /// How fast it goes, and the outlook for the rest.
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

    /// Takes what the store counts when the run begins.
    ///
    /// - Parameters:
    ///   - goesOn: What ended badly in this run, before the batch was given more, stays as it is.
    ///   - asksAgain: Whether complete files aren't simply kept.
    /// - Returns: What is told of the batch.
    func begin(_ tally: BatchTally, goesOn: Bool, asksAgain: Bool) -> BatchTotals {
        let counts = tally.counts
        var totals = BatchTotals()
        totals.jobs = counts.values.reduce(0, +)
        if let watched = tally.watched {
            stamp = watched.stamp
            // Nobody goes through those that ended: the ledger has what became of their files.
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

    /// Takes what the store counts after another hand has changed jobs.
    ///
    /// - Returns: Whether that is out of date: more has been counted here since.
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
        // The store keeps the last of the complete jobs only.
        if tally.watched != nil { totals.jobs = remaining + totals.ended }
        return false
    }

    /// A watched folder gave it more jobs.
    ///
    /// - Returns: `false` where that has been counted: the store was asked after it.
    func count(_ changes: HistoryChanges) -> Bool {
        guard changes.stamp > stamp else { return false }
        stamp = changes.stamp
        remaining += changes.added + changes.revived
        totals.jobs += changes.added
        totals.failed -= changes.revived
        return true
    }

    /// Jobs are gone whose files have newer versions.
    func leave(_ count: Int) {
        remaining -= count
        totals.jobs -= count
    }

    /// A job has ended.
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

    /// Notes how far it is.
    ///
    /// - Parameters:
    ///   - moved: Bytes of all its transfers, also of those that have ended.
    ///   - underWay: The transfers that are under way.
    func sample(bytes moved: Int64, underWay: [BatchOutlook.Transfer] = [], now: MonotonicTime) {
        pace.bytes.note(moved, at: now)
        pace.ends.note(Int64(totals.jobs - remaining - keptUnasked), at: now)
        pace.outlook = BatchOutlook(
            rate: pace.bytes.perSecond, jobRate: pace.ends.perSecond, ended: asked, endedBytes: settledBytes,
            underWay: underWay,
            waiting: max(0, remaining - underWay.count))
    }

    /// Bytes a second.
    var rate: Int64 { pace.bytes.rate }

    /// An estimate of the time that is left.
    var eta: Duration? { pace.outlook.eta }
}
