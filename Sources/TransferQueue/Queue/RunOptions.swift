import TransferJobs

/// The options of a run, mainly for jobs that were complete before.
public struct RunOptions: Sendable, Hashable {
    /// Whether servers are asked if complete files are still the newest version.
    public var refresh = false
    /// Whether complete files are hashed again; those without a known digest are fetched again.
    public var verify = false
    /// The limits that replace those the queue was opened with.
    public var limits: BatchLimits?
    /// Whether each file gets its origin in an extended attribute, for batches that are forgotten when they end. Files
    /// that took long to arrive get it anyway.
    public var marksFiles = false
    /// Whether downloads without a proof of completeness fail (``/TransferJobs/JobSpec/Download/strict``), even if
    /// their jobs do not demand it.
    public var strict = false
    /// The numbers of the complete jobs to do again; other complete jobs are not checked at all.
    package var repairs: Set<Int64>?
    /// Creates the default options.
    public init() {}

    /// Adds the repairs of another batch.
    public mutating func add(_ other: RunOptions) {
        if let more = other.repairs { repairs = (repairs ?? []).union(more) }
    }
}

/// The outcome of a run.
public struct RunSummary: Sendable, Hashable {
    /// The counts, by batch name.
    public var totals: [String: BatchTotals] = [:]
    /// The number of jobs that a later run continues.
    public var left = 0
    /// The number of messages for hooks (`onFinish`) that could not be delivered. The next run of their batches tries
    /// again.
    public var hooksFailed = 0
    /// The number of messages for hooks that were not delivered because the run ended.
    public var hooksLeft = 0
    /// Creates an empty summary.
    public init() {}
}
