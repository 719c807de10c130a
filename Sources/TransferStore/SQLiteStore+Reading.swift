import TransferCore

// The news of runs, and the questions of processes that look at the queue.
extension SQLiteStore {
    // MARK: RunMemory

    func publish(_ news: RunNews) throws { try self.news.publish(news) }

    func pauses() throws -> [StoredPause] { try pauseList.open() }

    func meteredUsage() throws -> [MeteredUsage.Row] { try links.meteredUsage() }

    // MARK: QueueReader

    func statuses(name: String?) throws -> [BatchStatus] { try statusQueries.statuses(name: name) }

    func facts(batch name: String, job: String) throws -> JobFacts? { try jobFacts.facts(batch: name, job: job) }

    func identities(batch name: String, like job: String, limit: Int) throws -> [String] {
        try jobFacts.identities(batch: name, like: job, limit: limit)
    }

    func completedIdentities(batch name: String) throws -> Set<String> { try completedJobs.identities(batch: name) }

    func networkOrigin(batch: String, job: String) throws -> NetworkOrigin? {
        try jobFacts.networkOrigin(batch: batch, job: job)
    }

    func hasAbandonedUploads(batch name: String) throws -> Bool { try abandonedUploads.exist(batch: name) }

    func listen(batch: String, socket: String) throws { try batches.listen(batch: batch, socket: socket) }
}
