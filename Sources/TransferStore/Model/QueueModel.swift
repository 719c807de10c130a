import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs

/// A queue as values, which specifies the behaviour of stores. It changes jobs by the same ``JobTransition`` values.
struct QueueModel {
    struct Batch {
        let name: String
        var directory: String
        var source: String?
        var owner: Int64?
        /// The count of stagings.
        var generation = 0
        var onFinish: BatchHook?
        var reportedEnd: Int64 = 0
    }

    var batches: [Int64: Batch] = [:]
    var jobs: [Int64: ModelJob] = [:]
    var leases: [Int64: Lease] = [:]
    var commands: [Int64: [QueueCommand]] = [:]
    var hookCalls: [MemoryHookCall] = []
    /// The answered submissions by their keys, with times in milliseconds since 1970.
    var submissions: [String: (answer: AnsweredSubmission, time: Int64)] = [:]
    private(set) var lastCursor: Int64 = 0
    private var lastNumber: Int64 = 0
    /// The highest number that a batch ever got. A new batch never gets the number of a forgotten one.
    var lastBatch: Int64 = 0
    private var lastGeneration: Int64 = 0

    mutating func number() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func nextEndNumber() -> Int64 {
        lastCursor += 1
        return lastCursor
    }

    func jobs(of batch: Int64) -> [ModelJob] { jobs.values.filter { $0.batch == batch }.sorted { $0.id < $1.id } }
    func batch(named name: String) -> Int64? { batches.first { $0.value.name == name }?.key }
    func job(_ identity: String, in name: String) -> ModelJob? {
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
        for job in jobs.values.sorted(by: { $0.id < $1.id }) where job.claim.owner == owner && job.state == .claimed {
            if job.claim.isSending {
                end(job.id, .interrupt) { UploadRules.value($0) }
                _ = skipDependents(of: job.id)
            } else {
                apply(wasInterrupted ? .recover : .giveBack, to: job.id)
            }
        }
        for id in batches.keys where batches[id]?.owner == owner { batches[id]?.owner = nil }
        leases[owner] = nil
        commands[owner] = nil
    }

    // MARK: Ends

    /// Ends a job, and writes down the message for its hook.
    ///
    /// - Returns: The number of the end.
    @discardableResult
    mutating func end(
        _ id: Int64, _ transition: JobTransition, given: (JobColumn) throws -> JobValue
    ) rethrows -> Int64 {
        guard try apply(transition, to: id, given: given), let job = jobs[id] else { return nextEndNumber() }
        addHookCall(of: job)
        return job.endNumber ?? 0
    }

    mutating func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup {
        var group = RecordedGroup()
        for note in JobNote.uploads(ends, steps) { self.note(note) }
        for end in ends { group.cursors.append(try record(end)) }
        group.hooked = Set(ends.filter { jobs[$0.id]?.staged.spec.tellsHook ?? false }.map(\.batch))
        for step in steps { try apply(.step, to: step.id, state: step.state) { try step.value($0) } }
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

    private mutating func record(_ recorded: JobEnd) throws -> Int64 {
        guard let transition = recorded.transition else { return nextEndNumber() }
        // The message of the hook names the receipt.
        if let completion = recorded.completion, jobs[recorded.id]?.state == .claimed {
            jobs[recorded.id]?.receipt = completion
        }
        return try end(recorded.id, transition) { try recorded.value($0) }
    }

    func event(of job: ModelJob) -> QueueEvent? {
        guard let cursor = job.endNumber, job.state.hasEnded, let name = batches[job.batch]?.name else { return nil }
        let route = JobRoute(job.staged.spec)
        let kind: QueueEvent.Kind? =
            switch job.state {
            case .done: job.receipt.map { .finished($0.0) }
            case .failed:
                .failed(
                    JobFailure(
                        batch: name, job: job.identity, error: job.error, attempts: job.tries.attempts,
                        host: job.others[.host]?.text, route: route))
            case .skipped:
                .skipped(
                    job: job.identity, need: String((job.others[.errorMessage]?.text ?? "").dropFirst("needs ".count)))
            default: .cancelled(job: job.identity)
            }
        return kind.map { QueueEvent(time: job.ended ?? 0, batch: name, cursor: cursor, kind: $0, route: route) }
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

    // MARK: Transitions

    /// Makes a change to a job in one of the states from which the change leads.
    ///
    /// - Parameters:
    ///   - state: The new state, if it is passed with the job.
    ///   - given: The values of columns that are passed with the job.
    ///   - holds: The conditions that are passed with the job.
    /// - Returns: `false` for a job in another state, which is not changed.
    @discardableResult
    mutating func apply(
        _ transition: JobTransition, to id: Int64, state: JobState? = nil,
        given: (JobColumn) throws -> JobValue, holds: (JobChange.Condition) -> Bool = { _ in true }
    ) rethrows -> Bool {
        let change = transition.change
        guard var job = jobs[id], change.from.contains(job.state) else { return false }
        let number = change.isEnd ? nextEndNumber() : nil
        switch change.to {
        case .state(let next): job.state = next
        case .readyOrBlocked: job.state = stillNeeds(job) ? .blocked : .queued
        case .given: job.state = state ?? job.state
        }
        try job.set(change.columns, endNumber: number, given: given, holds: holds)
        jobs[id] = job
        return true
    }

    /// Makes a change without passed values.
    @discardableResult
    mutating func apply(_ transition: JobTransition, to id: Int64) -> Bool {
        apply(transition, to: id, given: { _ in .null }, holds: { _ in true })
    }

    // MARK: Needs

    func stillNeeds(_ job: ModelJob) -> Bool { job.needs.contains { jobs[$0].map { $0.state != .done } ?? false } }

    /// Blocks the jobs that wait for others, and frees those that no longer do.
    @discardableResult
    mutating func unblock() -> [Lane: Int] {
        var free: [Lane: Int] = [:]
        for job in jobs.values {
            if !stillNeeds(job) {
                if apply(.unblock, to: job.id) { free[job.lane, default: 0] += 1 }
            } else {
                apply(.block, to: job.id)
            }
        }
        return free
    }

    /// Skips the jobs that need this job, and the jobs that need them in turn.
    mutating func skipDependents(of id: Int64) -> [SkippedJob] {
        guard let ended = jobs[id] else { return [] }
        var skipped: [SkippedJob] = []
        for job in jobs.values.sorted(by: { $0.id < $1.id })
        where job.needs.contains(id) && JobTransition.skip.change.from.contains(job.state) {
            let cursor = end(job.id, .skip) { _ in .text("needs \(ended.identity)") }
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
