import NIOPosix
import TransferQueue

/// The queue as requests use it. Queries block, and run on threads of their own, so that they delay neither the network
/// nor the run.
struct ServedQueue: Sendable {
    let queue: JobQueue
    let remote: QueueRemote
    let rules: OutsideRules
    private let threads: NIOThreadPool

    init(_ queue: JobQueue, _ remote: QueueRemote, _ rules: OutsideRules) {
        self.queue = queue
        self.remote = remote
        self.rules = rules
        threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
    }

    func close() async { try? await threads.shutdownGracefully() }

    /// Ends waits for a database that does not answer.
    func cancelWaits() {
        remote.cancelWaits()
        queue.cancelWaits()
    }

    /// Runs work that blocks.
    func off<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.runIfActive(work)
    }

    /// Queries the queue.
    func look<Value: Sendable>(_ work: @escaping @Sendable (QueueRemote) throws -> Value) async throws -> Value {
        let remote = remote
        return try await off { try work(remote) }
    }

    /// Returns the job with a gid; a unique prefix of the gid is sufficient.
    ///
    /// - Throws: A 404 where there is none.
    func job(_ gid: String) async throws -> JobEntry {
        let entry = try await look { remote in try JobNames.job(gid, in: remote) }
        guard let entry else { throw Problem.notFound("no job has the gid \(Wording.quoted(gid))") }
        return entry
    }

    /// Changes a job's priority, or its own limits.
    func amend(_ entry: JobEntry, _ change: @escaping @Sendable (inout JobSpec) -> Void) async throws {
        try await queue.amend(entry.number, batch: entry.batch, job: entry.listed.job, change)
    }

    /// Changes the priority, or the own limits, of all unfinished jobs of a batch.
    ///
    /// - Returns: The number of those jobs.
    func amend(batch: String, _ change: @escaping @Sendable (inout JobSpec) -> Void) async throws -> Int {
        var selection = JobSelection()
        selection.batch = batch
        selection.states = Set(JobState.allCases.filter { !$0.hasEnded })
        selection.limit = Self.amendedAtOnce
        var count = 0
        while true {
            let page = try await look { [selection] in try $0.jobs(selection) }
            guard let last = page.last else { return count }
            let jobs = Dictionary(page.map { ($0.number, $0.listed.job) }) { first, _ in first }
            count += try await queue.amend(jobs, batch: batch, change)
            selection.order = .number(after: last.number)
        }
    }

    /// Sets the priorities of jobs. Those with the same batch and the same new priority are changed together, and those
    /// that have ended meanwhile stay as they are.
    ///
    /// - Parameter priorities: The new priorities, by the jobs' numbers; the other jobs keep theirs.
    func setPriorities(_ entries: [JobEntry], _ priorities: [Int64: Int]) async throws {
        let changed = entries.filter { priorities[$0.number] != nil }
        let groups = Dictionary(grouping: changed) {
            PriorityGroup(batch: $0.batch, priority: priorities[$0.number] ?? $0.priority)
        }
        for (group, members) in groups.sorted(by: { $0.key.priority > $1.key.priority }) {
            for start in stride(from: 0, to: members.count, by: Self.amendedAtOnce) {
                let part = members[start..<min(start + Self.amendedAtOnce, members.count)]
                let jobs = Dictionary(part.map { ($0.number, $0.listed.job) }) { first, _ in first }
                _ = try await queue.amend(jobs, batch: group.batch) { $0.priority = group.priority }
            }
        }
    }

    private struct PriorityGroup: Hashable {
        let batch: String
        let priority: Int
    }

    /// The number of jobs in one transaction, which is short enough for other writers to wait for.
    private static let amendedAtOnce = 1000

    /// Returns the batch with a key.
    ///
    /// - Throws: A 404 where there is none.
    func batch(_ key: String) async throws -> BatchStatus {
        let status = try await look { remote -> BatchStatus? in
            guard let number = JobNumberCode.batch.number(key) else { return nil }
            let name = try remote.batchRegister().entries.first { $0.number == number }?.name
            return try name.flatMap { try remote.statuses(name: $0).first }
        }
        guard let status else { throw Problem.notFound("no batch has the key \(Wording.quoted(key))") }
        return status
    }
}
