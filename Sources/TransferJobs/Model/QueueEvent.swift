public import TransferCore

/// An event of a batch or a job, for listeners.
public struct QueueEvent: Sendable {
    /// The wall-clock time in milliseconds since 1970.
    public var time: Int64
    /// The batch's name.
    public var batch: String
    /// The position after which reading continues; only for the ends of jobs.
    public var cursor: Int64?
    /// The kind of the event, with its data.
    public var kind: Kind
    /// The source and the destination of a job that has ended; `nil` for other events.
    public let route: JobRoute?

    /// Creates an event.
    ///
    /// - Parameter route: The route for an end whose kind does not contain it.
    public init(time: Int64, batch: String, cursor: Int64? = nil, kind: Kind, route: JobRoute? = nil) {
        self.time = time
        self.batch = batch
        self.cursor = cursor
        self.kind = kind
        self.route = route ?? kind.ownRoute
    }

    /// The kind of an event, stored behind a reference because events are passed on many times.
    public indirect enum Kind: Sendable {
        case batchStarted(BatchTotals)
        /// The progress of the batch, once a second while jobs run or change, and otherwise once a minute.
        case batchProgress(BatchProgress)
        /// A wait of the whole batch.
        ///
        /// - Parameter transfers: The number of active transfers that the wait stopped.
        case batchWaiting(WaitReason, transfers: Int)
        /// The end of a wait for the network; the jobs continue over these links.
        ///
        /// - Parameter transfers: The number of jobs that were active when the wait began.
        case batchContinues(links: [String], after: Duration, transfers: Int)
        case batchFinished(BatchTotals, duration: Duration)
        /// A command of a user that paused, resumed, cancelled or retried the batch or one of its jobs.
        case commanded(QueueVerb, job: String?)
        case started(job: String, JobStart)
        /// The progress of an active job, at most twice a second.
        case progress(job: String, JobProgress)
        case retrying(job: String, delay: Duration, TransferError)
        /// The loss of all bytes transferred so far, for the reason given in the text.
        case restarted(job: String, reason: String)
        /// A change of a download's source: it is paused, dropped, or used again.
        case source(job: String, JobSource)
        /// The use of a `.netrc` entry for a machine to which redirects led.
        case authorized(job: String, NetrcUse)
        /// The kernel refused the congestion control of a job's connection. It is reported once for each algorithm in a
        /// run.
        case congestion(job: String, CongestionUse)
        case waiting(job: String, WaitReason)
        case finished(JobReceipt)
        /// The end of a job that was complete before this run.
        case kept(JobReceipt)
        /// The end of a job that was not run because a job that it needs failed.
        case skipped(job: String, need: String)
        /// The end of a job that a user cancelled.
        case cancelled(job: String)
        /// The end of a watched folder's job without an upload: the file was deleted, or has changed since it was
        /// queued. A changed file is queued again in its new version.
        case dropped(job: String)
        case failed(JobFailure)
        /// The result of calling a hook (`onFinish`).
        case hook(HookNews)

        fileprivate var ownRoute: JobRoute? {
            switch self {
            case .finished(let receipt), .kept(let receipt): receipt.route
            case .failed(let failure): failure.route
            default: nil
            }
        }
    }
}

/// The numbers of a batch's jobs by their state.
public struct BatchTotals: Sendable, Hashable {
    /// The number of all jobs.
    public var jobs = 0
    /// The number of jobs completed by an earlier run, whose servers were not asked.
    public var kept = 0
    /// The number of jobs completed by this run.
    public var completed = 0
    /// The number of jobs that failed.
    public var failed = 0
    /// The number of jobs that were skipped.
    public var skipped = 0
    /// The number of jobs that were cancelled.
    public var cancelled = 0
    /// The number of bytes that this run transferred.
    public var bytes: Int64 = 0
    /// Creates totals of zero.
    public init() {}

    /// The number of jobs that have not ended.
    public var remaining: Int { jobs - ended }

    package var ended: Int { kept + completed + failed + skipped + cancelled }
}

/// The progress of a batch.
public struct BatchProgress: Sendable, Hashable {
    /// The numbers of jobs by their state.
    public var totals = BatchTotals()
    /// The number of active transfers.
    public var active = 0
    /// The number of waiting jobs.
    public var waiting = 0
    /// The number of jobs that wait for ``waitReason``, where it is known.
    public var waitingForReason: Int?
    /// The rate over the last seconds, in bytes a second.
    public var rate: Int64 = 0
    /// The estimated time until the batch is done; `nil` while it cannot be estimated.
    public var eta: Duration?
    /// The reason for which most of the waiting jobs wait.
    public var waitReason: WaitReason?
    /// Creates the progress of an empty batch.
    public init() {}
}

