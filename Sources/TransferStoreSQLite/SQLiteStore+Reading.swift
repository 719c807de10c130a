import TransferCore
import TransferEventLoop
package import TransferJobs
package import TransferScheduling
package import TransferStore

// The news of runs, and the questions of processes that read the queue.
extension SQLiteStore {
    // MARK: RunMemory

    package func publish(_ news: RunNotification) throws { try self.news.publish(news) }

    package func pauses() throws -> [StoredPause] { try pauseList.open() }

    package func meteredUsage() throws -> [MeteredUsage.Row] { try links.meteredUsage() }

    package func census(of batches: [Int64], from first: Int64) throws -> StoreCounts {
        try CountQuery(database: database).census(of: batches, from: first, now: WallClock.milliseconds)
    }

    // MARK: QueueReader

    package func statuses(name: String?) throws -> [BatchStatus] { try statusQueries.statuses(name: name) }

    package func jobs(batch name: String, after number: Int64, failed: Bool, limit: Int) throws -> [ListedJob] {
        try JobListQuery(database: database).page(batch: name, after: number, failed: failed, limit: limit)
    }

    package func jobs(_ selection: JobSelection) throws -> [JobEntry] {
        try JobPageQuery(database: database).page(selection)
    }

    package func count(_ selection: JobSelection) throws -> Int {
        try JobPageQuery(database: database).count(selection)
    }

    package func jobNumbers() throws -> ClosedRange<Int64>? { try JobPageQuery(database: database).numbers() }

    package func isHeldElsewhere(batch name: String) throws -> Bool { try statusQueries.isHeldElsewhere(batch: name) }

    package func facts(batch name: String, job: String) throws -> JobFacts? {
        try jobFacts.facts(batch: name, job: job)
    }

    package func identities(batch name: String, like job: String, limit: Int) throws -> [String] {
        try jobFacts.identities(batch: name, like: job, limit: limit)
    }

    package func completedIdentities(batch name: String) throws -> Set<String> {
        try completedJobs.identities(batch: name)
    }

    package func downloads(_ selection: DownloadSelection, after id: Int64, limit: Int) throws -> [StoredDownload] {
        try completedJobs.downloads(selection, after: id, limit: limit)
    }

    package func networkOrigin(batch: String, job: String) throws -> NetworkOrigin? {
        try jobFacts.networkOrigin(batch: batch, job: job)
    }

    package func hasAbandonedUploads(batch name: String) throws -> Bool { try abandonedUploads.exist(batch: name) }

    package func hookTroubles(batch name: String, limit: Int) throws -> [HookTrouble] {
        try hookCalls.troubles(batch: name, limit: limit)
    }

    package func listen(batch: String, socket: String) throws { try batches.listen(batch: batch, socket: socket) }
}
