/// How a batch stands, as any process can see it.
public struct BatchStatus: Sendable, Hashable {
    public let name: String
    /// The job file it came from.
    public let source: String?
    /// What its relative paths start from.
    public var directory = ""
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
}
