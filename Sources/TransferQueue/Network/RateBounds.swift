import TransferEngine
import TransferJobs

/// The rate limits that several transfers share: that of all transfers, and those of single origins.
struct RateBounds {
    private let total: RateLimiter?
    /// The limits of origins, the strongest first.
    private let origins: [(pattern: OriginPattern, limiter: RateLimiter)]

    init(_ limits: BatchLimits = BatchLimits()) {
        total = limits.limitRate.map { RateLimiter(rate: $0) }
        origins = limits.origins.compactMap { origin in
            origin.limitRate.map { (origin.pattern, RateLimiter(rate: $0)) }
        }
    }

    /// Returns the limits that all transfers of a URL share; a job's own limit is not among them.
    func limiters(of url: String) -> [RateLimiter] {
        var limiters: [RateLimiter] = []
        if let total { limiters.append(total) }
        if let origin = origins.first(where: { $0.pattern.matches(url: url) }) { limiters.append(origin.limiter) }
        return limiters
    }
}
