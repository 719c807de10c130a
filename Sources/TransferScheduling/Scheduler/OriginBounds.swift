package import TransferJobs

/// How many jobs single origins take at a time, and how many may start there in a second, by the word of a configuration.
package struct OriginBounds: Sendable, Hashable {
    /// The strongest first.
    private var origins: [OriginLimits]
    /// Whether starts at some origin are bounded.
    package let hasRates: Bool
    /// What was looked up before; `nil` in it for an origin of which nothing is said.
    private var known: [String: PerHost?] = [:]

    package init(_ origins: [OriginLimits] = []) {
        self.origins = origins.filter { $0.perHost != nil || $0.requestRate != nil }
        hasRates = origins.contains { $0.requestRate != nil }
    }

    /// - Parameter origin: Scheme, host and port.
    /// - Returns: `nil` where nothing is said.
    package mutating func places(at origin: String) -> PerHost? {
        guard !origins.isEmpty else { return nil }
        if let places = known[origin] { return places }
        let places = origins.first { $0.perHost != nil && $0.pattern.matches(url: origin) }?.perHost
        known[origin] = .some(places)
        return places
    }

    /// - Returns: Starts in a second; `nil` where nothing is said.
    package func rate(at origin: String) -> Double? {
        guard hasRates else { return nil }
        return origins.first { $0.requestRate != nil && $0.pattern.matches(url: origin) }?.requestRate
    }

    package static func == (one: OriginBounds, other: OriginBounds) -> Bool { one.origins == other.origins }

    package func hash(into hasher: inout Hasher) { hasher.combine(origins) }
}
