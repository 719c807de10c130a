public import TransferJobs

/// The state of a job and the reason of its wait, as `transfer why` tells them.
public struct JobExplanation: Sendable, Hashable {
    public let batch: String
    public let job: String
    public let state: JobState
    public let isUpload: Bool
    /// The congestion control of the connections that send it, where that isn't simply the system's, and why.
    public var congestion: String? {
        get { details.congestion }
        set { details.congestion = newValue }
    }
    public var reason: Reason
    var details = Details()
    /// For how long it has waited, where that's known.
    public var waited: Duration? {
        get { details.waited }
        set { details.waited = newValue }
    }
    /// The part of the file that is there already.
    public var held: Held?
    /// The part of an upload that a server holds, as it was last known.
    public var sent: Sent?
    /// The rules of the network that keep it.
    public var rules: [Rule] = []
    /// The verdict of the job's rules on each link of this machine; empty where the network is no reason.
    public var links: [Link] = []
    /// The error of its last attempt, while it waits for the next.
    public var lastError: String?
    /// How often it was tried, as `JobFailure.attempts` counts.
    public var attempts = 0
    /// Attempts that it may have: one and as many as its rules retry, at each of its URLs.
    public var attemptLimit = 11
    /// When the file of a complete upload from a watched folder is moved or deleted, or that is tried again, in milliseconds
    /// since 1970; `nil` where nothing is left to do with it.
    public var settles: Int64? {
        get { details.settles }
        set { details.settles = newValue }
    }
    /// The event that lets it start.
    public var starts: String?
    /// The process that runs the batch.
    public var pid: Int32?
    /// The job file that the batch came from.
    public var source: String?
    /// The places that the job's file comes from and goes to.
    public var route: JobRoute?
    /// The work of each URL of a download that has several connections or was asked of several URLs, now, or in the run that
    /// ended it; with those that weren't asked so far. Empty for others.
    public var sources: [JobSource] = []
    /// The URL that was asked last, after redirects, of a job that has ended; redacted.
    public var finalURL: String?

    struct Details: Sendable, Hashable {
        var waited: Duration?
        var settles: Int64?
        var congestion: String?
    }

    public enum Reason: Sendable, Hashable {
        /// A way that leads there, or one that its rules allow; the text says which and why.
        case network(String)
        /// The time at which its rules let it run; the text says until when.
        case schedule(String)
        /// The origin asked for a pause, or can't be reached; nothing remains while one of its jobs tries.
        case host(origin: String, status: Int?, message: String, remaining: Duration)
        /// The backoff before the next attempt.
        case retry(remaining: Duration)
        /// Space on this machine's disk; the text says for which file.
        case disk(String, remaining: Duration)
        /// A worker that may do it, where several share the queue.
        case worker(WorkerLack)
        /// Jobs that have to be complete before.
        case needs([Need])
        /// The job waits for its turn, while so many transfers are under way.
        case slot(active: Int)
        /// Nothing: its transfer is under way, as one of so many.
        case running(active: Int)
        /// Nothing: the process has taken it, and transfers it or is about to.
        case taken(active: Int)
        case paused
        /// A process that runs its batch.
        case stopped
        case done(path: String)
        /// - Parameter again: When it's tried again by itself, as files of watched folders are.
        case failed(code: String, message: String, host: String?, again: Duration?)
        case skipped(String)
        case cancelled
    }

    public struct Need: Sendable, Hashable {
        public var job: String
        public var state: JobState

        package init(job: String, state: JobState) {
            self.job = job
            self.state = state
        }
    }

    public struct Held: Sendable, Hashable {
        public var bytes: Int64
        /// `nil` when the server hasn't said.
        public var total: Int64?
        public var path: String

        package init(bytes: Int64, total: Int64? = nil, path: String) {
            self.bytes = bytes
            self.total = total
            self.path = path
        }
    }

    public struct Sent: Sendable, Hashable {
        public var bytes: Int64
        public var total: Int64
        /// As the job file has it: `tus`.
        public var uploadProtocol: String
    }

    public struct Rule: Sendable, Hashable {
        /// `network.metered = "forbid"`
        public var text: String
        /// The job file, line and column: `/etc/field.json:9:18`; `nil` for what a program submitted.
        public var place: String?
    }

    public struct Link: Sendable, Hashable {
        public var name: String
        /// `up, metered: refused by the rule`
        public var verdict: String
    }
}