/// The start of a job's attempt.
public struct JobStart: Sendable, Hashable {
    /// Whether the job is an upload.
    public var isUpload: Bool
    /// The URL, without secrets.
    public var url: String
    /// The offset in bytes from which the transfer continues; 0 for a start from the beginning.
    public var offset: Int64
    /// The number of the attempt, from 1.
    public var attempt: Int
    /// The bytes before ``offset`` that another tool fetched; `nil` for none.
    public var adopted: AdoptedBytes?
    /// Whether certificates are not checked for the job (`tls.insecure`).
    public var isInsecure = false

    /// Creates the start of an attempt; attempts count from 1.
    public init(isUpload: Bool, url: String, offset: Int64, attempt: Int, adopted: AdoptedBytes? = nil) {
        self.adopted = adopted
        self.isUpload = isUpload
        self.url = url
        self.offset = offset
        self.attempt = attempt
    }
}

/// The progress of a job.
public struct JobProgress: Sendable, Hashable {
    /// The number of bytes of the file that have been received or sent.
    public var completed: Int64
    /// The size of the file in bytes; `nil` until the server has reported it.
    public var total: Int64?
    /// The current rate in bytes a second.
    public var rate: Int64
    /// The phase of the transfer.
    public var phase: Phase
    /// The sources of a file that has several connections or was requested from several URLs; empty otherwise.
    public var sources: [JobSource] = []
    /// Whether the transfer goes to another server and not to a file; ``sources`` then lists even a single source.
    public var isCopy = false
    /// The machine of the worker that runs the job, in a shared queue; `nil` for a job of this process.
    public var worker: String?

    /// The number of connections that transfer the file.
    public var connections: Int { sources.isEmpty ? 1 : sources.reduce(0) { $0 + $1.connections } }

    /// Creates a progress; `rate` is in bytes a second.
    public init(completed: Int64, total: Int64?, rate: Int64, phase: Phase) {
        self.completed = completed
        self.total = total
        self.rate = rate
        self.phase = phase
    }

    /// The phase of a transfer.
    public enum Phase: String, Sendable, Hashable {
        case connecting, transferring, verifying, saving
    }
}

/// The reason for which a job or a batch waits.
public enum WaitReason: Sendable, Hashable {
    /// A pause that the origin, or the proxy before it, asked for, or one after its repeated failures.
    ///
    /// - Parameters:
    ///   - origin: The scheme, host and port of the server concerned.
    ///   - status: The status of the origin's response; `nil` without a response.
    ///   - isAsked: Whether the origin set the duration (Retry-After); otherwise the queue chose it.
    case host(origin: String, status: Int?, message: String, remaining: Duration, isAsked: Bool = true)
    /// The delay before the next attempt.
    case retry(remaining: Duration)
    case dependency(String)
    case slot
    /// A lack of disk space, or of the owner's quota. The text names the file; the space is checked again after
    /// `remaining`.
    ///
    /// - Parameter patience: The longest further wait for space; `nil` where it is not known.
    case disk(String, remaining: Duration, patience: Duration? = nil)
    /// The schedule of the job; the text says when its next window begins.
    case schedule(String)
    /// The clock of this machine, which has not been set yet.
    case clock(String)
    /// A lack of file descriptors in this process or on the machine, because other transfers use them. The text names
    /// the purpose of the missing one.
    case openFiles(String)
    /// A lack of a usable or permitted network path; the text says which and why.
    case network(String)
    case paused
}

extension WaitReason {
    /// Returns the wait for an origin.
    ///
    /// - Parameter error: The error because of which the origin's jobs wait.
    public static func held(by origin: String, _ error: TransferError, remaining: Duration) -> WaitReason {
        .host(
            origin: error.proxy ?? origin, status: error.serverStatus, message: error.message,
            remaining: remaining, isAsked: error.retryAfter != nil)
    }
}

