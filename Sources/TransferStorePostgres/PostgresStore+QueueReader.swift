import TransferCore
package import TransferJobs
package import TransferStore

// Questions of processes that read the queue.
extension PostgresStore {
    package func statuses(name: String?) throws -> [BatchStatus] { try statusQueries.statuses(name: name) }

    package func jobsUnderWay(limit: Int) throws -> [JobUnderWay] { try underWay.jobs(limit: limit) }

    package func workers() throws -> [WorkerStatus] { try statusQueries.workers() }

    package func jobs(batch name: String, after number: Int64, failed: Bool, limit: Int) throws -> [ListedJob] {
        try jobList.page(batch: name, after: number, failed: failed, limit: limit)
    }

    package func jobs(_ selection: JobSelection) throws -> [JobEntry] { try jobList.page(selection) }

    package func count(_ selection: JobSelection) throws -> Int { try jobList.count(selection) }

    package func jobNumbers() throws -> ClosedRange<Int64>? { try jobList.numbers() }

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

    package func hasAbandonedUploads(batch name: String) throws -> Bool { try uploads.exist(batch: name) }

    package func hookTroubles(batch name: String, limit: Int) throws -> [HookTrouble] {
        try hookCalls.troubles(batch: name, limit: limit)
    }

    /// Does nothing, because a socket belongs to one machine; readers of this database ask again after a while.
    package func listen(batch: String, socket: String) throws {}
}
