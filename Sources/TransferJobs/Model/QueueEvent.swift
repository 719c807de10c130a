public import TransferCore

/// Something that happened to a batch or a job, on its way up.
public struct QueueEvent: Sendable {
    /// Wall-clock time in milliseconds since 1970.
    public var time: Int64
    /// The batch's name.
    public var batch: String
    /// Where to continue after this event; only on the ends of jobs.
    public var cursor: Int64?
    public var kind: Kind
    /// Where the file of a job that has ended comes from and goes to; `nil` for events that are no ends.
    public let route: JobRoute?

    /// - Parameter route: Of an end whose kind doesn't have it.
    public init(time: Int64, batch: String, cursor: Int64? = nil, kind: Kind, route: JobRoute? = nil) {
        self.time = time
        self.batch = batch
        self.cursor = cursor
        self.kind = kind
        self.route = route ?? kind.ownRoute
    }

    /// An event goes through many hands, so its kind is one reference.
    public indirect enum Kind: Sendable {
        case batchStarted(BatchTotals)
        /// Once a second while something runs or changes, once a minute otherwise.
        case batchProgress(BatchProgress)
        /// - Parameter transfers: How many were under way and were stopped by that.
        case batchWaiting(WaitReason, transfers: Int)
        /// Jobs that waited for the network go on, over these links.
        ///
        /// - Parameter transfers: How many of them were under way when the wait began.
        case batchContinues(links: [String], after: Duration, transfers: Int)
        case batchFinished(BatchTotals, duration: Duration)
        /// Somebody paused, resumed, cancelled or retried the batch, or one job of it.
        case commanded(QueueVerb, job: String?)
        case started(job: String, JobStart)
        /// At most twice a second for each job under way.
        case progress(job: String, JobProgress)
        case retrying(job: String, delay: Duration, TransferError)
        /// The bytes so far were given up; the text says why.
        case restarted(job: String, reason: String)
        /// A download's source isn't asked any more, or not for now; or it's asked again.
        case source(job: String, JobSource)
        /// A machine that redirects led to got its entry of `.netrc`.
        case authorized(job: String, NetrcUse)
        /// The kernel refused the congestion control of a job's connection; once for each algorithm in a run.
        case congestion(job: String, CongestionUse)
        case waiting(job: String, WaitReason)
        case finished(JobReceipt)
        /// Complete before this run.
        case kept(JobReceipt)
        /// A need failed.
        case skipped(job: String, need: String)
        /// By somebody.
        case cancelled(job: String)
        /// Of a watched folder, where nothing is left to upload: the file was deleted, or has changed since it was queued,
        /// and is queued anew as it is now.
        case dropped(job: String)
        case failed(JobFailure)
        /// Who is to be told of an end (`onFinish`) was told, or couldn't be.
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

/// How the jobs of a batch stand.
public struct BatchTotals: Sendable, Hashable {
    public var jobs = 0
    /// Complete by an earlier run; their servers were not asked.
    public var kept = 0
    /// Completed by this run.
    public var completed = 0
    public var failed = 0
    public var skipped = 0
    public var cancelled = 0
    /// Bytes that this run moved.
    public var bytes: Int64 = 0
    public init() {}

    /// Jobs that have not ended yet.
    public var remaining: Int { jobs - ended }

    package var ended: Int { kept + completed + failed + skipped + cancelled }
}

public struct BatchProgress: Sendable, Hashable {
    public var totals = BatchTotals()
    public var active = 0
    public var waiting = 0
    /// How many of those wait for ``waitReason``, where that is known.
    public var waitingForReason: Int?
    /// Bytes a second over the last seconds.
    public var rate: Int64 = 0
    /// `nil` while it can't be told.
    public var eta: Duration?
    /// Why most of what waits is waiting.
    public var waitReason: WaitReason?
    public init() {}
}

public struct JobStart: Sendable, Hashable {
    public var isUpload: Bool
    /// Redacted.
    public var url: String
    /// The byte the transfer goes on from; 0 from the start.
    public var offset: Int64
    /// 1 for the first.
    public var attempt: Int
    /// What of the bytes before ``offset`` another tool has fetched.
    public var adopted: AdoptedBytes?
    /// Whether certificates aren't checked for it (`tls.insecure`).
    public var isInsecure = false

    public init(isUpload: Bool, url: String, offset: Int64, attempt: Int, adopted: AdoptedBytes? = nil) {
        self.adopted = adopted
        self.isUpload = isUpload
        self.url = url
        self.offset = offset
        self.attempt = attempt
    }
}

public struct JobProgress: Sendable, Hashable {
    /// Bytes of the file that are there, or have been sent.
    public var completed: Int64
    /// `nil` while the server has not said.
    public var total: Int64?
    /// Bytes a second.
    public var rate: Int64
    public var phase: Phase
    /// Where the file comes from, of one that has several connections or has been asked of several URLs; empty otherwise.
    public var sources: [JobSource] = []
    /// Whether it goes to another server and not to a file: ``sources`` then names also a single one.
    public var isCopy = false
    /// The machine of the worker that has the job, where many share the queue; `nil` of a job of this process.
    public var worker: String?

    /// Connections that bring the file.
    public var connections: Int { sources.isEmpty ? 1 : sources.reduce(0) { $0 + $1.connections } }

    public init(completed: Int64, total: Int64?, rate: Int64, phase: Phase) {
        self.completed = completed
        self.total = total
        self.rate = rate
        self.phase = phase
    }

    public enum Phase: String, Sendable, Hashable {
        case connecting, transferring, verifying, saving
    }
}

/// What a job or a batch waits for.
public enum WaitReason: Sendable, Hashable {
    /// The origin asked for a pause, or keeps failing; or the proxy before it does.
    ///
    /// - Parameters:
    ///   - origin: Scheme, host and port of the one that is waited for.
    ///   - status: What the origin answered; `nil` where it didn't.
    ///   - isAsked: Whether the origin said how long (Retry-After). Otherwise the pause is the queue's own.
    case host(origin: String, status: Int?, message: String, remaining: Duration, isAsked: Bool = true)
    /// The backoff before the next attempt.
    case retry(remaining: Duration)
    case dependency(String)
    case slot
    /// Space on this machine's disk, or its owner's quota; the text says for which file, and it's looked for again then.
    ///
    /// - Parameter patience: The longest that it's waited for from now on; `nil` where that isn't known.
    case disk(String, remaining: Duration, patience: Duration? = nil)
    /// The hours at which the job may run; the text says when they begin.
    case schedule(String)
    /// The clock of this machine, which nobody has set yet.
    case clock(String)
    /// Descriptors of this process or of the machine, which others of its transfers have; the text says what there was none
    /// for.
    case openFiles(String)
    /// A way that leads there, or one that the job's rules allow; the text says which and why.
    case network(String)
    case paused
}

extension WaitReason {
    /// - Parameter error: What keeps the origin's jobs waiting.
    public static func held(by origin: String, _ error: TransferError, remaining: Duration) -> WaitReason {
        .host(
            origin: error.proxy ?? origin, status: error.serverStatus, message: error.message,
            remaining: remaining, isAsked: error.retryAfter != nil)
    }
}

/// A complete job.
public struct JobReceipt: Sendable, Hashable {
    public let batch: String
    public let job: String
    /// `nil` for what a program made without it.
    public let route: JobRoute?
    public var isUpload: Bool
    /// The size of the file.
    public var bytes: Int64
    /// What this run moved of it over the network.
    public var transferred: Int64
    public var seconds: Double
    /// `nil` when no checksum was asked for.
    public var digest: Checksum?
    /// Of a download: the sums of its pieces, made when it came; `transfer verify` compares the file with them.
    public var sums: PieceSumList?
    /// Bytes of another tool's file with which it began, and of which nothing proves that they are the server's; `nil`
    /// where there are none (``JobSpec/Adopt``).
    public var unproven: Int64? {
        get { doubts.adopted }
        set { doubts.adopted = newValue }
    }
    /// Whether nothing proves that the file came whole: its server told no length, only the end of the connection ended
    /// it, and no digest is known (``JobSpec/Download/strict``).
    public var isLengthUnproven: Bool {
        get { doubts.isLengthUnproven }
        set { doubts.isLengthUnproven = newValue }
    }
    /// The URLs that a download came from in the run that completed it, over several connections or after another URL had
    /// failed; empty otherwise.
    public var sources: [JobSource] {
        get { arrival.sources }
        set { arrival.sources = newValue }
    }
    /// What proves that the file came whole, and of a copy that its destination has it.
    public var proofs: [JobProof] {
        get { arrival.proofs }
        set { arrival.proofs = newValue }
    }
    /// Of a download that came just now, as its server said; without parameters, and not stored.
    public var mediaType: String? {
        get { arrival.mediaType }
        set { arrival.mediaType = newValue }
    }
    /// Of a download that came just now and was decoded (`compressed`): the coding it came in, such as `gzip`; not stored.
    public var contentCoding: String? {
        get { arrival.contentCoding }
        set { arrival.contentCoding = newValue }
    }
    /// ETag or Last-Modified of what was transferred.
    public var validator: String?
    /// After redirects; redacted.
    public var finalURL: String
    /// Where the file is (for an upload: where it came from).
    public var path: String
    public var status: Int
    /// The beginning of the answer to an upload, at most 64 KiB.
    public var response: String?
    /// As ``JobFailure/attempts`` counts.
    public var attempts: Int
    /// Whether the server said in this run that the file that was kept is the newest.
    public var isConfirmed = false
    private var doubts = Doubts()
    private var arrival = Arrival()

    /// Facts of the transfer that brought a download.
    private struct Arrival: Sendable, Hashable {
        var proofs: [JobProof] = []
        var sources: [JobSource] = []
        var mediaType: String?
        var contentCoding: String?
    }

    /// Facts of the file that nothing proves.
    private struct Doubts: Sendable, Hashable {
        /// The number of bytes of another tool's file.
        var adopted: Int64?
        var isLengthUnproven = false
    }

    public init(
        batch: String, job: String, isUpload: Bool, bytes: Int64, transferred: Int64, seconds: Double,
        digest: Checksum? = nil, validator: String? = nil, finalURL: String, path: String, status: Int,
        response: String? = nil, attempts: Int, unproven: Int64? = nil, route: JobRoute? = nil
    ) {
        self.route = route
        doubts.adopted = unproven
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

    /// Bytes a second over the whole of the transfer.
    public var rate: Double { seconds > 0 ? Double(transferred) / seconds : 0 }
}

/// A job that failed for good.
public struct JobFailure: Sendable {
    public var batch: String
    public var job: String
    public var error: TransferError
    /// How often the job was tried: each time that it was begun, the first one too, and at each of its URLs. What the network
    /// or a server's `Retry-After` broke off isn't counted, and the count begins anew when bytes have become durable.
    public var attempts: Int
    /// The host spoken to, or the proxy that failed; `nil` for a fault of this machine (a disk, a file).
    public var host: String?
    /// The URL that was asked last, after redirects; redacted. `nil` where none was asked.
    public var finalURL: String?
    /// After which time it's tried again by itself: a file of a folder that is watched, where nothing is given up for ever.
    public var again: Duration?
    /// The URLs that a download was asked of in the run that failed, where there were several; empty otherwise.
    public var sources: [JobSource] = []
    /// `nil` for a line that is no job.
    public let route: JobRoute?

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
