/// What holds for a whole batch of jobs.
public struct BatchSpec: Sendable, Hashable {
    /// The batch's identity; `nil` means the real path of its file.
    public var name: String?
    public var limits = BatchLimits()
    /// What becomes of two downloads to one file; `nil` is ``Collisions/fail``.
    public var collisions: Collisions?
    /// Who is told when all its jobs have ended.
    public var onFinish: BatchHook?

    public init(name: String? = nil, limits: BatchLimits = BatchLimits()) {
        self.name = name
        self.limits = limits
    }
}

/// Bounds on the work under way at one time.
public struct BatchLimits: Sendable, Hashable {
    /// Transfers under way at once where nobody says a number.
    package static let concurrency = 64

    /// Transfers under way at once; 64 by default, 1 to 10,000.
    public var concurrency: Int?
    /// Transfers under way at once to one host; ``PerHost/automatic`` by default.
    public var perHost: PerHost?
    /// Bytes a second for all transfers together.
    public var limitRate: Int64?
    /// Requests started in a second.
    public var requestRate: Double?
    /// Bounds of single origins, the strongest first.
    public var origins: [OriginLimits] = []

    public init(concurrency: Int? = nil, perHost: PerHost? = nil, limitRate: Int64? = nil, requestRate: Double? = nil) {
        self.concurrency = concurrency
        self.perHost = perHost
        self.limitRate = limitRate
        self.requestRate = requestRate
    }

    /// The same with a number of transfers to one host; `nil` says nothing.
    public init(concurrency: Int? = nil, perHost: Int?, limitRate: Int64? = nil, requestRate: Double? = nil) {
        self.init(
            concurrency: concurrency, perHost: perHost.map(PerHost.exactly), limitRate: limitRate,
            requestRate: requestRate)
    }
}
