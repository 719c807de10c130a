import TransferJobs

/// Options of a run, above all for jobs that were complete before.
public struct RunOptions: Sendable, Hashable {
    /// Ask the servers whether complete files are still the newest.
    public var refresh = false
    /// Hash complete files again; those whose digest isn't known are fetched again.
    public var verify = false
    /// Replace the limits the queue was opened with.
    public var limits: BatchLimits?
    /// Note in each file, in an extended attribute, where it came from: for batches that are forgotten when they have
    /// ended. Files that took long to arrive bear the note anyway.
    public var marksFiles = false
    /// Fail downloads that nothing proves to be whole (``/TransferJobs/JobSpec/Download/strict``), also of jobs that don't say so.
    public var strict = false
    /// Of jobs that were complete before, only these are done again, by their numbers: nothing else is looked at.
    package var repairs: Set<Int64>?
    public init() {}

    /// Adds the repairs of another batch.
    public mutating func add(_ other: RunOptions) {
        if let more = other.repairs { repairs = (repairs ?? []).union(more) }
    }
}

/// The outcome of a run.
public struct RunSummary: Sendable, Hashable {
    /// Counts by batch name.
    public var totals: [String: BatchTotals] = [:]
    /// Jobs that a later run continues.
    public var left = 0
    /// Messages for hooks (`onFinish`) that couldn't be told; the next run of their batches tries again.
    public var hooksFailed = 0
    /// Messages for hooks that the end of the run kept from being told.
    public var hooksLeft = 0
    public init() {}
}
