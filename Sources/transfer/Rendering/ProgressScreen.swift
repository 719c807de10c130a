import TransferCore
import TransferQueue

/// The data of the live screen: the batches' totals and the current jobs, never all jobs.
///
/// The type is a value that takes events and returns frames (`ProgressScreen+Frame.swift`); it neither reads a clock
/// nor writes.
struct ProgressScreen: Sendable {
    struct Batch: Sendable {
        var name: String
        /// The number of complete jobs from an earlier run, when this one began.
        var keptAtStart = 0
        var progress = BatchProgress()
        /// The time of `progress` in milliseconds since 1970, from which a countdown continues.
        var time: Int64
        /// The bytes of the complete files, for a percentage of bytes.
        var completeBytes: Int64 = 0
        var isFinished = false
        /// The time at which the wait for the network began.
        var offlineSince: Int64?
        /// The reason of the last failed attempt, for which jobs wait until their next one.
        var lastFailure: String?

        mutating func noteWait(_ time: Int64) {
            guard case .network = progress.waitReason else {
                offlineSince = nil
                return
            }
            offlineSince = offlineSince ?? time
        }

        var isWatched: Bool { WatchBatch.folder(of: name) != nil }
        var done: Int { progress.totals.kept + progress.totals.completed }
    }

    /// A job under way.
    struct ActiveJob: Sendable {
        var name: String
        var progress: JobProgress?
        /// Whether the certificates of its servers are not checked.
        var isInsecure = false

        var size: Int64 { max(progress?.total ?? 0, progress?.completed ?? 0) }
    }

    private struct Key: Hashable, Sendable {
        var batch: String
        var job: String
    }

    private(set) var batches: [Batch] = []
    /// The watched folders, a line each above the jobs.
    var board = WatchBoard()
    private var active: [Key: ActiveJob] = [:]

    var jobs: some Collection<ActiveJob> { active.values }

    mutating func receive(_ event: QueueEvent) {
        switch event.kind {
        case .batchStarted(let totals):
            update(event) { batch in
                batch.keptAtStart = totals.kept
                batch.progress = BatchProgress()
                batch.progress.totals = totals
                batch.isFinished = false
            }
        case .batchProgress(let progress):
            update(event) { batch in
                batch.progress = progress
                batch.noteWait(event.time)
            }
        case .batchWaiting(let reason, _):
            update(event) { batch in
                batch.progress.waitReason = reason
                batch.noteWait(event.time)
            }
        case .batchContinues:
            update(event) { batch in
                batch.progress.waitReason = nil
                batch.noteWait(event.time)
            }
        case .batchFinished(let totals, _):
            update(event) { batch in
                batch.progress = BatchProgress()
                batch.progress.totals = totals
                batch.isFinished = true
            }
            active = active.filter { $0.key.batch != event.batch }
        case .commanded, .source, .authorized, .congestion, .hook: break
        case .started(let job, let start):
            let progress =
                start.offset > 0
                ? JobProgress(completed: start.offset, total: nil, rate: 0, phase: .connecting) : nil
            active[Key(batch: event.batch, job: job)] = ActiveJob(
                name: job, progress: progress, isInsecure: start.isInsecure)
        case .progress(let job, let progress):
            active[Key(batch: event.batch, job: job), default: ActiveJob(name: job)].progress = progress
        case .restarted(let job, _): active[Key(batch: event.batch, job: job)]?.progress = nil
        case .retrying(let job, _, let error):
            active[Key(batch: event.batch, job: job)] = nil
            update(event, isProgress: false) { $0.lastFailure = error.message }
        case .waiting(let job, _), .skipped(let job, _), .cancelled(let job), .dropped(let job):
            active[Key(batch: event.batch, job: job)] = nil
        case .finished(let receipt), .kept(let receipt):
            active[Key(batch: event.batch, job: receipt.job)] = nil
            update(event, isProgress: false) { $0.completeBytes += receipt.bytes }
        case .failed(let failure): active[Key(batch: event.batch, job: failure.job)] = nil
        }
    }

    /// Forgets the current jobs before they are reported again: for transfers of other processes only the job's end is
    /// reported.
    mutating func forgetJobs() { active.removeAll() }

    private mutating func update(_ event: QueueEvent, isProgress: Bool = true, _ change: (inout Batch) -> Void) {
        // Batches are few: the files named on one command line.
        let index: Int
        if let known = batches.firstIndex(where: { $0.name == event.batch }) {
            index = known
        } else {
            batches.append(Batch(name: event.batch, time: event.time))
            index = batches.count - 1
        }
        if isProgress { batches[index].time = event.time }
        change(&batches[index])
    }

    /// The batches that have an end, and so a completed share.
    var counted: [Batch] { batches.filter { !$0.isWatched } }

    /// The completed share in percent.
    ///
    /// The value is a share of the bytes when all remaining jobs are under way with known sizes, otherwise a share of the
    /// jobs.
    var percent: Int {
        let batches = counted
        let active = active.filter { WatchBatch.folder(of: $0.key.batch) == nil }
        let jobs = batches.reduce(0) { $0 + $1.progress.totals.jobs }
        let done = batches.reduce(0) { $0 + $1.done }
        let remaining = batches.reduce(0) { $0 + $1.progress.totals.remaining }
        let failed = batches.contains { $0.progress.totals.failed + $0.progress.totals.skipped > 0 }
        if remaining > 0, remaining == active.count, !failed, active.values.allSatisfy({ $0.progress?.total != nil }) {
            let complete = batches.reduce(0) { $0 + $1.completeBytes }
            let there = active.values.reduce(complete) { $0 + min($1.size, $1.progress?.completed ?? 0) }
            return min(99, NumberText.percent(there, of: active.values.reduce(complete) { $0 + $1.size }))
        }
        return NumberText.percent(Int64(done), of: Int64(jobs))
    }
}
