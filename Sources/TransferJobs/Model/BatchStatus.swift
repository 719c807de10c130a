/// The state of a batch, as any process can read it.
public struct BatchStatus: Sendable, Hashable {
    /// The batch's name.
    public let name: String
    /// The job file from which the batch came; `nil` for none.
    public let source: String?
    /// The folder to which the batch's relative paths refer.
    public let directory: String
    /// The number of all jobs.
    public var total = 0
    /// The number of jobs that are done.
    public var done = 0
    /// The number of jobs that failed.
    public var failed = 0
    /// The number of jobs that were skipped.
    public var skipped = 0
    /// The number of jobs that were cancelled.
    public var cancelled = 0
    /// The number of jobs that are paused.
    public var paused = 0
    /// The number of jobs that have not ended: ready, running, waiting or paused.
    public var remaining = 0
    /// The number of jobs that wait for a time, a host, another job or a person.
    public var waiting = 0
    /// The current rate in bytes a second, while the batch runs.
    public var rate: Int64 = 0
    /// The estimated time until the batch is done; `nil` where it cannot be estimated.
    public var eta: Duration?
    /// The ID of the process that runs the batch; `nil` while none does.
    public var pid: Int32?
    /// The reason why the network holds back all remaining jobs; `nil` where it does not.
    public var waitingFor: String?
    /// The servers for which remaining jobs wait, those with the most jobs first.
    public var hosts: [HostWait] = []
    /// The time of the next automatic retry of a watched folder's failed file, in milliseconds since 1970; `nil` for
    /// none.
    public var again: Int64?

    /// The state of the watched folder to which the batch belongs; `nil` for other batches.
    public var folder: FolderStatus?

    /// The jobs that no worker may run, in a queue that several workers share.
    public var lacks: [WorkerLack] = []

    /// The number of active transfers of all workers in a shared queue; 0 for other queues.
    public var active: Int = 0

    /// The time of the next attempt of a waiting job, in milliseconds since 1970; `nil` for none.
    public var nextAttempt: Int64?

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

/// A failed job, as recorded in the queue.
public struct FailedJob: Sendable, Hashable {
    /// The batch's name.
    public var batch: String
    /// The job's identity.
    public var job: String
    /// The code of the error.
    public var code: String
    /// The error's description in words.
    public var message: String
    /// The HTTP status of the response; `nil` for none.
    public var status: Int?
    /// The host of the failed request; `nil` for none.
    public var host: String?
    /// The number of attempts made.
    public var attempts: Int
    /// The time of the automatic retry of a watched folder's file, in milliseconds since 1970; `nil` for a final
    /// failure.
    public var again: Int64?
    /// The job's source and destination; `nil` where the record cannot be read.
    public let route: JobRoute?
    /// The last URL requested, after redirects, without secrets.
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
