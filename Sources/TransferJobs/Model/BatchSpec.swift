/// The rules of a whole batch of jobs.
public struct BatchSpec: Sendable, Hashable {
    /// The batch's identity; `nil` means the real path of its file.
    public var name: String?
    /// The limits on the batch's simultaneous work.
    public var limits = BatchLimits()
    /// The treatment of two downloads to one file; `nil` means ``Collisions/fail``.
    public var collisions: Collisions?
    /// The hook that is called when all jobs have ended; `nil` for none.
    public var onFinish: BatchHook?

    /// Creates a batch; without a name, the real path of its file identifies it.
    public init(name: String? = nil, limits: BatchLimits = BatchLimits()) {
        self.name = name
        self.limits = limits
    }
}

/// The limits on simultaneous work.
public struct BatchLimits: Sendable, Hashable {
    /// The number of simultaneous transfers where none is set.
    package static let concurrency = 64

    /// The number of simultaneous transfers, 1 to 10,000; `nil` means the default of 64.
    public var concurrency: Int?
    /// The number of simultaneous transfers to one host; `nil` means ``PerHost/automatic``.
    public var perHost: PerHost?
    /// The rate of all transfers together, in bytes a second; `nil` for no limit.
    public var limitRate: Int64?
    /// The number of requests that may start in a second; `nil` for no limit.
    public var requestRate: Double?
    /// The limits of single origins, the strongest first.
    public var origins: [OriginLimits] = []

    /// Creates limits; a value of `nil` means the default.
    public init(concurrency: Int? = nil, perHost: PerHost? = nil, limitRate: Int64? = nil, requestRate: Double? = nil) {
        self.concurrency = concurrency
        self.perHost = perHost
        self.limitRate = limitRate
        self.requestRate = requestRate
    }

    /// Creates limits with a fixed number of transfers to one host; `nil` sets none.
    public init(concurrency: Int? = nil, perHost: Int?, limitRate: Int64? = nil, requestRate: Double? = nil) {
        self.init(
            concurrency: concurrency, perHost: perHost.map(PerHost.exactly), limitRate: limitRate,
            requestRate: requestRate)
    }
}
