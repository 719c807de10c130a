package import TransferJobs

/// The jobs that somebody asks to see, of all batches: a page of them.
package struct JobSelection: Sendable, Hashable {
    /// The order of the page, and where it goes on after the one before.
    package enum Order: Sendable, Hashable {
        /// By the jobs' numbers, behind this one; 0 for the first page.
        case number(after: Int64)
        /// By the order of their ends, behind the end with this cursor; the latest first.
        case latestEnd(before: Int64?)
        /// By the order in which they are to start, so many of them skipped.
        case turn(skipping: Int)
        /// By the order of their ends behind the end with this cursor, so many of them skipped.
        case ends(after: Int64, skipping: Int)
    }

    /// `nil` for all batches.
    package var batch: String?
    /// Empty for all.
    package var states: Set<JobState> = []
    /// Whether uploads alone are meant, or downloads alone; `nil` for both.
    package var isUpload: Bool?
    /// The origin of their servers: scheme, host and port.
    package var origin: String?
    /// The code of their failure, or of why they wait.
    package var code: String?
    /// A text in the job's name or its batch's.
    package var text: String?
    /// The one of this name.
    package var identity: String?
    /// The beginning of their names.
    package var identityPrefix: String?
    /// Not these.
    package var hidden: [Int64] = []
    /// Only these.
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
    /// The cursor of the end, of a job that has ended.
    package let cursor: Int64?
    /// Whether its transfer was under way when its process last told.
    package let isUnderWay: Bool

    package init(
        batch: String, directory: String, listed: ListedJob, isUpload: Bool, priority: Int, origin: String,
        host: String?, cursor: Int64?, isUnderWay: Bool
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
    }

    /// The number stays the job's as long as the queue has it, and no other job of the queue gets it.
    package var number: Int64 { listed.number }
}
