package import TransferJobs

/// How many jobs single origins take at a time by the word of a configuration.
package struct OriginBounds: Sendable, Hashable {
    /// The strongest first.
    private var origins: [OriginLimits]
    /// What was looked up before; `nil` in it for an origin of which nothing is said.
    private var known: [String: PerHost?] = [:]

    package init(_ origins: [OriginLimits] = []) { self.origins = origins.filter { $0.perHost != nil } }

    /// - Parameter origin: Scheme, host and port.
    /// - Returns: `nil` where nothing is said.
    package mutating func places(at origin: String) -> PerHost? {
        guard !origins.isEmpty else { return nil }
        if let places = known[origin] { return places }
        let places = origins.first { $0.pattern.matches(url: origin) }?.perHost
        known[origin] = .some(places)
        return places
    }

    package static func == (one: OriginBounds, other: OriginBounds) -> Bool { one.origins == other.origins }

    package func hash(into hasher: inout Hasher) { hasher.combine(origins) }
}
