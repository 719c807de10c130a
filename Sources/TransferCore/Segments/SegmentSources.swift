/// The URLs from which one file is fetched simultaneously, ranked by their performance. The type performs no I/O.
public struct SegmentSources: Sendable {
    /// A source of the file.
    public struct Source: Sendable, Hashable {
        /// The source's URL.
        public let url: String
        /// The source's validator of its version; `nil` before its first response.
        public var validator: Validator?
        /// The number of open connections to the source.
        public fileprivate(set) var connections = 0
        /// The smoothed rate of one connection, in bytes a second; `nil` before the first bytes.
        public fileprivate(set) var rate: Double?
        /// The rounds of failures since the source last sent something. Connections that were open together fail in one
        /// round.
        public fileprivate(set) var failures = 0
        /// The end of the last round of failures.
        fileprivate var failed = -Double.infinity
        /// The reason why no more requests are sent to the source; `nil` while it is used.
        public fileprivate(set) var dropped: String?
        /// The time from which the source may be used again after a failure, in seconds on the caller's clock.
        public fileprivate(set) var notBefore = 0.0
        /// The time until which the server asked for a pause.
        fileprivate var pausedUntil = 0.0
        fileprivate var measured = 0.0
    }

    /// The sources, in the order of their URLs.
    public private(set) var all: [Source]
    /// Whether the connection that began the file at the first source is active; ``opened(_:)`` does not count it.
    public var isFirstUnderWay = false

    /// The number of successive failures after which a source is dropped.
    static let patience = 3
    /// The seconds for which a failed source is not used; each further round doubles them.
    static let pause = 5.0
    /// The number of bytes that justify a connection's request. A shorter part counts where it arrived completely.
    public static let fruitful = ProgressRule.leastBytes
    /// The share of the best source's rate below which a source gets no more connections.
    static let slowest = 0.1

    /// The seconds after which the rate of a source without connections should be measured again.
    static let memory = 30.0

    /// Creates sources.
    ///
    /// - Parameters:
    ///   - urls: The URLs; the first is the one with which the file began.
    ///   - hasFailed: Whether an earlier attempt received nothing from the first one, which then gets only one
    ///     connection until it sends something.
    public init(_ urls: [String], hasFailed: Bool = false) {
        all = urls.map { Source(url: $0) }
        if hasFailed, !all.isEmpty { all[0].failures = 1 }
    }

    /// The source with this index.
    public subscript(index: Int) -> Source { all[index] }

    /// Returns the source for a new connection.
    ///
    /// A source that has not been used yet, or not for a long time, precedes the best one once. Among equal sources,
    /// the one with fewer connections is chosen.
    ///
    /// - Parameter isLast: Whether no other connection is active; a source that has just failed is then used too.
    /// - Returns: `nil` where no source may be used now.
    public func next(now: Double, isLast: Bool = false) -> Int? {
        var usable = all.indices.filter { index in
            let source = all[index]
            guard source.dropped == nil, isLast || source.notBefore <= now else { return false }
            // A single connection shows whether a failed source works again.
            return source.failures == 0 || source.connections == 0
        }
        // A server that asked for a pause is left alone as long as another one may be asked.
        let unpaused = usable.filter { all[$0].pausedUntil <= now }
        if !unpaused.isEmpty { usable = unpaused }
        if let fresh = usable.first(where: { isUnknown($0, now) }) { return fresh }
        let best = usable.compactMap { all[$0].rate }.max() ?? 0
        return usable.filter { all[$0].rate.map { $0 >= best * Self.slowest } ?? true }.max { one, other in
            // The value of a source that divides its rate among its connections falls with each of them.
            worth(one) < worth(other)
        }
    }

    /// Returns whether the rate of a source is unknown or outdated.
    private func isUnknown(_ index: Int, _ now: Double) -> Bool {
        let source = all[index]
        let isOld = source.rate == nil || now - source.measured >= Self.memory
        return isOld && connections(index) == 0 && source.failures == 0
    }

    private func worth(_ index: Int) -> Double { (all[index].rate ?? 1) / Double(1 + connections(index)) }

    private func connections(_ index: Int) -> Int {
        all[index].connections + (index == 0 && isFirstUnderWay ? 1 : 0)
    }

    /// Returns whether connections to this source are much slower than others, so that they are closed first.
    public func isSlow(_ index: Int) -> Bool {
        let best = all.compactMap(\.rate).max() ?? 0
        return (all[index].rate ?? best) < best * Self.slowest
    }

    /// Returns whether another source has sent data.
    public func isBetter(than index: Int) -> Bool {
        all.indices.contains { $0 != index && all[$0].dropped == nil && all[$0].rate != nil }
    }

    /// Records that a source's server asks for a pause until that time, in seconds on the caller's clock.
    public mutating func pause(_ index: Int, until time: Double) {
        all[index].notBefore = max(all[index].notBefore, time)
        all[index].pausedUntil = max(all[index].pausedUntil, time)
    }

    /// Records a new connection to a source.
    public mutating func opened(_ index: Int) { all[index].connections += 1 }

    /// Records the end of a connection.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes that the connection received within `seconds`.
    ///   - fault: The reason of a failure; `nil` for a connection that was no longer needed.
    public mutating func closed(_ index: Int, bytes: Int64, seconds: Double, fault: String?, now: Double) {
        all[index].connections -= 1
        if bytes > 0 {
            measured(
                index, Double(bytes) / max(0.001, seconds), now: now, of: fault == nil ? Self.fruitful : bytes)
        }
        // A response that breaks off after enough bytes is requested again at once.
        guard let fault, bytes < Self.fruitful else { return }
        guard now - seconds >= all[index].failed else { return }
        all[index].failures += 1
        all[index].failed = now
        all[index].notBefore = now + Self.pause * Double(1 << (all[index].failures - 1))
        if all[index].failures >= Self.patience { all[index].dropped = fault }
    }

    /// Records a measured rate.
    ///
    /// - Parameters:
    ///   - rate: The rate of one connection in bytes a second.
    ///   - now: The time in seconds of any monotonic clock.
    ///   - bytes: The number of bytes that the connection has received so far. A few bytes do not prove that the source
    ///     works.
    public mutating func measured(_ index: Int, _ rate: Double, now: Double, of bytes: Int64 = fruitful) {
        // A rate from long ago does not apply today.
        let before = now - all[index].measured < Self.memory ? all[index].rate : nil
        all[index].rate = before.map { ($0 + rate) / 2 } ?? rate
        all[index].measured = now
        if bytes >= Self.fruitful { all[index].failures = 0 }
    }

    /// Drops a source, which has another version of the file or wrong bytes.
    public mutating func drop(_ index: Int, _ reason: String) { all[index].dropped = reason }

    /// Records the validator of a source's response, if it is the first.
    public mutating func answered(_ index: Int, _ validator: Validator?) {
        if all[index].validator == nil { all[index].validator = validator }
    }
}
