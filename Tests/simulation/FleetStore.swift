import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs
import TransferScheduling

@testable import TransferStore

/// The store of one worker of a fleet: its connection to the ``FleetDatabase``, which may be lost.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class FleetStore: JobStore, RunMemory, @unchecked Sendable {
    private let database: FleetDatabase
    let generation: Int64
    private let process: Int
    /// The time until which the database is away for this worker.
    private var awayUntil = MonotonicTime(nanoseconds: 0)

    init(_ database: FleetDatabase) {
        self.database = database
        generation = database.register()
        process = World.current.process
    }

    var notice: String? { nil }
    var sharesBatches: Bool { true }
    func fault(_ error: any Error) -> any Error { error }

    private static let lost = TransferError(.connectionLost, "the database is away", isTransient: true)

    /// Makes a change. The worker waits for a database that is away while its lease lasts.
    private func change<Value>(notifies: Bool = false, _ body: (inout QueueModel) throws -> Value) throws -> Value {
        guard awayUntil <= .now else { throw Self.lost }
        let isLost = database.losesEnd()
        if isLost, World.current.chance(1, in: 2) { throw Self.lost }
        let value = try database.change(by: generation, body)
        if notifies { database.notifyAll(.changed) }
        if isLost { throw Self.lost }
        return value
    }

    private func look<Value>(_ body: (QueueModel) throws -> Value) throws -> Value {
        guard awayUntil <= .now else { throw Self.lost }
        return try database.look(body)
    }

    // MARK: Leases

    func renew() throws -> Lease { try database.renew(generation) }

    func retire() throws {
        guard awayUntil <= .now else { throw Self.lost }
        database.retire(generation)
    }

    func follow(_ hear: @escaping @Sendable (StoreNotification) -> Void) {
        database.listen(generation, hear)
        keepLease(hear)
    }

    private func keepLease(_ hear: @escaping @Sendable (StoreNotification) -> Void) {
        var next = FleetDatabase.term / 3
        if awayUntil > .now {
            guard !database.isDue(generation, within: FleetDatabase.term / 6) else {
                return hear(.leaseIsOver(Self.lost))
            }
            next = .seconds(1)
        } else {
            do { _ = try database.renew(generation) } catch { return hear(.leaseIsOver(error)) }
        }
        World.current.after(next, of: process) { [self] in keepLease(hear) }
    }

    /// Cuts the worker off from its database for a time.
    func partition(for time: Duration) {
        awayUntil = .now + time
        let lease = database.look { $0.leases[generation]?.until ?? .now }
        World.current.delayStore(of: process, until: min(awayUntil, lease).nanoseconds)
    }

    // MARK: Batches

    func stage(
        _ header: BatchHeader, _ options: StagingOptions, _ body: (any JobSubmissionBatcher) throws -> Bool
    ) throws -> StagedJobs { throw StagingFailure.refused }

    func submit(_ spec: JobSpec, batch: String, directory: String) throws -> StagedJobs {
        throw StagingFailure.refused
    }

    func submit(
        _ groups: [SubmissionGroup], batch: String, directory: String, startsPaused: Bool
    ) throws -> (results: [SubmittedJobs], staged: StagedJobs) { throw StagingFailure.refused }

    func answered(key name: String) throws -> AnsweredSubmission? { nil }

    func amend(_ numbers: [Int64], isOwn: Bool, _ change: (inout JobSpec) -> Void) throws -> Set<Int64> {
        try self.change { state in Set(numbers.filter { state.amend($0, by: isOwn ? generation : nil, change) }) }
    }

    func renew(_ numbers: [Int64], _ change: (inout JobSpec) -> Void) throws -> Set<Int64> {
        try self.change { state in Set(numbers.filter { state.renew($0, change) }) }
    }

    func hold(_ selection: BatchSelection) throws -> [HeldBatch] {
        try change { _ in }
        database.reclaim()
        return try look { state in
            state.batches.sorted { $0.key < $1.key }.compactMap { id, batch in
                switch selection {
                case .named(let name): guard batch.name == name else { return nil }
                case .unfinished: guard state.jobs(of: id).contains(where: { !$0.state.hasEnded }) else { return nil }
                }
                return HeldBatch(id: id, name: batch.name, directory: batch.directory)
            }
        }
    }

    func release(batch: Int64, isComplete: Bool, end: BatchEnd?) throws -> [String] {
        try change(notifies: !isComplete) { state in if let end { state.addHookCall(batch, end) } }
        return []
    }

    func tally(batch: Int64) throws -> BatchTally {
        try look { BatchTally(counts: Dictionary(grouping: $0.jobs(of: batch), by: \.state).mapValues(\.count)) }
    }

    func backlog(batch: Int64) throws -> Backlog { try look { $0.backlog(of: batch) } }

    func batchRegister() throws -> BatchRegister {
        try look { state in
            let entries = state.batches.sorted { $0.key < $1.key }
                .map { BatchRegister.Entry(name: $0.value.name, number: $0.key) }
            return BatchRegister(entries: entries, last: state.lastBatch)
        }
    }

    func forget(name: String?, endedBefore: Int64?) throws -> [String] { [] }

    // MARK: Jobs

    func claim(_ wants: [LaneWant], secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        try change { state in wants.map { state.claim($0, secrets, by: generation) } }
    }

    func release(_ ids: [Int64]) throws {
        try change(notifies: true) { state in for id in ids where owns(id, state) { state.apply(.release, to: id) } }
    }

    func wake(_ ids: [Int64]) throws -> [Lane: Int] { try change(notifies: true) { $0.wake(ids) } }

    func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup {
        try change(notifies: true) { try $0.record(ends, steps) }
    }

    func note(_ notes: [JobNote]) throws { try change { state in for note in notes { state.note(note) } } }

    func completed(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob] {
        try look { Array($0.completed(batch).filter { $0.id > id }.prefix(limit)) }
    }

    func redo(_ ids: [Int64], _ recheck: DestinationRule.Recheck) throws {
        try change(notifies: true) { $0.redo(ids, recheck) }
    }

    func abandonedUploads(batch: Int64, secrets: [Int64: JobSecrets]) throws -> [AbandonedUpload] {
        try look { $0.abandoned(batch, secrets) }
    }

    func takeAbandonedUploads(limit: Int) throws -> [AbandonedUpload] {
        guard awayUntil <= .now else { throw Self.lost }
        return database.takeAbandoned()
    }

    func heldUploads(batch: Int64) throws -> [HeldUpload] { [] }

    private func owns(_ id: Int64, _ state: QueueModel) -> Bool { state.jobs[id]?.claim.owner == generation }

    // MARK: Hooks

    func takeHookCalls(batch: Int64, revivesFailed: Bool, limit: Int) throws -> [HookCall] { [] }
    func settleHookCalls(_ outcomes: [HookOutcome]) throws {}

    // MARK: Steering

    func deliver(_ verb: QueueVerb, batch name: String, job: String?) throws -> CommandDelivery { .noSuchBatch }

    func takeCommands() throws -> [QueueCommand] {
        try change { state in state.commands.removeValue(forKey: generation) ?? [] }
    }

    func apply(_ command: QueueCommand) throws -> AppliedCommand { try change(notifies: true) { $0.apply(command) } }

    // MARK: Ends

    func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent] {
        try look { Array($0.ends.filter { $0.cursor ?? 0 > cursor }.prefix(limit)) }
    }

    func end(batch: String, job: String) throws -> QueueEvent? {
        try look { state in state.job(job, in: batch).flatMap { state.event(of: $0) } }
    }

    func lastCursor() throws -> Int64 { try look { $0.lastCursor } }

    func failures(batch name: String, limit: Int) throws -> [FailedJob] {
        try look { Array($0.failures(name).prefix(limit)) }
    }

    // MARK: Notifications

    func publish(_ news: RunNotification) throws {}
    func pauses() throws -> [StoredPause] { [] }
    func census(of batches: [Int64], from first: Int64) throws -> StoreCounts { StoreCounts() }
    func meteredUsage() throws -> [MeteredUsage.Row] { [] }
}
