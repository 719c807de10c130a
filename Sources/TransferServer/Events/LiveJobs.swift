import Synchronization
import TransferQueue

/// Jobs under way, as the queue's events tell of them: what the database doesn't know, as it changes twice a second.
final class LiveJobs: Sendable {
    struct Job: Sendable {
        var start: JobStart
        var progress: JobProgress
    }

    private struct Key: Hashable {
        let batch: String
        let job: String
    }

    private let jobs = Mutex<[Key: Job]>([:])

    func hear(_ event: QueueEvent) {
        switch event.kind {
        case .started(let job, let start):
            let progress = JobProgress(completed: start.offset, total: nil, rate: 0, phase: .connecting)
            jobs.withLock { $0[Key(batch: event.batch, job: job)] = Job(start: start, progress: progress) }
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

    func job(_ job: String, batch: String) -> Job? { jobs.withLock { $0[Key(batch: batch, job: job)] } }

    /// Some of them, with their names.
    func all(atMost count: Int) -> [(batch: String, job: String, live: Job)] {
        jobs.withLock { jobs in jobs.prefix(count).map { ($0.key.batch, $0.key.job, $0.value) } }
    }

    /// Bytes a second, and how many there are.
    var rates: (download: Int64, upload: Int64, count: Int) {
        jobs.withLock { jobs in
            var (download, upload) = (Int64(0), Int64(0))
            for job in jobs.values {
                if job.start.isUpload { upload += job.progress.rate } else { download += job.progress.rate }
            }
            return (download, upload, jobs.count)
        }
    }

    private func remove(_ job: String, _ batch: String) {
        _ = jobs.withLock { $0.removeValue(forKey: Key(batch: batch, job: job)) }
    }

    private func removeAll(_ batch: String) {
        jobs.withLock { jobs in jobs = jobs.filter { $0.key.batch != batch } }
    }
}
