/// Bounds on what clients can take of a service.
public struct ServerLimits: Sendable, Hashable {
    /// Bytes of a request's body: of jobs that come together.
    public var bodyBytes = 64 << 20
    /// Bytes of a call of aria2's interface, whose secret is inside it.
    public var callBytes = 8 << 20
    /// Bytes of a request's head.
    public var headBytes = 32 << 10
    /// Connections at once; further ones wait until one ends.
    public var connections = 512
    /// Clients that follow events at once.
    public var eventStreams = 256
    /// From a request's first byte to its last; also for a connection without a request, and for a client that doesn't read.
    public var requestTime = Duration.seconds(60)
    /// Jobs of one request that isn't a batch.
    public var jobs = 10_000

    public init() {}
}
