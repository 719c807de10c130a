/// The limits on the resources that clients can use.
public struct ServerLimits: Sendable, Hashable {
    /// The maximum length of a request's body, in bytes.
    public var bodyBytes = 64 << 20
    /// The maximum length of a call of aria2's interface in bytes; the body contains its secret.
    public var callBytes = 8 << 20
    /// The maximum length in bytes of a body whose client has shown no valid secret so far. A longer call of aria2's
    /// interface shows its secret within these bytes.
    public var strangerBytes = 64 << 10
    /// The maximum length of a request's head, in bytes.
    public var headBytes = 32 << 10
    /// The maximum number of simultaneous connections. A further one displaces the connection that has sent no complete
    /// request for longest; where all are being answered, it is closed.
    public var connections = 512
    /// The maximum number of clients that follow events at the same time.
    public var eventStreams = 256
    /// The maximum time from a request's first to its last byte. It also applies to a connection without a request, and
    /// to a client that does not read.
    public var requestTime = Duration.seconds(60)
    /// The maximum number of jobs in one request that is no batch.
    public var jobs = 10_000

    /// Creates the default limits.
    public init() {}
}
