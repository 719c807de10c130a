import TransferQueue

/// Takes jobs that clients submit at the same time into the queue together: the wait for the disk is one for all of them,
/// and each client is answered when its jobs are durable.
actor SubmissionBatcher {
    private struct Waiting {
        let group: SubmissionGroup
        let continuation: CheckedContinuation<SubmittedJobs, any Error>
    }

    /// Jobs that can go together.
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

    /// - Parameters:
    ///   - group: Jobs that are confined.
    ///   - startsPaused: New ones wait until somebody resumes them.
    /// - Throws: `StagingError` for needs and destinations that don't go together; `SubmissionKeyTaken`.
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
            // The fault is one client's, and it isn't known whose.
            for group in groups { await take([group], as: kind) }
        } catch {
            groups.first?.continuation.resume(throwing: error)
        }
    }
}
