/// A process that works on a queue beside others, as any process can see it.
public struct WorkerStatus: Sendable, Hashable {
    /// The name of its machine.
    public var host: String
    public var pid: Int32
    /// When it began, in milliseconds since 1970.
    public var began: Int64
    /// The rest of its lease; it's renewed three times in its length. Below zero nothing was heard of the worker for longer
    /// than that, and others take over what it has.
    public var lease: Duration
    /// Jobs that it has.
    public var claimed: Int
    /// Transfers under way.
    public var active: Int
    /// Bytes a second.
    public var rate: Int64
    /// Jobs that ask for others aren't done by it.
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
