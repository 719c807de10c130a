package import TransferJobs

/// How many jobs single origins take at a time by the word of a configuration.
package struct OriginBounds: Sendable, Hashable {
    /// The strongest first.
    private var origins: [OriginLimits]
    /// What was looked up before; 0 for an origin of which nothing is said.
    private var known: [String: Int] = [:]

    package init(_ origins: [OriginLimits] = []) { self.origins = origins.filter { $0.perHost != nil } }

    /// - Parameter origin: Scheme, host and port.
    /// - Returns: `nil` where nothing is said.
    package mutating func places(at origin: String) -> Int? {
        guard !origins.isEmpty else { return nil }
        let places = known[origin] ?? origins.first { $0.pattern.matches(url: origin) }?.perHost ?? 0
        known[origin] = places
        return places > 0 ? places : nil
    }

    package static func == (one: OriginBounds, other: OriginBounds) -> Bool { one.origins == other.origins }

    package func hash(into hasher: inout Hasher) { hasher.combine(origins) }
}
