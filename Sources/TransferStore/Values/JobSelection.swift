package import TransferJobs

/// A selection of jobs of all batches, of which one page is read.
package struct JobSelection: Sendable, Hashable {
    /// The order of the page, and the place where it continues the page before.
    package enum Order: Sendable, Hashable {
        /// The order of the jobs' numbers, behind this one; 0 for the first page.
        case number(after: Int64)
        /// The order of the jobs' ends, the latest first, behind the end with this cursor.
        case latestEnd(before: Int64?)
        /// The order in which the jobs are to start, without the first `skipping` jobs.
        case turn(skipping: Int)
        /// The order of the jobs' ends behind the end with this cursor, without the first `skipping` jobs.
        case ends(after: Int64, skipping: Int)
    }

    /// The name of the batch; `nil` for all batches.
    package var batch: String?
    /// The states of the jobs; empty for all.
    package var states: Set<JobState> = []
    /// Whether only uploads or only downloads are meant; `nil` for both.
    package var isUpload: Bool?
    /// The origin of the jobs' servers: scheme, host and port.
    package var origin: String?
    /// The code of the jobs' failure, or of the reason of their wait.
    package var code: String?
    /// A text in the name of the job or of its batch.
    package var text: String?
    /// The exact name of a job.
    package var identity: String?
    /// The beginning of the jobs' names.
    package var identityPrefix: String?
    /// The numbers of jobs to leave out.
    package var hidden: [Int64] = []
    /// The numbers of the only jobs to read; `nil` for all.
    package var numbers: [Int64]?
    package var order = Order.number(after: 0)
    package var limit = 100

    package init() {}
}

/// A job of the queue as a page shows it.
package struct JobEntry: Sendable {
    package let batch: String
    /// The folder that the job's relative paths start from.
    package let directory: String
    package let listed: ListedJob
    package let isUpload: Bool
    package let priority: Int
    package let origin: String
    /// The host that failed, where one did.
    package let host: String?
    /// The cursor of the end, for a job that has ended.
    package let cursor: Int64?
    /// Whether the job's transfer was under way at the last report of its process.
    package let isUnderWay: Bool
    /// The stored fingerprint of the job's content. That of a parsed ``listed`` job may differ, because a configuration
    /// or a change of its URLs leaves the fingerprint as it was.
    package let fingerprint: Int64

    package init(
        batch: String, directory: String, listed: ListedJob, isUpload: Bool, priority: Int, origin: String,
        host: String?, cursor: Int64?, isUnderWay: Bool, fingerprint: Int64
    ) {
        self.batch = batch
        self.directory = directory
        self.listed = listed
        self.isUpload = isUpload
        self.priority = priority
        self.origin = origin
        self.host = host
        self.cursor = cursor
        self.isUnderWay = isUnderWay
        self.fingerprint = fingerprint
    }

    /// The number of the job in the queue, which never changes and is never given to another job.
    package var number: Int64 { listed.number }
}
