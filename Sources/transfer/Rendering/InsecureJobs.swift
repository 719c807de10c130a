import TransferQueue

/// The current jobs whose servers' certificates are not checked, which is marked on each of their lines.
struct InsecureJobs: Sendable {
    /// The mark beside a job's name.
    static let mark = " [-k]"

    private struct Key: Hashable {
        var batch: String
        var job: String
    }

    private var jobs: Set<Key> = []

    /// Follows a job from its start to its end.
    ///
    /// - Returns: Whether the event is about such a job.
    mutating func note(_ event: QueueEvent) -> Bool {
        if case .started(let job, let start) = event.kind {
            // Most runs have no such job.
            guard start.isInsecure else { return false }
            jobs.insert(Key(batch: event.batch, job: job))
            return true
        }
        if jobs.isEmpty { return event.kind.isEnd && event.route?.isInsecure ?? false }
        guard let job = event.kind.job else {
            if case .batchFinished = event.kind { jobs = jobs.filter { $0.batch != event.batch } }
            return false
        }
        let key = Key(batch: event.batch, job: job)
        guard event.kind.isEnd else { return jobs.contains(key) }
        return jobs.remove(key) != nil || event.route?.isInsecure ?? false
    }
}
