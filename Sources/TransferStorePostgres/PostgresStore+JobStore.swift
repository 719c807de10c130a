import TransferCore
package import TransferJobs
package import TransferScheduling
package import TransferStore

extension PostgresStore {
    package var notice: String? { nil }

    package var sharedRules: (any SharedRules)? { sharesBatches ? rules : nil }

    package func fault(_ error: any Error) -> any Error {
        (error as? PostgresFault)?.explained(database.address)
            ?? (error as? LeaseLost)?.explained(after: database.role.term) ?? error
    }

    // MARK: Leases

    package func renew() throws -> Lease { try leases.renew() }

    // MARK: Batches

    package func stage(
        _ header: BatchHeader, _ options: StagingOptions, _ body: (any JobSubmissionBatcher) throws -> Bool
    ) throws -> StagedJobs {
        try staging.stage(header, options, body)
    }

    package func revoke(_ ids: Set<Int64>) throws -> Int {
        try PostgresRevocations(database: database, leases: leases).ask(for: ids)
    }

    package func revoked() throws -> Set<Int64> {
        try PostgresRevocations(database: database, leases: leases).asked()
    }

    package func submit(_ spec: JobSpec, batch: String, directory: String) throws -> StagedJobs {
        try staging.submit(spec, batch: batch, directory: directory)
    }

    package func submit(
        _ groups: [SubmissionGroup], batch: String, directory: String, startsPaused: Bool
    ) throws -> (results: [SubmittedJobs], staged: StagedJobs) {
        try PostgresSubmissions(database: database, staging: staging).submit(
            groups, batch: batch, directory: directory, startsPaused: startsPaused)
    }

    package func answered(key name: String) throws -> AnsweredSubmission? {
        try PostgresAnswers(database: database).find(name)
    }

    package func amend(_ numbers: [Int64], isOwn: Bool, _ change: (inout JobSpec) -> Void) throws -> Set<Int64> {
        try PostgresSubmissions(database: database, staging: staging).amend(numbers, isOwn: isOwn, change)
    }

    package func renew(_ numbers: [Int64], _ change: (inout JobSpec) -> Void) throws -> Set<Int64> {
        try PostgresSubmissions(database: database, staging: staging).renew(numbers, change)
    }

    package func hold(_ selection: BatchSelection) throws -> [HeldBatch] { try batches.hold(selection) }

    package func release(batch: Int64, isComplete: Bool, end: BatchEnd?) throws -> [String] {
        try batches.release(batch: batch, isComplete: isComplete, end: end)
    }

    package func tally(batch: Int64) throws -> BatchTally { try batches.tally(batch: batch) }

    package func backlog(batch: Int64) throws -> Backlog { try readyJobs.backlog(batch: batch) }

    package func batchRegister() throws -> BatchRegister { try batches.register() }

    package func forget(name: String?, endedBefore: Int64?) throws -> [String] {
        try batches.forget(name: name, endedBefore: endedBefore)
    }

    // MARK: Jobs

    package func claim(_ wants: [LaneWant], secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs] {
        try claims.claim(wants, secrets: secrets)
    }

    package func release(_ ids: [Int64]) throws { try readyJobs.release(ids) }

    package func wake(_ ids: [Int64]) throws -> [Lane: Int] { try readyJobs.wake(ids) }

    package func redo(_ ids: [Int64], _ recheck: DestinationRule.Recheck) throws { try readyJobs.redo(ids, recheck) }

    package func completed(batch: Int64, after id: Int64, limit: Int) throws -> [CompletedJob] {
        try completedJobs.page(batch: batch, after: id, limit: limit)
    }

    package func record(_ ends: [JobEnd], _ steps: [JobStep]) throws -> RecordedGroup {
        try records.record(ends, steps)
    }

    package func note(_ notes: [JobNote]) throws { try self.notes.write(notes) }

    package func abandonedUploads(batch: Int64, secrets: [Int64: JobSecrets]) throws -> [AbandonedUpload] {
        try uploads.abandoned(batch: batch, secrets: secrets)
    }

    package func takeAbandonedUploads(limit: Int) throws -> [AbandonedUpload] { try uploads.take(limit: limit) }

    package func heldUploads(batch: Int64) throws -> [HeldUpload] { try uploads.held(batch: batch) }

    // MARK: Hooks

    package func takeHookCalls(batch: Int64, revivesFailed: Bool, limit: Int) throws -> [HookCall] {
        try hookCalls.take(batch: batch, revivesFailed: revivesFailed, limit: limit)
    }

    package func settleHookCalls(_ outcomes: [HookOutcome]) throws { try hookCalls.settle(outcomes) }

    // MARK: Steering

    package func deliver(_ verb: QueueVerb, batch name: String, job: String?) throws -> CommandDelivery {
        try steering.deliver(verb, batch: name, job: job)
    }

    package func takeCommands() throws -> [QueueCommand] { try steering.takeCommands() }

    package func apply(_ command: QueueCommand) throws -> AppliedCommand { try steering.apply(command) }

    // MARK: Ends

    package func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent] {
        try endQueries.ends(after: cursor, limit: limit)
    }

    package func end(batch: String, job: String) throws -> QueueEvent? { try endQueries.end(batch: batch, job: job) }

    package func lastCursor() throws -> Int64 { try endQueries.lastCursor() }

    package func failures(batch name: String, limit: Int) throws -> [FailedJob] {
        try endQueries.failures(batch: name, limit: limit)
    }

    // MARK: RunMemory

    package func publish(_ news: RunNotification) throws { try self.news.publish(news) }

    package func pauses() throws -> [StoredPause] { try news.pauses() }

    package func census(of batches: [Int64], from first: Int64) throws -> StoreCounts {
        try news.census(of: batches, from: first)
    }

    package func meteredUsage() throws -> [MeteredUsage.Row] { try news.meteredUsage() }
}
