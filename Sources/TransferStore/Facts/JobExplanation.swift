public import TransferJobs

/// The state of a job and the reason of its wait, as `transfer why` shows them.
public struct JobExplanation: Sendable, Hashable {
    /// The name of the batch.
    public let batch: String
    /// The identity of the job in its batch.
    public let job: String
    /// The stored state of the job.
    public let state: JobState
    /// Whether the job is an upload.
    public let isUpload: Bool
    /// The congestion control of the connections that send the file, and the reason of that choice; `nil` where it is
    /// simply the system's.
    public var congestion: String? {
        get { details.congestion }
        set { details.congestion = newValue }
    }
    /// The reason of the job's state, or what it waits for.
    public var reason: Reason
    var details = Details()
    /// The time for which the job has waited; `nil` where that is unknown.
    public var waited: Duration? {
        get { details.waited }
        set { details.waited = newValue }
    }
    /// The part of the file that is on this machine already.
    public var held: Held?
    /// The part of an upload that a server holds, as it was last known.
    public var sent: Sent?
    /// The rules of the network that keep the job waiting.
    public var rules: [Rule] = []
    /// The verdict of the job's rules on each link of this machine; empty where the network is not the reason.
    public var links: [Link] = []
    /// The error of the last attempt, while the job waits for the next.
    public var lastError: String?
    /// The number of attempts so far, as `JobFailure.attempts` counts them.
    public var attempts = 0
    /// The number of attempts that the job may have: one and as many as its rules retry, at each of its URLs.
    public var attemptLimit = 11
    /// The time at which the file of a complete upload from a watched folder is moved or deleted, or at which that is
    /// tried again. Milliseconds since 1970; `nil` where nothing is left to do with the file.
    public var settles: Int64? {
        get { details.settles }
        set { details.settles = newValue }
    }
    /// The event that lets the job start.
    public var starts: String?
    /// The process that runs the batch; `nil` where none does.
    public var pid: Int32?
    /// The job file that the batch came from.
    public var source: String?
    /// The places that the job's file comes from and goes to.
    public var route: JobRoute?
    /// The work of each URL of a download that has several connections or was asked of several URLs. It is that of now,
    /// or of the run that ended the job, with the URLs that were not asked so far. Empty for other jobs.
    public var sources: [JobSource] = []
    /// The URL that was asked last, after redirects, of a job that has ended; without secrets.
    public var finalURL: String?

    struct Details: Sendable, Hashable {
        var waited: Duration?
        var settles: Int64?
        var congestion: String?
    }

    /// The reason of a job's state; for most waits, the thing that the job waits for.
    public enum Reason: Sendable, Hashable {
        /// A way to the host, or a link that the job's rules allow; the text says which and why.
        case network(String)
        /// The time at which the job's rules let it run; the text says until when.
        case schedule(String)
        /// The origin asked for a pause, or cannot be reached; nothing remains while one of its jobs tries.
        case host(origin: String, status: Int?, message: String, remaining: Duration)
        /// The backoff before the next attempt.
        case retry(remaining: Duration)
        /// Space on this machine's disk; the text names the file.
        case disk(String, remaining: Duration)
        /// A worker that may do the job, where several workers share the queue.
        case worker(WorkerLack)
        /// Jobs that must be complete before this one.
        case needs([Need])
        /// The job's turn, while `active` other transfers are under way.
        case slot(active: Int)
        /// Nothing: the transfer is under way, as one of `active` transfers.
        case running(active: Int)
        /// Nothing: a process has taken the job, and transfers it or is about to.
        case taken(active: Int)
        case paused
        /// A process that runs its batch.
        case stopped
        case done(path: String)
        /// - Parameter again: The time until the next automatic attempt, which files of watched folders get.
        case failed(code: String, message: String, host: String?, again: Duration?)
        case skipped(String)
        case cancelled
    }

    /// A job that must be complete before another one starts.
    public struct Need: Sendable, Hashable {
        /// The identity of the needed job.
        public var job: String
        /// The state of the needed job.
        public var state: JobState

        package init(job: String, state: JobState) {
            self.job = job
            self.state = state
        }
    }

    /// The part of a download's file that is on this machine already.
    public struct Held: Sendable, Hashable {
        /// The number of bytes that are there.
        public var bytes: Int64
        /// The size of the whole file in bytes; `nil` when the server has not declared it.
        public var total: Int64?
        /// The path of the partial file.
        public var path: String

        package init(bytes: Int64, total: Int64? = nil, path: String) {
            self.bytes = bytes
            self.total = total
            self.path = path
        }
    }

    /// The part of an upload that a server holds.
    public struct Sent: Sendable, Hashable {
        /// The number of bytes that the server has confirmed.
        public var bytes: Int64
        /// The size of the whole file in bytes.
        public var total: Int64
        /// The name of the upload protocol as in the job file: `tus`.
        public var uploadProtocol: String
    }

    /// A rule of the job that decides which network it may use.
    public struct Rule: Sendable, Hashable {
        /// The rule as in the job file: `network.metered = "forbid"`.
        public var text: String
        /// The job file, line and column, as in `/etc/field.json:9:18`; `nil` for a job that a program submitted.
        public var place: String?
    }

    /// A link of this machine, with the verdict of the job's rules on it.
    public struct Link: Sendable, Hashable {
        /// The name of the link, such as `eth0`.
        public var name: String
        /// The verdict in words: `up, metered: refused by the rule`.
        public var verdict: String
    }
}
