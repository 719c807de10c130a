/// The URLs that one file comes from at once, ranked by what they deliver: pure, no I/O.
public struct SegmentSources: Sendable {
    public struct Source: Sendable, Hashable {
        public let url: String
        /// The source's name for its version; `nil` until it has answered.
        public var validator: Validator?
        /// Connections to it.
        public fileprivate(set) var connections = 0
        /// Bytes a second of one connection, smoothed; `nil` until one has brought something.
        public fileprivate(set) var rate: Double?
        /// Rounds of failures since it last brought something. Connections that were open together fail in one round.
        public fileprivate(set) var failures = 0
        /// The end of the last round.
        fileprivate var failed = -Double.infinity
        /// Why it isn't asked any more.
        public fileprivate(set) var dropped: String?
        /// When it may be asked again, after a failure: seconds on the clock of those who ask.
        public fileprivate(set) var notBefore = 0.0
        fileprivate var measured = 0.0
    }

    public private(set) var all: [Source]
    /// Whether the connection that began the file, to the first source, is under way: it isn't told by ``opened(_:)``.
    public var isFirstUnderWay = false

    /// Failures in a row after which a source isn't asked again.
    static let patience = 3
    /// Seconds for which a source that failed is left alone; each further round doubles them.
    static let pause = 5.0
    /// Bytes that a connection has to bring to be worth its request. A part that is shorter counts when it came whole.
    public static let fruitful = ProgressRule.leastBytes
    /// A source that brings less than this part of the best one's rate gets no more connections.
    static let slowest = 0.1

    /// Seconds after which the rate of a source that has no connection is worth asking for again.
    static let memory = 30.0

    /// - Parameters:
    ///   - urls: The one that the file was begun with comes first.
    ///   - hasFailed: Whether an earlier attempt got nothing from that one: it has to prove itself by one connection.
    public init(_ urls: [String], hasFailed: Bool = false) {
        all = urls.map { Source(url: $0) }
        if hasFailed, !all.isEmpty { all[0].failures = 1 }
    }

    public subscript(index: Int) -> Source { all[index] }

    /// The source for a new connection.
    ///
    /// One that nobody has asked yet, or not for long, comes before the best one, once; among equals the one with fewer connections does.
    ///
    /// - Parameter isLast: Whether nobody else fetches anything: then one that has just failed is asked, too.
    /// - Returns: `nil` where none may be asked now.
    public func next(now: Double, isLast: Bool = false) -> Int? {
        let usable = all.indices.filter { index in
            let source = all[index]
            guard source.dropped == nil, isLast || source.notBefore <= now else { return false }
            // One connection shows whether a source that failed delivers again.
            return source.failures == 0 || source.connections == 0
        }
        if let fresh = usable.first(where: { isUnknown($0, now) }) { return fresh }
        let best = usable.compactMap { all[$0].rate }.max() ?? 0
        return usable.filter { all[$0].rate.map { $0 >= best * Self.slowest } ?? true }.max { one, other in
            // A source that shares its rate among its connections is worth less with each of them.
            worth(one) < worth(other)
        }
    }

    /// Whether nobody knows what it brings, or not any more.
    private func isUnknown(_ index: Int, _ now: Double) -> Bool {
        let source = all[index]
        let isOld = source.rate == nil || now - source.measured >= Self.memory
        return isOld && connections(index) == 0 && source.failures == 0
    }

    private func worth(_ index: Int) -> Double { (all[index].rate ?? 1) / Double(1 + connections(index)) }

    private func connections(_ index: Int) -> Int {
        all[index].connections + (index == 0 && isFirstUnderWay ? 1 : 0)
    }

    /// Whether connections to this source are worth less than others: they are the first to go.
    public func isSlow(_ index: Int) -> Bool {
        let best = all.compactMap(\.rate).max() ?? 0
        return (all[index].rate ?? best) < best * Self.slowest
    }

    /// Whether another source has shown that it delivers.
    public func isBetter(than index: Int) -> Bool {
        all.indices.contains { $0 != index && all[$0].dropped == nil && all[$0].rate != nil }
    }

    public mutating func opened(_ index: Int) { all[index].connections += 1 }

    /// A connection to it has ended.
    ///
    /// - Parameters:
    ///   - bytes: What it brought, within `seconds`.
    ///   - fault: Why it failed, if it did; nothing where it wasn't wanted any more.
    public mutating func closed(_ index: Int, bytes: Int64, seconds: Double, fault: String?, now: Double) {
        all[index].connections -= 1
        if bytes > 0 {
            measured(
                index, Double(bytes) / max(0.001, seconds), now: now, of: fault == nil ? Self.fruitful : bytes)
        }
        // An answer that breaks off on the way is asked for again at once, where it brought something.
        guard let fault, bytes < Self.fruitful else { return }
        guard now - seconds >= all[index].failed else { return }
        all[index].failures += 1
        all[index].failed = now
        all[index].notBefore = now + Self.pause * Double(1 << (all[index].failures - 1))
        if all[index].failures >= Self.patience { all[index].dropped = fault }
    }

    /// - Parameters:
    ///   - rate: Bytes a second of one connection.
    ///   - now: Seconds on any steady clock.
    ///   - bytes: What the connection has brought so far. A few bytes don't prove that the source delivers.
    public mutating func measured(_ index: Int, _ rate: Double, now: Double, of bytes: Int64 = fruitful) {
        // A rate of long ago says nothing of today.
        let before = now - all[index].measured < Self.memory ? all[index].rate : nil
        all[index].rate = before.map { ($0 + rate) / 2 } ?? rate
        all[index].measured = now
        if bytes >= Self.fruitful { all[index].failures = 0 }
    }

    /// Takes nothing more from a source: it has another version of the file, or bytes that are wrong.
    public mutating func drop(_ index: Int, _ reason: String) { all[index].dropped = reason }

    public mutating func answered(_ index: Int, _ validator: Validator?) {
        if all[index].validator == nil { all[index].validator = validator }
    }
}
