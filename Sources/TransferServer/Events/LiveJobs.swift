import Synchronization
import TransferQueue

/// Jobs under way: those of this process as the queue's events tell of them, twice a second, and those of other workers of a
/// queue that many machines share, as they tell each other.
final class LiveJobs: Sendable {
    struct Job: Sendable {
        let isUpload: Bool
        /// The URL that is asked; `nil` of another worker's job.
        var url: String?
        var progress: JobProgress
    }

    private struct Key: Hashable {
        let batch: String
        let job: String
    }

    private let jobs = Mutex<[Key: Job]>([:])
    private let others = Mutex<[Key: Job]>([:])

    func hear(_ event: QueueEvent) {
        switch event.kind {
        case .started(let job, let start):
            let progress = JobProgress(completed: start.offset, total: nil, rate: 0, phase: .connecting)
            let own = Job(isUpload: start.isUpload, url: start.url, progress: progress)
            jobs.withLock { $0[Key(batch: event.batch, job: job)] = own }
        case .progress(let job, let progress):
            jobs.withLock { $0[Key(batch: event.batch, job: job)]?.progress = progress }
        case .retrying(let job, _, _), .waiting(let job, _), .skipped(let job, _), .cancelled(let job),
            .dropped(let job):
            remove(job, event.batch)
        case .finished(let receipt), .kept(let receipt): remove(receipt.job, event.batch)
        case .failed(let failure): remove(failure.job, event.batch)
        case .batchProgress(let progress):
            // A job that was paused tells no end.
            if progress.active == 0 { removeAll(event.batch) }
        case .batchFinished: removeAll(event.batch)
        default: break
        }
    }

    /// Takes the jobs that all workers have under way. Of its own this process knows more.
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

    /// Some of them, with their names.
    func all(atMost count: Int) -> [(batch: String, job: String, live: Job)] {
        let own = jobs.withLock { Array($0.prefix(count)) }
        let rest = others.withLock { Array($0.prefix(count - own.count)) }
        return (own + rest).map { ($0.key.batch, $0.key.job, $0.value) }
    }

    /// Bytes a second, and how many there are.
    var rates: (download: Int64, upload: Int64, count: Int) {
        var (download, upload) = (Int64(0), Int64(0))
        let all = jobs.withLock { Array($0.values) } + others.withLock { Array($0.values) }
        for job in all {
            if job.isUpload { upload += job.progress.rate } else { download += job.progress.rate }
        }
        return (download, upload, all.count)
    }

    private func remove(_ job: String, _ batch: String) {
        _ = jobs.withLock { $0.removeValue(forKey: Key(batch: batch, job: job)) }
    }

    private func removeAll(_ batch: String) {
        jobs.withLock { jobs in jobs = jobs.filter { $0.key.batch != batch } }
    }
}
