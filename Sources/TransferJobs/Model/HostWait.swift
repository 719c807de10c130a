/// A server that transfers of a batch wait for, or the proxy before it: it can't be reached, or asked for a pause.
public struct HostWait: Sendable, Hashable {
    /// Scheme, host and port.
    public var origin: String
    /// The server's status; `nil` where it couldn't be reached.
    public var status: Int?
    public var message: String
    /// Since when, in milliseconds since 1970.
    public var since: Int64
    /// Until the next try; zero while a transfer tries.
    public var remaining = Duration.zero
    /// Transfers of the batch that wait for it; the one that tries is among them.
    public var jobs = 0

    public init(
        origin: String, status: Int?, message: String, since: Int64, remaining: Duration = .zero, jobs: Int = 0
    ) {
        self.origin = origin
        self.status = status
        self.message = message
        self.since = since
        self.remaining = remaining
        self.jobs = jobs
    }
}
