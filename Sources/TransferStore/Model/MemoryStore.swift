import Synchronization
import TransferCore
import TransferEngine
import TransferEventLoop
package import TransferJobs
package import TransferScheduling

/// The memory that several simulated processes share: a queue, with a clock that a test sets.
package final class MemoryQueue: Sendable {
    struct Shared {
        var state = QueueModel()
        var now = MonotonicTime.now
    }

    let shared = Mutex(Shared())

    package init() {}

    package func advance(by duration: Duration) { shared.withLock { $0.now = $0.now + duration } }

    /// Ends the lease of a process, as if it had been silent for too long.
    package func endLease(of store: MemoryStore) {
        shared.withLock { $0.state.leases[store.generation]?.until = $0.now }
    }

    /// Makes the submissions with a key this number of milliseconds older.
    package func ageSubmissions(by time: Int64) {
        shared.withLock { shared in
            for key in shared.state.submissions.keys { shared.state.submissions[key]?.time -= time }
        }
    }

    /// The number of submissions with a key, including expired ones.
    package var submissions: Int { shared.withLock { $0.state.submissions.count } }
}

/// The simplest store that fulfils the guarantees of a ``JobStore``: values behind a lock. One object is one process.
package final class MemoryStore: JobStore, RunMemory {
    private let queue: MemoryQueue
    package let generation: Int64
    package var notice: String? { nil }

    package init(_ queue: MemoryQueue = MemoryQueue()) {
        self.queue = queue
        generation = queue.shared.withLock { $0.state.register(now: $0.now) }
    }

    package func fault(_ error: any Error) -> any Error { error }

    /// Makes all changes of `body`, or none.
    private func change<Value>(
        needsLease: Bool = true, _ body: (inout QueueModel, MonotonicTime) throws -> Value
    ) throws -> Value {
        try queue.shared.withLock { shared in
            var state = shared.state
            if needsLease, state.leases[generation] == nil { throw LeaseLost() }
            let value = try body(&state, shared.now)
            shared.state = state
            return value
        }
    }

    private func look<Value>(_ body: (QueueModel) throws -> Value) rethrows -> Value {
        try queue.shared.withLock { try body($0.state) }
    }

    // MARK: Leases

    package func renew() throws -> Lease {
        try change { state, now in
            let lease = Lease(generation: generation, until: now + Lease.term)
            state.leases[generation] = lease
            return lease
        }
    }

    package func retire() throws {
        try change { state, _ in state.retire(generation) }
    }

    // MARK: Batches

    package func stage(
        _ header: BatchHeader, _ options: StagingOptions, _ body: (any JobSubmissionBatcher) throws -> Bool
    ) throws -> StagedJobs {
        // The reader takes its time, and other processes continue meanwhile.
        let intake = SubmissionBatcher(directory: header.directory)
        guard try body(intake) else { throw StagingFailure.refused }
        return try queue.shared.withLock { shared in
            var state = shared.state
            guard state.leases[generation] != nil else { throw LeaseLost() }
            state.reclaim(now: shared.now)
            let staged = try state.stage(header, options, intake.jobs, isPartial: intake.isPartial, by: generation)
            if staged.underWay.isEmpty { shared.state = state }
            return staged
        }
    }

    private final class SubmissionBatcher: JobSubmissionBatcher {
        var isPartial = false
        var jobs: [StagedJob] = []
        private let directory: String
        private var origins = OriginMemory()

        init(directory: String) { self.directory = directory }

        func add(_ job: StagedJob) { jobs.append(job) }
        func add(_ spec: JobSpec, at place: JobLocations?) {
            jobs.append(StagedJob(spec, at: place, directory: directory, origins: &origins))
        }
    }

    package func submit(_ spec: JobSpec, batch: String, directory: String) throws -> StagedJobs {
        let known = look { $0.job(spec.identity, in: batch)?.fingerprint }
        if let known, known != spec.fingerprint { throw TransferError(.fileExists, "another job \(spec.identity)") }
        let header = BatchHeader(name: batch, source: nil, directory: directory)
        return try stage(header, StagingOptions(keepsWhatIsMissing: true)) { intake in
            if known == nil { try intake.add(spec, at: nil) }
            return true
        }
    }

    package func submit(
        _ groups: [SubmissionGroup], batch: String, directory: String, startsPaused: Bool
    ) throws -> (results: [SubmittedJobs], staged: StagedJobs) {
        let known = look { state in
            Dictionary(
                groups.flatMap(\.jobs).compactMap { spec in
                    state.job(spec.identity, in: batch).map { (spec.identity, $0.fingerprint) }
                },
                uniquingKeysWith: { first, _ in first })
        }
        var judged = SubmissionJudgement(known: known)
        let verdicts = groups.map { judged.judge($0) }
        let header = BatchHeader(name: batch, source: nil, directory: directory)
        let options = StagingOptions(keepsWhatIsMissing: true, startsPaused: startsPaused, notes: judged.notes)
        let staged = try stage(header, options) { intake in
            for spec in judged.new { try intake.add(spec, at: nil) }
            return true
        }
        let numbers = look { state in
            Dictionary(
                groups.flatMap(\.jobs).compactMap { spec in
                    state.job(spec.identity, in: batch).map { (spec.identity, $0.id) }
                },
                uniquingKeysWith: { first, _ in first })
        }
        return (zip(groups, verdicts).map { $1.result(of: $0, numbers: numbers) }, staged)
    }

    package func answered(key name: String) throws -> AnsweredSubmission? {
        look { state in
            state.submissions[name].flatMap { known in
                known.time > WallClock.milliseconds - SubmissionKey.lifetime ? known.answer : nil
            }
        }
    }

    package func amend(_ numbers: [Int64], isOwn: Bool, _ change: (inout JobSpec) -> Void) throws -> Set<Int64> {
        try self.change { state, _ in
            Set(numbers.filter { state.amend($0, by: isOwn ? generation : nil, change) })
        }
    }

    package func renew(_ numbers: [Int64], _ change: (inout JobSpec) -> Void) throws -> Set<Int64> {
        try self.change { state, _ in Set(numbers.filter { state.renew($0, change) }) }
    }

    package func hold(_ selection: BatchSelection) throws -> [HeldBatch] {
        try change { state, now in
            state.reclaim(now: now)
            return state.hold(selection, by: generation)
        }
    }

    package func release(batch: Int64, isComplete: Bool, end: BatchEnd?) throws -> [String] {
        try change { state, _ in
            if let end { state.addHookCall(batch, end) }
            if state.batches[batch]?.owner == generation { state.batches[batch]?.owner = nil }
            return []
        }
    }

    package func tally(batch: Int64) throws -> BatchTally {
        look { BatchTally(counts: Dictionary(grouping: $0.jobs(of: batch), by: \.state).mapValues(\.count)) }
    }

    package func backlog(batch: Int64) throws -> Backlog { look { $0.backlog(of: batch) } }

    package func batchRegister() throws -> BatchRegister {
        look { state in
            let entries = state.batches.sorted { $0.key < $1.key }
                .map { BatchRegister.Entry(name: $0.value.name, number: $0.key) }
            return BatchRegister(entries: entries, last: state.lastBatch)
        }
    }

    package func forget(name: String?, endedBefore: Int64?) throws -> [String] {
        try change { state, now in
            state.reclaim(now: now)
            return state.forget(name, endedBefore)
        }
    }

    // MARK: Jobs

    package func claim(_ wants: [LaneWant], secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        try change { state, _ in wants.map { state.claim($0, secrets, by: generation) } }
    }

    package func release(_ ids: [Int64]) throws {
        try change { state, _ in for id in ids { state.apply(.release, to: id) } }
    }

    package func wake(_ ids: [Int64]) throws -> [Lane: Int] {
        try change { state, _ in state.wake(ids) }
    }

    package func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup {
        try change { state, _ in try state.record(ends, steps) }
    }

    package func note(_ notes: [JobNote]) throws {
        try change { state, _ in for note in notes { state.note(note) } }
    }

    package func completed(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob] {
        look { Array($0.completed(batch).filter { $0.id > id }.prefix(limit)) }
    }

    package func redo(_ ids: [Int64], _ recheck: DestinationRule.Recheck) throws {
        try change { state, _ in state.redo(ids, recheck) }
    }

    package func abandonedUploads(batch: Int64, secrets: [Int64: JobSecrets]) throws -> [AbandonedUpload] {
        look { $0.abandoned(batch, secrets) }
    }

    package func heldUploads(batch: Int64) throws -> [HeldUpload] {
        look { state in
            state.jobs(of: batch).filter { $0.state == .cancelled && $0.upload?.holdsSomething == true }
                .map { HeldUpload(id: $0.id, identity: $0.identity, hasSecrets: $0.hasSecrets) }
        }
    }

    // MARK: Hooks

    package func takeHookCalls(batch: Int64, revivesFailed: Bool, limit: Int) throws -> [HookCall] {
        try change { state, _ in
            state.takeHookCalls(batch, revivesFailed: revivesFailed, limit: limit, by: generation)
        }
    }

    package func settleHookCalls(_ outcomes: [HookOutcome]) throws {
        try change { state, _ in state.settleHookCalls(outcomes) }
    }

    // MARK: Steering

    package func deliver(_ verb: QueueVerb, batch name: String, job: String?) throws -> CommandDelivery {
        try change { state, now in
            state.reclaim(now: now)
            return state.deliver(verb, name, job)
        }
    }

    package func takeCommands() throws -> [QueueCommand] {
        try change { state, _ in state.commands.removeValue(forKey: generation) ?? [] }
    }

    package func apply(_ command: QueueCommand) throws -> AppliedCommand {
        try change { state, _ in state.apply(command) }
    }

    // MARK: Ends

    package func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent] {
        look { Array($0.ends.filter { $0.cursor ?? 0 > cursor }.prefix(limit)) }
    }

    package func end(batch: String, job: String) throws -> QueueEvent? {
        look { state in state.job(job, in: batch).flatMap { state.event(of: $0) } }
    }

    package func lastCursor() throws -> Int64 { look { $0.lastCursor } }

    package func failures(batch name: String, limit: Int) throws -> [FailedJob] {
        look { Array($0.failures(name).prefix(limit)) }
    }

    // MARK: Notifications: no other process observes it

    package func publish(_ news: RunNotification) throws {}
    package func pauses() throws -> [StoredPause] { [] }
    package func census(of batches: [Int64], from first: Int64) throws -> StoreCounts { StoreCounts() }
    package func meteredUsage() throws -> [MeteredUsage.Row] { [] }
}
