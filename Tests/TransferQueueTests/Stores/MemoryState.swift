import TransferCore
import TransferEngine
import TransferEventLoop

@testable import TransferJobs
@testable import TransferStore

/// The state of a queue, as values.
struct MemoryState {
    struct Batch {
        let name: String
        var directory: String
        var source: String?
        var owner: Int64?
        /// The number of stagings.
        var generation = 0
        var onFinish: BatchHook?
        var reportedEnd: Int64 = 0
    }

    struct Job {
        let id: Int64
        let batch: Int64
        let identity: String
        var generation: Int
        var state = JobState.queued
        var staged: StagedJob
        /// The origin of the current attempt.
        var origin: String
        var owner: Int64?
        var isSending = false
        var wasInterrupted = false
        var recheck = DestinationRule.Recheck.no
        var tries = Tries()
        var resume: ResumeData?
        var upload: UploadRecord?
        var claimed: Int64?
        /// The numbers of the jobs that it needs; some of them may be complete already.
        var needs: [Int64] = []
        var due: MonotonicTime?
        var end: End?
        /// The record of the job's file, which is kept when the job is made ready again.
        var receipt: (JobReceipt, FileStamp?)?

        var hasSecrets: Bool { staged.secrets != nil }
        var fingerprint: Int64 { staged.row.fingerprint }
        var lane: Lane { Lane(batch: batch, origin: origin, network: staged.row.network) }
    }

    /// The part of a job that a fresh start resets.
    struct Tries {
        var attempts = 0
        var askedWait = Duration.zero
        var mirror = 0
        var spentMirrors: UInt64 = 0
    }

    struct End {
        let cursor: Int64
        let time: Int64
        var failure: (error: TransferError, attempts: Int, host: String?)?
        var need: String?
    }

    var batches: [Int64: Batch] = [:]
    var jobs: [Int64: Job] = [:]
    var leases: [Int64: Lease] = [:]
    var commands: [Int64: [QueueCommand]] = [:]
    var hookCalls: [MemoryHookCall] = []
    /// The submissions by their keys; times are milliseconds since 1970.
    var submissions: [String: (answer: AnsweredSubmission, time: Int64)] = [:]
    private(set) var lastCursor: Int64 = 0
    private var lastNumber: Int64 = 0
    /// The highest number of any batch so far: the number of a forgotten batch is not used again.
    var lastBatch: Int64 = 0
    private var lastGeneration: Int64 = 0

    mutating func number() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    private mutating func nextEnd() -> End {
        lastCursor += 1
        return End(cursor: lastCursor, time: WallClock.milliseconds)
    }

    func jobs(of batch: Int64) -> [Job] { jobs.values.filter { $0.batch == batch }.sorted { $0.id < $1.id } }
    func batch(named name: String) -> Int64? { batches.first { $0.value.name == name }?.key }
    func job(_ identity: String, in name: String) -> Job? {
        jobs.values.first { $0.identity == identity && batches[$0.batch]?.name == name }
    }

    // MARK: Leases

    mutating func register(now: MonotonicTime) -> Int64 {
        reclaim(now: now)
        lastGeneration += 1
        leases[lastGeneration] = Lease(generation: lastGeneration, until: now + Lease.term)
        return lastGeneration
    }

    mutating func reclaim(now: MonotonicTime) {
        for lease in leases.values where lease.until <= now { take(back: lease.generation, wasInterrupted: true) }
    }

    mutating func retire(_ owner: Int64) { take(back: owner, wasInterrupted: false) }

    private mutating func take(back owner: Int64, wasInterrupted: Bool) {
        for job in jobs.values.sorted(by: { $0.id < $1.id }) where job.owner == owner && job.state == .claimed {
            jobs[job.id]?.owner = nil
            if wasInterrupted || job.isSending { jobs[job.id]?.wasInterrupted = true }
            if job.isSending {
                fail(job.id, UploadRules.interrupted, attempts: job.tries.attempts, host: nil)
                _ = skipDependents(of: job.id)
            } else {
                jobs[job.id]?.state = .queued
            }
        }
        for id in batches.keys where batches[id]?.owner == owner { batches[id]?.owner = nil }
        leases[owner] = nil
        commands[owner] = nil
    }

    // MARK: Ends

    private mutating func end(_ id: Int64, _ state: JobState, _ change: (inout Job, inout End) -> Void) -> Int64 {
        var end = nextEnd()
        guard var job = jobs[id] else { return end.cursor }
        job.state = state
        (job.owner, job.isSending) = (nil, false)
        change(&job, &end)
        job.end = end
        jobs[id] = job
        addHookCall(of: job)
        return end.cursor
    }

    @discardableResult
    private mutating func fail(_ id: Int64, _ error: TransferError, attempts: Int, host: String?) -> Int64 {
        end(id, .failed) { job, end in
            end.failure = (error, attempts, host)
            if job.upload?.canGoOn != true, error.code != .sourceChanged { job.upload = nil }
        }
    }

    mutating func cancel(_ id: Int64, resume: ResumeData? = nil) -> Int64 {
        end(id, .cancelled) { job, _ in
            job.resume = resume ?? job.resume
            job.due = nil
            if job.upload?.canGoOn != true { job.upload = nil }
        }
    }

