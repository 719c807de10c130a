import TransferQueue

/// Takes jobs that clients submit at the same time into the queue together: the wait for the disk is one for all of them,
/// and each client is answered when its jobs are durable.
actor Intake {
    private struct Waiting {
        let jobs: [JobSpec]
        let continuation: CheckedContinuation<SubmittedJobs, any Error>
    }

    private let queue: JobQueue
    private let directory: String
    private var waiting: [String: [Waiting]] = [:]
    private var isWorking = false

    init(_ queue: JobQueue, directory: String) {
        self.queue = queue
        self.directory = directory
    }

    /// - Parameter jobs: Confined ones.
    /// - Throws: `StagingError` for needs and destinations that don't go together.
    func submit(_ jobs: [JobSpec], batch: String) async throws -> SubmittedJobs {
        try await withCheckedThrowingContinuation { continuation in
            waiting[batch, default: []].append(Waiting(jobs: jobs, continuation: continuation))
            guard !isWorking else { return }
            isWorking = true
            Task { await work() }
        }
    }

    private func work() async {
        while let (batch, groups) = waiting.popFirst() { await take(groups, into: batch) }
        isWorking = false
    }

    private func take(_ groups: [Waiting], into batch: String) async {
        do {
            let results = try await queue.submit(groups: groups.map(\.jobs), batch: batch, directory: directory)
            for (group, result) in zip(groups, results) { group.continuation.resume(returning: result) }
        } catch  where groups.count > 1 {
            // The fault is one client's, and it isn't known whose.
            for group in groups { await take([group], into: batch) }
        } catch {
            groups.first?.continuation.resume(throwing: error)
        }
    }
}
