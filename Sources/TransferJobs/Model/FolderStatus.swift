/// The state of a watched folder, as any process can read it.
public struct FolderStatus: Sendable, Hashable {
    /// The folder's path.
    public let path: String
    /// The template of the files' URLs, without secrets; `nil` where only versions that did not record it have watched
    /// the folder.
    public let url: String?
    /// The last confirmed upload, with the file's path beneath the folder; pruned records are not considered.
    public var last: File?
    /// The number of files whose upload is pending or active.
    public var waiting = 0
    /// Whether the folder may hold more files than were counted, since at most a thousand are queued at a time.
    public var isWaitingLeast: Bool { waiting >= WatchPlan.fewestWhenFull }
    /// The total size of the waiting files, in bytes.
    public var waitingBytes: Int64 = 0
    /// The waiting file that was queued first.
    public var oldest: File?
    /// The number of confirmed files that are still to be moved or deleted.
    public var unsettled = 0
    /// The time of the next attempt to move or delete one of those, in milliseconds since 1970.
    public var unsettledNext: Int64?
    /// The last error of a file that is not uploaded.
    public var error: Failure?

    /// A file of the watched folder, with the time of an event.
    public struct File: Sendable, Hashable {
        /// The file's path beneath the folder.
        public var path: String
        /// The time of the upload or of the queueing, in milliseconds since 1970.
        public var time: Int64

        package init(path: String, time: Int64) {
            self.path = path
            self.time = time
        }
    }

    /// The error of a file's upload.
    public struct Failure: Sendable, Hashable {
        /// The job's ID in the folder's batch.
        public var job: String
        /// The code of the error.
        public var code: String
        /// The error's description in words.
        public var message: String
        /// The time of the error, in milliseconds since 1970.
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
