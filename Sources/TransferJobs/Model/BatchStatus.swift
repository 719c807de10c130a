/// How a batch stands, as any process can see it.
public struct BatchStatus: Sendable, Hashable {
    public let name: String
    /// The job file it came from.
    public let source: String?
    /// What its relative paths start from.
    public let directory: String
    public var total = 0
    public var done = 0
    public var failed = 0
    public var skipped = 0
    public var cancelled = 0
    public var paused = 0
    /// Not ended: ready, running, waiting or paused.
    public var remaining = 0
    /// Waiting for a time, a host, another job or a person.
    public var waiting = 0
    /// Bytes a second, while it runs.
    public var rate: Int64 = 0
    public var eta: Duration?
    /// The process that runs it.
    public var pid: Int32?
    /// Why the network keeps everything that is left from going on, while that is so.
    public var waitingFor: String?
    /// The servers that some of what is left waits for, those with the most of it first.
    public var hosts: [HostWait] = []
    /// When the first of a watched folder's failed files is tried again by itself, in milliseconds since 1970.
    public var again: Int64?
    private var rare = RareSettings()

    /// Of a batch that a watched folder has.
    public var folder: FolderStatus? {
        get { rare.folder }
        set { rare.folder = newValue }
    }

    /// The jobs that no worker may do, of a queue that several share.
    public var lacks: [WorkerLack] {
        get { rare.lacks }
        set { rare.lacks = newValue }
    }

    /// Transfers under way of all workers, of a queue that several share; 0 of others.
    public var active: Int {
        get { rare.active }
        set { rare.active = newValue }
    }

    /// When the first of the jobs that wait for their next attempt is tried again, in milliseconds since 1970.
    public var nextAttempt: Int64? {
        get { rare.nextAttempt }
        set { rare.nextAttempt = newValue }
    }

    private struct RareSettings: Sendable, Hashable {
        var active = 0
        var nextAttempt: Int64?
        var folder: FolderStatus?
        var lacks: [WorkerLack] = []
    }

    package init(
        name: String, source: String?, directory: String = "", total: Int = 0, done: Int = 0, failed: Int = 0,
        skipped: Int = 0, cancelled: Int = 0, paused: Int = 0, remaining: Int = 0, waiting: Int = 0, rate: Int64 = 0,
        eta: Duration? = nil, pid: Int32? = nil, waitingFor: String? = nil, hosts: [HostWait] = [], again: Int64? = nil
    ) {
        self.name = name
        self.source = source
        self.directory = directory
        self.total = total
        self.done = done
        self.failed = failed
        self.skipped = skipped
        self.cancelled = cancelled
        self.paused = paused
        self.remaining = remaining
        self.waiting = waiting
        self.rate = rate
        self.eta = eta
        self.pid = pid
        self.waitingFor = waitingFor
        self.hosts = hosts
        self.again = again
    }
}

/// A job that failed, as the queue remembers it.
public struct FailedJob: Sendable, Hashable {
    public var batch: String
    public var job: String
    public var code: String
    public var message: String
    public var status: Int?
    public var host: String?
    public var attempts: Int
    /// When it's tried again by itself, in milliseconds since 1970: a file of a folder that is watched. `nil` for what
    /// failed for good.
    public var again: Int64?
    /// `nil` where its record can't be read any more.
    public let route: JobRoute?
    /// The URL that was asked last, after redirects; redacted.
    public var finalURL: String?

    package init(
        batch: String, job: String, code: String, message: String, status: Int? = nil, host: String? = nil,
        attempts: Int, again: Int64? = nil, route: JobRoute? = nil
    ) {
        self.route = route
        self.batch = batch
        self.job = job
        self.code = code
        self.message = message
        self.status = status
        self.host = host
        self.attempts = attempts
        self.again = again
    }
}
