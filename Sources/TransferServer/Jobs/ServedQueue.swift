import NIOPosix
import TransferQueue

/// The queue as requests see it: looks are blocking, and have threads of their own, so that they keep neither the network
/// nor the run waiting.
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

    /// Does work that blocks.
    func off<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.runIfActive(work)
    }

    /// Looks at the queue.
    func look<Value: Sendable>(_ work: @escaping @Sendable (QueueRemote) throws -> Value) async throws -> Value {
        let remote = remote
        return try await off { try work(remote) }
    }

    /// The job of that name; a part of the name is enough where no other job's begins with it.
    ///
    /// - Throws: A 404 where there is none.
    func job(_ gid: String) async throws -> JobEntry {
        let entry = try await look { remote in try JobNames.job(gid, in: remote) }
        guard let entry else { throw Problem.notFound("no job has the gid \(Wording.quoted(gid))") }
        return entry
    }

    /// Changes a job's priority, or bounds of its own.
    func amend(_ entry: JobEntry, _ change: @escaping @Sendable (inout JobSpec) -> Void) async throws {
        try await queue.amend(entry.number, batch: entry.batch, job: entry.listed.job, change)
    }

    /// The batch of that key.
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
