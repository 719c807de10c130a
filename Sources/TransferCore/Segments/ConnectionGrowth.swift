/// How many connections one file gets: pure, no I/O.
///
/// With a number told that many are opened at once. Otherwise their number is doubled as long as that pays, and goes back
/// to what it was when it didn't.
public struct ConnectionGrowth: Sendable {
    public enum Wish: Sendable, Hashable {
        /// 1 to 32.
        case exactly(Int)
        case automatic
    }

    /// The most that are opened for one file without being told.
    public static let most = 16
    /// How much faster twice as many connections must be to have paid for themselves.
    package static let payment = 1.25
    /// A file that one connection brings within this time gets no other.
    static let worthwhile = 2.0
    /// The share of its time for which the thread that moves the bytes may be at work: beyond it the processor is the
    /// limit, and further connections only cost more of it.
    static let mostLoad = 0.85
    /// Seconds over which a rate is measured.
    static let interval = 0.4
    /// Seconds for which nothing is added after the server refused, or a connection was lost.
    static let rest = 10.0

    public private(set) var wanted: Int
    private let wish: Wish
    private var measured: (time: Double, bytes: Int64, worked: Double, connections: Int)?
    /// The rate with half as many.
    private var before: Double?
    private var hasSettled = false
    private var notBefore = 0.0

    public init(_ wish: Wish) {
        self.wish = wish
        wanted = if case .exactly(let count) = wish { count } else { 1 }
    }

    /// Begins with a connection to each source, 4 at most, where their number isn't told.
    public mutating func begins(with sources: Int) {
        if case .automatic = wish { wanted = max(wanted, min(sources, 4)) }
    }

    /// - Parameters:
    ///   - now: Seconds on any steady clock.
    ///   - bytes: What all connections have brought so far.
    ///   - left: What is missing.
    ///   - worked: Seconds for which the thread that moves the bytes has been at work so far.
    ///   - connections: How many are open.
    /// - Returns: How many shall be.
    public mutating func sample(now: Double, bytes: Int64, left: Int64, worked: Double, connections: Int) -> Int {
        guard case .automatic = wish else {
            if now >= notBefore, case .exactly(let count) = wish { wanted = count }
            return wanted
        }
        guard let start = measured, start.connections == connections else {
            measured = (now, bytes, worked, connections)
            return wanted
        }
        guard !hasSettled, now >= notBefore, connections >= wanted, now - start.time >= Self.interval else {
            return wanted
        }
        let rate = Double(bytes - start.bytes) / (now - start.time)
        let load = (worked - start.worked) / (now - start.time)
        measured = nil
        guard rate > 0 else { return wanted }
        if let before, rate < before * Self.payment {
            // The last ones brought too little.
            hasSettled = true
            wanted = max(1, wanted / 2)
            return wanted
        }
        guard Double(left) / rate >= Self.worthwhile / (wanted == 1 ? 1 : 2), wanted < Self.most,
            load <= Self.mostLoad
        else { return wanted }
        before = rate
        wanted = min(Self.most, wanted * 2)
        return wanted
    }

    /// The server wants fewer (429, 503): half as many, for a while.
    public mutating func refused(now: Double, connections: Int, retryAfter: Double? = nil) {
        wanted = max(1, connections / 2)
        hasSettled = true
        notBefore = max(notBefore, now + (retryAfter ?? Self.rest))
        measured = nil
    }

    /// A connection was lost: one less, for a while.
    public mutating func lost(now: Double, connections: Int) {
        wanted = max(1, min(wanted, connections))
        notBefore = max(notBefore, now + Self.rest / 5)
        measured = nil
    }

    /// Others want the places.
    public mutating func yields(to count: Int) {
        wanted = max(1, min(wanted, count))
        (measured, before) = (nil, nil)
    }
}