    mutating func record(_ ends: [JobEnd], _ steps: [JobStep]) -> RecordedGroup {
        var group = RecordedGroup()
        for end in ends { group.cursors.append(record(end)) }
        group.hooked = Set(ends.filter { jobs[$0.id]?.staged.spec.tellsHook ?? false }.map(\.batch))
        for step in steps { record(step) }
        for end in ends {
            switch end.outcome {
            case .done, .kept:
                for (lane, count) in unblock() { group.unblocked[lane, default: 0] += count }
            case .failed, .cancelled, .dropped: group.skipped += skipDependents(of: end.id)
            }
        }
        group.hooked.formUnion(group.skipped.filter(\.tellsHook).map(\.batch))
        return group
    }

    private mutating func record(_ recorded: JobEnd) -> Int64 {
        switch recorded.outcome {
        case .done(let receipt, let facts), .kept(let receipt, let facts):
            return end(recorded.id, .done) { job, _ in
                (job.resume, job.upload, job.wasInterrupted, job.recheck) = (nil, nil, false, .no)
                job.receipt = (receipt, facts)
                job.tries.attempts = receipt.attempts
            }
        case .failed(let error, let attempts, let host):
            let cursor = fail(recorded.id, error, attempts: attempts, host: host)
            jobs[recorded.id]?.resume = recorded.resume
            jobs[recorded.id]?.wasInterrupted = false
            jobs[recorded.id]?.tries.attempts = attempts
            return cursor
        case .cancelled: return cancel(recorded.id, resume: recorded.resume)
        case .dropped: return nextEnd().cursor
        }
    }

    private mutating func record(_ step: JobStep) {
        guard var job = jobs[step.id] else { return }
        job.state = step.state
        if step.state != .claimed { job.owner = nil }
        job.isSending = false
        job.tries = Tries(
            attempts: step.attempts, askedWait: step.askedWait, mirror: step.mirror, spentMirrors: step.spentMirrors)
        (job.due, job.origin, job.resume) = (step.due, step.origin, step.resume)
        jobs[step.id] = job
    }

    func event(of job: Job) -> QueueEvent? {
        guard let end = job.end, job.state.hasEnded, let name = batches[job.batch]?.name else { return nil }
        let kind: QueueEvent.Kind? =
            switch job.state {
            case .done: job.receipt.map { .finished($0.0) }
            case .failed:
                end.failure.map {
                    .failed(
                        JobFailure(
                            batch: name, job: job.identity, error: $0.error, attempts: $0.attempts, host: $0.host,
                            route: JobRoute(job.staged.spec)))
                }
            case .skipped: .skipped(job: job.identity, need: end.need ?? "")
            default: .cancelled(job: job.identity)
            }
        return kind.map {
            QueueEvent(
                time: end.time, batch: name, cursor: end.cursor, kind: $0, route: JobRoute(job.staged.spec))
        }
    }

    var ends: [QueueEvent] {
        jobs.values.compactMap { event(of: $0) }.sorted { $0.cursor ?? 0 < $1.cursor ?? 0 }
    }

    func failures(_ name: String) -> [FailedJob] {
        ends.compactMap { event in
            guard event.batch == name, case .failed(let failure) = event.kind else { return nil }
            return FailedJob(
                batch: name, job: failure.job, code: failure.error.code.rawValue, message: failure.error.message,
                status: failure.error.status, host: failure.host, attempts: failure.attempts, again: nil,
                route: failure.route)
        }
    }

    // MARK: Needs

    private func stillNeeds(_ job: Job) -> Bool { job.needs.contains { jobs[$0].map { $0.state != .done } ?? false } }

    /// Blocks the jobs that wait for other jobs, and frees those that no longer do.
    @discardableResult
    mutating func unblock() -> [Lane: Int] {
        var free: [Lane: Int] = [:]
        for job in jobs.values {
            if job.state == .blocked, !stillNeeds(job) {
                jobs[job.id]?.state = .queued
                free[job.lane, default: 0] += 1
            } else if job.state == .queued, stillNeeds(job) {
                jobs[job.id]?.state = .blocked
            }
        }
        return free
    }

    /// Skips the jobs that need this one, directly or through other jobs, as they can no longer start.
    mutating func skipDependents(of id: Int64) -> [SkippedJob] {
        guard let ended = jobs[id] else { return [] }
        var skipped: [SkippedJob] = []
        let unclaimed: Set<JobState> = [.queued, .waiting, .blocked, .paused]
        for job in jobs.values.sorted(by: { $0.id < $1.id })
        where job.needs.contains(id) && unclaimed.contains(job.state) {
            let cursor = end(job.id, .skipped) { _, end in end.need = ended.identity }
            skipped.append(
                SkippedJob(
                    batch: job.batch, identity: job.identity, need: ended.identity, cursor: cursor,
                    tellsHook: job.staged.spec.tellsHook, route: JobRoute(job.staged.spec)))
            skipped += skipDependents(of: job.id)
        }
        return skipped
    }

    mutating func skipWhatCannotStart(_ batch: Int64) -> [SkippedJob] {
        jobs(of: batch).filter { [.failed, .skipped, .cancelled].contains($0.state) }
            .flatMap { skipDependents(of: $0.id) }
    }
}
