import TransferCore
import TransferEventLoop

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
    /// Of a watched folder's batch: what the counts include, by the stamps of transactions.
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
    private var samples: [(time: MonotonicTime, bytes: Int64, ended: Int)] = []

    init(id: Int64, name: String, directory: String, now: MonotonicTime) {
        self.id = id
        self.name = name
        self.directory = directory
        started = now
    }

    /// Notes how far it is; rates are over the last ten seconds.
    func sample(bytes: Int64, now: MonotonicTime) {
        samples.append((now, bytes, totals.jobs - remaining - keptUnasked))
        while samples.count > 2, now - samples[0].time > .seconds(10) { samples.removeFirst() }
    }

    /// Bytes a second.
    var rate: Int64 {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
        return max(0, Int64(Double(last.bytes - first.bytes) / (last.time - first.time).inSeconds))
    }

    /// By jobs: sizes are known only once their transfer has begun.
    var eta: Duration? {
        guard let first = samples.first, let last = samples.last, last.ended > first.ended, remaining > 0 else {
            return nil
        }
        let perSecond = Double(last.ended - first.ended) / (last.time - first.time).inSeconds
        let seconds = Double(remaining) / perSecond
        return seconds < 1e8 ? .milliseconds(Int64(seconds * 1000)) : nil
    }
}
