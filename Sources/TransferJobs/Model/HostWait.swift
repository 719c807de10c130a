/// A server, or a proxy before it, for which transfers of a batch wait: it is unreachable, or asked for a pause.
public struct HostWait: Sendable, Hashable {
    /// The origin: scheme, host and port.
    public var origin: String
    /// The HTTP status of the server; `nil` where it could not be reached.
    public var status: Int?
    /// The reason for the wait, in words.
    public var message: String
    /// The start of the wait, in milliseconds since 1970.
    public var since: Int64
    /// The time until the next attempt; zero during an attempt.
    public var remaining = Duration.zero
    /// The number of the batch's transfers that wait for the server, including the one that makes an attempt.
    public var jobs = 0

    /// Creates a wait; `since` is in milliseconds since 1970.
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
