package import TransferJobs

/// The configured limits of single origins: concurrent jobs, and starts per second.
package struct OriginBounds: Sendable, Hashable {
    /// The limits, the strongest first.
    private var origins: [OriginLimits]
    /// Whether the starts at any origin are limited.
    package let hasRates: Bool
    /// The results of earlier lookups; an entry is `nil` for an origin without a limit.
    private var known: [String: PerHost?] = [:]

    package init(_ origins: [OriginLimits] = []) {
        self.origins = origins.filter { $0.perHost != nil || $0.requestRate != nil }
        hasRates = origins.contains { $0.requestRate != nil }
    }

    /// Returns the limit on concurrent jobs.
    ///
    /// - Parameter origin: Scheme, host and port.
    /// - Returns: `nil` if none is configured.
    package mutating func places(at origin: String) -> PerHost? {
        guard !origins.isEmpty else { return nil }
        if let places = known[origin] { return places }
        let places = origins.first { $0.perHost != nil && $0.pattern.matches(url: origin) }?.perHost
        known[origin] = .some(places)
        return places
    }

    /// Returns the limit on starts.
    ///
    /// - Returns: The starts per second; `nil` if none is configured.
    package func rate(at origin: String) -> Double? {
        guard hasRates else { return nil }
        return origins.first { $0.requestRate != nil && $0.pattern.matches(url: origin) }?.requestRate
    }

    package static func == (one: OriginBounds, other: OriginBounds) -> Bool { one.origins == other.origins }

    package func hash(into hasher: inout Hasher) { hasher.combine(origins) }
}
