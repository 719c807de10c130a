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
        let entry = try await look { remote in try remote.job(gid: gid) }
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

extension QueueRemote {
    /// - Returns: `nil` where no job has the name, or several begin with it.
    func job(gid: String) throws -> JobEntry? {
        let gid = gid.lowercased()
        if gid.utf8.count == 16 { return try JobNumberCode.job.number(gid).flatMap { try job(number: $0) } }
        guard !gid.isEmpty, gid.utf8.count < 16, let numbers = try jobNumbers() else { return nil }
        // Names are no order of numbers: all are looked at, which takes no look at the jobs.
        let candidates = numbers.lazy.filter { JobNumberCode.job.name($0).hasPrefix(gid) }.prefix(Self.mostCandidates)
        var selection = JobSelection()
        selection.numbers = Array(candidates)
        selection.limit = 2
        let found = selection.numbers?.isEmpty == false ? try jobs(selection) : []
        return found.count == 1 ? found[0] : nil
    }

    private static let mostCandidates = 1000
}
