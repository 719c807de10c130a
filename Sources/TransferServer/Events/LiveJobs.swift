import Synchronization
import TransferCore
import TransferEventLoop
import TransferQueue

/// The active jobs. Those of this process come from the queue's events, twice a second. In a queue that many machines
/// share, other workers report theirs.
final class LiveJobs: Sendable {
    struct Job: Sendable {
        let isUpload: Bool
        /// The requested URL; `nil` for another worker's job.
        var url: String?
        var progress: JobProgress
    }

    private struct Key: Hashable {
        let batch: String
        let job: String
    }

    private let jobs = Mutex<[Key: Job]>([:])
    private let others = Mutex<[Key: Job]>([:])
    /// The last progress of jobs of this process that are not active and not complete, such as paused and cancelled ones.
    private let last = Mutex<[Key: JobProgress]>([:])
    /// The maximum number of those; the progress of further ones is forgotten.
    private static let mostLast = 10_000
    private let traffic = Mutex(Traffic())

    func hear(_ event: QueueEvent) {
        switch event.kind {
        case .started(let job, let start):
            let progress = JobProgress(completed: start.offset, total: nil, rate: 0, phase: .connecting)
            let own = Job(isUpload: start.isUpload, url: start.url, progress: progress)
            jobs.withLock { $0[Key(batch: event.batch, job: job)] = own }
            last.withLock { _ = $0.removeValue(forKey: Key(batch: event.batch, job: job)) }
        case .progress(let job, let progress):
            let key = Key(batch: event.batch, job: job)
            let before = jobs.withLock { jobs -> Job? in
                defer { jobs[key]?.progress = progress }
                return jobs[key]
            }
            if let before { note(progress.completed - before.progress.completed, isUpload: before.isUpload) }
        case .retrying(let job, _, _), .waiting(let job, _), .cancelled(let job): set(aside: job, event.batch)
        case .skipped(let job, _), .dropped(let job): remove(job, event.batch)
        case .finished(let receipt):
            if let job = job(receipt.job, batch: event.batch), job.progress.worker == nil {
                note(receipt.bytes - job.progress.completed, isUpload: job.isUpload)
            }
            remove(receipt.job, event.batch)
        case .kept(let receipt): remove(receipt.job, event.batch)
        case .failed(let failure): set(aside: failure.job, event.batch)
        case .batchProgress(let progress):
            // No event reports the end of a paused job's transfer.
            if progress.active == 0 { setAsideAll(event.batch) }
        case .batchFinished: setAsideAll(event.batch)
        default: break
        }
    }

    /// Stores the active jobs of all workers. For its own jobs, this process has better data.
    func setOthers(_ reported: [JobUnderWay]) {
        let new = reported.map { job in
            (Key(batch: job.batch, job: job.job), Job(isUpload: job.isUpload, url: nil, progress: job.progress))
        }
        let own = jobs.withLock { Set($0.keys) }
        others.withLock { $0 = Dictionary(new.filter { !own.contains($0.0) }) { $1 } }
    }

    func job(_ job: String, batch: String) -> Job? {
        let key = Key(batch: batch, job: job)
        return jobs.withLock { $0[key] } ?? others.withLock { $0[key] }
    }

    /// Returns some of the jobs, with their names.
    func all(atMost count: Int) -> [(batch: String, job: String, live: Job)] {
        let own = jobs.withLock { Array($0.prefix(count)) }
        let rest = others.withLock { Array($0.prefix(count - own.count)) }
        return (own + rest).map { ($0.key.batch, $0.key.job, $0.value) }
    }

    // MARK: Rates

    /// The bytes that jobs of this process have moved, in total and at the last few seconds.
    private struct Traffic {
        var download: Int64 = 0
        var upload: Int64 = 0
        /// The totals at the end of each of the last seconds, the oldest first.
        var seconds: [(time: MonotonicTime, download: Int64, upload: Int64)] = []
    }

    /// The number of seconds of which the rate is the mean.
    private static let window = 4

    private func note(_ bytes: Int64, isUpload: Bool) {
        // A transfer that begins again has fewer bytes than before.
        guard bytes > 0 else { return }
        traffic.withLock { traffic in
            if isUpload { traffic.upload += bytes } else { traffic.download += bytes }
        }
    }

    /// Notes the end of a second, from which the rates are computed.
    func secondEnds(_ now: MonotonicTime = .now) {
        traffic.withLock { traffic in
            traffic.seconds.append((now, traffic.download, traffic.upload))
            if traffic.seconds.count > Self.window + 1 { traffic.seconds.removeFirst() }
        }
    }

    /// The total rates in bytes a second, and the number of jobs.
    ///
    /// All bytes of the last seconds count, also those of jobs that have ended. Other workers report the rates of their
    /// jobs.
    var rates: (download: Int64, upload: Int64, count: Int) {
        var (download, upload) = (Int64(0), Int64(0))
        let other = others.withLock { Array($0.values) }
        for job in other {
            if job.isUpload { upload += job.progress.rate } else { download += job.progress.rate }
        }
        let count = jobs.withLock { $0.count } + other.count
        return traffic.withLock { traffic in
            guard let first = traffic.seconds.first, let last = traffic.seconds.last else {
                return (download, upload, count)
            }
            let time = max((last.time - first.time).inSeconds, 1)
            download += Int64(Double(last.download - first.download) / time)
            upload += Int64(Double(last.upload - first.upload) / time)
            return (download, upload, count)
        }
    }

    /// Returns the last progress of a job that is neither active nor complete.
    func last(_ job: String, batch: String) -> JobProgress? {
        let key = Key(batch: batch, job: job)
        return last.withLock { $0[key] } ?? jobs.withLock { $0[key]?.progress }
    }

    private func set(aside job: String, _ batch: String) {
        let key = Key(batch: batch, job: job)
        guard let job = jobs.withLock({ $0.removeValue(forKey: key) }) else { return }
        keep([(key, job.progress)])
    }

    private func setAsideAll(_ batch: String) {
        let ended = jobs.withLock { jobs in
            let ended = jobs.filter { $0.key.batch == batch }
            jobs = jobs.filter { $0.key.batch != batch }
            return ended
        }
        keep(ended.map { ($0.key, $0.value.progress) })
    }

    private func keep(_ ended: [(Key, JobProgress)]) {
        last.withLock { last in
            while last.count + ended.count > Self.mostLast, let one = last.keys.first { last[one] = nil }
            for (key, progress) in ended { last[key] = progress }
        }
    }

    private func remove(_ job: String, _ batch: String) {
        let key = Key(batch: batch, job: job)
        _ = jobs.withLock { $0.removeValue(forKey: key) }
        _ = last.withLock { $0.removeValue(forKey: key) }
    }
}
