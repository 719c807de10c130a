import TransferQueue

/// The actor that adds the jobs of simultaneous requests to the queue together. All share one wait for the disk, and
/// each client is answered once its jobs are durable.
actor SubmissionBatcher {
    private struct Waiting {
        let group: SubmissionGroup
        let continuation: CheckedContinuation<SubmittedJobs, any Error>
    }

    /// A kind of submission whose jobs can be added together.
    private struct Kind: Hashable {
        let batch: String
        let startsPaused: Bool
    }

    private let queue: JobQueue
    private let directory: String
    private var waiting: [Kind: [Waiting]] = [:]
    private var isWorking = false

    init(_ queue: JobQueue, directory: String) {
        self.queue = queue
        self.directory = directory
    }

    /// Adds jobs to a batch.
    ///
    /// - Parameters:
    ///   - group: The jobs, which must be confined.
    ///   - startsPaused: Whether new jobs wait until a client resumes them.
    /// - Throws: `StagingError` for conflicting needs and destinations; `SubmissionKeyTaken`.
    func submit(_ group: SubmissionGroup, batch: String, startsPaused: Bool) async throws -> SubmittedJobs {
        try await withCheckedThrowingContinuation { continuation in
            waiting[Kind(batch: batch, startsPaused: startsPaused), default: []].append(
                Waiting(group: group, continuation: continuation))
            guard !isWorking else { return }
            isWorking = true
            Task { await work() }
        }
    }

    private func work() async {
        while let (kind, groups) = waiting.popFirst() { await take(groups, as: kind) }
        isWorking = false
    }

    private func take(_ groups: [Waiting], as kind: Kind) async {
        do {
            let results = try await queue.submit(
                groups: groups.map(\.group), batch: kind.batch, directory: directory, startsPaused: kind.startsPaused)
            for (group, result) in zip(groups, results) { group.continuation.resume(returning: result) }
        } catch  where groups.count > 1 {
            // The fault belongs to one client, and only separate attempts show which.
            for group in groups { await take([group], as: kind) }
        } catch {
            groups.first?.continuation.resume(throwing: error)
        }
    }
}