/// A completed job.
public struct JobReceipt: Sendable, Hashable, CustomStringConvertible {
    /// The batch's name.
    public let batch: String
    /// The job's identity.
    public let job: String
    /// The job's source and destination; `nil` for a receipt that a program created without them.
    public let route: JobRoute?
    /// Whether the job is an upload.
    public var isUpload: Bool
    /// The size of the file in bytes.
    public var bytes: Int64
    /// The number of the file's bytes that this run transferred over the network.
    public var transferred: Int64
    /// The duration of the transfer in seconds.
    public var seconds: Double
    /// The file's digest; `nil` where no checksum was requested.
    public var digest: Checksum?
    /// The sums of a download's pieces, made as they arrived; `transfer verify` compares the file with them.
    public var sums: PieceSumList?
    /// The number of leading bytes from another tool's file that nothing proves to be the server's; `nil` for none
    /// (``JobSpec/Adopt``).
    public var unproven: Int64?
    /// Whether nothing proves that the file is complete: the server reported no length, only the end of the connection
    /// ended it, and no digest is known (``JobSpec/Download/strict``).
    public var isLengthUnproven: Bool = false
    /// The source URLs of a download in the run that completed it, over several connections or after a failure of
    /// another URL; empty otherwise.
    public var sources: [JobSource] = []
    /// The proofs that the file is complete, and for a copy that its destination has it.
    public var proofs: [JobProof] = []
    /// The media type of a download in this run, as its server reported it, without parameters; not stored.
    public var mediaType: String?
    /// The coding in which a download of this run arrived before it was decoded (`compressed`), such as `gzip`; not
    /// stored.
    public var contentCoding: String?
    /// The ETag or Last-Modified of the transferred file.
    public var validator: String?
    /// The URL after redirects, without secrets.
    public var finalURL: String
    /// The path of the file; for an upload, the path of its source.
    public var path: String
    /// The HTTP status of the response.
    public var status: Int
    /// The beginning of the response to an upload, at most 64 KiB.
    public var response: String?
    /// The number of attempts, counted as in ``JobFailure/attempts``.
    public var attempts: Int
    /// Whether the server confirmed in this run that the kept file is current.
    public var isConfirmed = false

    /// Creates a receipt; `bytes` and `transferred` are numbers of bytes.
    public init(
        batch: String, job: String, isUpload: Bool, bytes: Int64, transferred: Int64, seconds: Double,
        digest: Checksum? = nil, validator: String? = nil, finalURL: String, path: String, status: Int,
        response: String? = nil, attempts: Int, unproven: Int64? = nil, route: JobRoute? = nil
    ) {
        self.route = route
        self.unproven = unproven
        self.batch = batch
        self.job = job
        self.isUpload = isUpload
        self.bytes = bytes
        self.transferred = transferred
        self.seconds = seconds
        self.digest = digest
        self.validator = validator
        self.finalURL = finalURL
        self.path = path
        self.status = status
        self.response = response
        self.attempts = attempts
    }

    /// The receipt as a line: `b/x: downloaded 1024 bytes to /srv/x in 0.35 s`.
    public var description: String {
        let verb = isUpload ? "uploaded" : "downloaded"
        let place = isUpload ? "from \(path) to \(finalURL)" : "to \(path)"
        let time = (seconds * 100).rounded() / 100
        return "\(batch)/\(job): \(verb) \(CountText.words(Int(bytes), "byte")) \(place) in \(time) s"
    }

    /// The average rate of the transfer, in bytes a second.
    public var rate: Double { seconds > 0 ? Double(transferred) / seconds : 0 }
}

/// A job that failed permanently.
public struct JobFailure: Sendable {
    /// The batch's name.
    public var batch: String
    /// The job's identity.
    public var job: String
    /// The last error.
    public var error: TransferError
    /// The number of attempts, including the first, at all of the job's URLs. Attempts that the network or a server's
    /// `Retry-After` interrupted do not count, and the count restarts once bytes have become durable.
    public var attempts: Int
    /// The host of the failed request, or the failed proxy; `nil` for a fault of this machine (a disk, a file).
    public var host: String?
    /// The last URL requested, after redirects, without secrets; `nil` where none was requested.
    public var finalURL: String?
    /// The delay of the automatic retry, for a file of a watched folder, where no failure is final; `nil` for other
    /// jobs.
    public var again: Duration?
    /// The URLs from which a download was requested in the failed run, where there were several; empty otherwise.
    public var sources: [JobSource] = []
    /// The job's source and destination; `nil` for a line that is no job.
    public let route: JobRoute?

    /// Creates a failure; `again` is the delay of an automatic retry.
    public init(
        batch: String, job: String, error: TransferError, attempts: Int, host: String?, again: Duration? = nil,
        finalURL: String? = nil, route: JobRoute? = nil
    ) {
        self.route = route
        self.finalURL = finalURL
        self.batch = batch
        self.job = job
        self.error = error
        self.attempts = attempts
        self.host = host
        self.again = again
    }
}
