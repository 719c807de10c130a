import TransferEngine
import TransferJobs

/// The rates that several transfers share: that of all of them, and those of single origins.
struct RateBounds {
    private let total: RateLimiter?
    /// The strongest first.
    private let origins: [(pattern: OriginPattern, limiter: RateLimiter)]

    init(_ limits: BatchLimits = BatchLimits()) {
        total = limits.limitRate.map { RateLimiter(rate: $0) }
        origins = limits.origins.compactMap { origin in
            origin.limitRate.map { (origin.pattern, RateLimiter(rate: $0)) }
        }
    }

    /// The bounds that all transfers from or to a URL share: a job's own one isn't among them.
    func limiters(of url: String) -> [RateLimiter] {
        var limiters: [RateLimiter] = []
        if let total { limiters.append(total) }
        if let origin = origins.first(where: { $0.pattern.matches(url: url) }) { limiters.append(origin.limiter) }
        return limiters
    }
}
