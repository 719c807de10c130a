/// A process that works on a shared queue, as any process can read it.
public struct WorkerStatus: Sendable, Hashable {
    /// The name of the worker's machine.
    public var host: String
    /// The worker's process ID.
    public var pid: Int32
    /// The time of the worker's start, in milliseconds since 1970.
    public var began: Int64
    /// The remaining time of the worker's lease, which is renewed three times in its length. Below zero, the worker has
    /// been silent for longer, and other workers take over its jobs.
    public var lease: Duration
    /// The number of jobs that the worker has claimed.
    public var claimed: Int
    /// The number of active transfers.
    public var active: Int
    /// The current rate in bytes a second.
    public var rate: Int64
    /// The worker's tags; it runs only jobs that need no others.
    public var tags = WorkerTags.none

    package init(
        host: String, pid: Int32, began: Int64, lease: Duration, claimed: Int = 0, active: Int = 0, rate: Int64 = 0
    ) {
        self.host = host
        self.pid = pid
        self.began = began
        self.lease = lease
        self.claimed = claimed
        self.active = active
        self.rate = rate
    }
}
