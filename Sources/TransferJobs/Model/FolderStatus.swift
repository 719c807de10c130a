/// How a watched folder stands, as any process can see it.
public struct FolderStatus: Sendable, Hashable {
    /// The folder.
    public let path: String
    /// Where its files go: a template, redacted; `nil` where no version that knew of it has watched the folder.
    public let url: String?
    /// Its last upload that was confirmed, with the file's path beneath the folder; what was pruned isn't known.
    public var last: File?
    /// Files whose upload is still to come or under way.
    public var waiting = 0
    /// Whether more may wait in the folder than were counted: a thousand at most are taken at a time.
    public var isWaitingLeast: Bool { waiting >= WatchPlan.fewestWhenFull }
    /// The sizes of those together.
    public var waitingBytes: Int64 = 0
    /// The one of those that was queued first.
    public var oldest: File?
    /// Confirmed files that are to be moved or deleted.
    public var unsettled = 0
    /// When the first of those is tried, or tried again: milliseconds since 1970.
    public var unsettledNext: Int64?
    /// The last error of one that isn't uploaded.
    public var error: Failure?

    public struct File: Sendable, Hashable {
        /// Beneath the folder.
        public var path: String
        /// When it was uploaded, or queued: milliseconds since 1970.
        public var time: Int64

        package init(path: String, time: Int64) {
            self.path = path
            self.time = time
        }
    }

    public struct Failure: Sendable, Hashable {
        /// The job's ID in the folder's batch.
        public var job: String
        public var code: String
        public var message: String
        /// Milliseconds since 1970.
        public var time: Int64?

        package init(job: String, code: String, message: String, time: Int64?) {
            self.job = job
            self.code = code
            self.message = message
            self.time = time
        }
    }

    package init(path: String, url: String?) {
        self.path = path
        self.url = url
    }
}
