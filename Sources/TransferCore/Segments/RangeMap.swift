/// The map of a file's bytes: received, being fetched by some connection, or missing. The type performs no I/O.
///
/// Several connections fill one file. Each has a claim: a range that it fetches from the first byte on. A free
/// connection claims a range without a claim, or the later part of the claim that will take longest.
public struct RangeMap: Sendable {
    /// The range that one connection fetches.
    public struct Claim: Sendable, Hashable {
        /// The first byte of the range.
        public let start: Int64
        /// The offset of the first missing byte.
        public fileprivate(set) var position: Int64
        /// The offset after the last byte to fetch. It may be moved down, but never to less than ``RangeMap/margin``
        /// after `position`.
        public fileprivate(set) var end: Int64
        /// The bytes after `end` that the server is expected to send in vain, because the request was made for a longer
        /// claim.
        fileprivate var overrun: Int64 = 0
        fileprivate var isCut = false

        /// Whether all bytes of the range have been received.
        public var isDone: Bool { position >= end }
        /// The number of missing bytes.
        public var left: Int64 { max(0, end - position) }
    }

    /// The length of the file in bytes.
    public let total: Int64
    /// The bytes received by claims that have ended, and those that existed before.
    public private(set) var settled: ByteRanges
    /// The current claims, by their numbers.
    public private(set) var claims: [Int: Claim] = [:]
    private var lastNumber = 0
    /// The overrun of ended claims, in bytes.
    private var pastOverrun: Int64 = 0

    /// The minimum number of bytes that a connection keeps when its claim is divided, which is more than it writes at
    /// once.
    public static let margin: Int64 = 128 << 10
    /// The minimum number of missing bytes of a claim that can be divided.
    public static let smallestDivided: Int64 = 512 << 10

    /// The minimum remaining time in seconds of a claim that can be divided.
    public static let shortestDivided = 0.5
    /// The maximum share of the file's bytes that divisions may cause to be sent in vain.
    static let mostOverrun = 0.125

    /// The measures of the path to a server, by which a new connection is judged.
    public struct Way: Sendable, Hashable {
        /// The seconds from a byte's departure at the server to its arrival and back, including queues.
        public var roundTrip: Double
        /// The seconds from the opening of a connection to its first byte.
        public var start: Double
        /// The highest rate of all connections together, in bytes a second. The rate of a single connection is that of
        /// its whole life.
        public var rate: Double

        public init(roundTrip: Double = 0, start: Double = 0, rate: Double = 0) {
            self.roundTrip = roundTrip
            self.start = start
            self.rate = rate
        }
    }

    /// Creates a map of a file of `total` bytes, some of which have been received.
    public init(total: Int64, received: ByteRanges = ByteRanges()) {
        self.total = total
        settled = received.clipped(to: total)
    }

    /// All received bytes.
    public var received: ByteRanges {
        var all = settled
        for claim in claims.values { all.insert(claim.start..<claim.position) }
        return all
    }

    /// Whether all bytes have been received.
    public var isComplete: Bool { receivedCount == total }

    /// The number of received bytes.
    public var receivedCount: Int64 { received.count }

    /// The missing ranges without a claim, in ascending order.
    public var unclaimed: [Range<Int64>] {
        var taken = settled
        for claim in claims.values { taken.insert(claim.start..<max(claim.position, claim.end)) }
        return taken.gaps(in: 0..<total)
    }

    // MARK: Claims

    /// Claims a range that no connection has.
    ///
    /// - Returns: The number of the claim.
    public mutating func claim(_ range: Range<Int64>, position: Int64? = nil) -> Int {
        lastNumber += 1
        claims[lastNumber] = Claim(
            start: range.lowerBound, position: position ?? range.lowerBound, end: range.upperBound)
        return lastNumber
    }

    /// Claims the range that a free connection should fetch next.
    ///
    /// The division of a claim has a price. Its server sends on for a round trip, until it learns that the end has
    /// moved. All divisions of a file together may cost an eighth of its bytes. A slow connection costs little, so its
    /// claim is divided in any case.
    ///
    /// - Parameters:
    ///   - rate: The rate that is expected of the connection, in bytes a second; `nil` if it is unknown.
    ///   - rates: The rates of the connections that have claims, by the numbers of the claims.
    ///   - way: The path to the server of a new connection.
    /// - Returns: The number of the new claim; `nil` when nothing is left that is worth a request.
    public mutating func claimNext(
        rate: Double? = nil, rates: [Int: Double] = [:], way: Way = Way()
    ) -> Int? {
        if let gap = unclaimed.max(by: { $0.count < $1.count }) { return claim(gap) }
        let shortest = max(Self.shortestDivided, 2 * way.start)
        // The cost of a cut is the number of bytes on their way when the connection reaches the cut. It changes until
        // then.
        let sum = rates.values.reduce(0, +)
        let onTheWay = rates.mapValues { Int64($0 * (sum > 0 ? min(2, max(1, way.rate / sum)) : 1) * way.roundTrip) }
        for (number, claim) in claims where claim.isCut {
            if let price = onTheWay[number] { claims[number]?.overrun = price }
        }
        let spent = overrun
        let slowest = claims.filter { number, claim in
            guard claim.left >= Self.smallestDivided else { return false }
            guard let rate = rates[number], rate > 0 else { return true }
            // A new request takes its own time.
            guard Double(claim.left) / rate >= shortest else { return false }
            let price = spent - (claims[number]?.overrun ?? 0) + (onTheWay[number] ?? 0)
            return Double(price) <= Double(total) * Self.mostOverrun
        }
        .max { Self.time($0.value, rates[$0.key]) < Self.time($1.value, rates[$1.key]) }
        guard let (number, claim) = slowest else { return nil }
        let share: Double =
            if let rate, let other = rates[number], rate + other > 0 { rate / (rate + other) } else { 0.5 }
        let wanted = Int64(Double(claim.left) * min(0.95, max(0.05, share)))
        // The cut is on a boundary of pages, with bytes left on both sides.
        let cut = max(claim.position + Self.margin, claim.end - max(Self.margin, wanted)) & ~0xFFFF
        guard cut >= claim.position + Self.margin / 2, cut < claim.end else { return nil }
        claims[number]?.end = cut
        claims[number]?.overrun = onTheWay[number] ?? 0
        claims[number]?.isCut = true
        return self.claim(cut..<claim.end)
    }

    /// The bytes that divisions are expected to have caused to be sent in vain so far.
    public var overrun: Int64 { claims.values.reduce(pastOverrun) { $0 + $1.overrun } }

    /// Returns the seconds until a claim is done, or its missing bytes where no rates are known.
    private static func time(_ claim: Claim, _ rate: Double?) -> Double {
        Double(claim.left) / max(1, rate ?? 1)
    }

    /// Records that bytes of a claim have been received.
    public mutating func advance(_ number: Int, to position: Int64) {
        guard let claim = claims[number] else { return }
        claims[number]?.position = max(claim.position, position)
    }

    /// Ends a claim whose connection has finished or cannot continue; its missing bytes become free.
    @discardableResult
    public mutating func release(_ number: Int) -> Claim? {
        guard let claim = claims.removeValue(forKey: number) else { return nil }
        settled.insert(claim.start..<claim.position)
        pastOverrun += claim.overrun
        return claim
    }

    /// Extends a claim to the end of the file, regardless of received bytes.
    public mutating func extendToEnd(_ number: Int) { claims[number]?.end = total }

    /// Extends an unfinished claim over the following bytes without a claim.
    ///
    /// - Returns: The number of received bytes in between, too few to skip, that are fetched again.
    @discardableResult
    public mutating func extendOverGap(_ number: Int) -> Int64 {
        guard let claim = claims[number], claim.left > 0 else { return 0 }
        return extend(number, overClaims: false)
    }

    /// Extends a finished claim over the following bytes without a claim, and over claims that have received nothing.
    /// The claims that were taken over end. The connection of the extended claim must have requested the rest of the file.
    ///
    /// - Returns: The number of received bytes in between, too few to skip, that are fetched again.
    @discardableResult
    public mutating func takeOver(_ number: Int, onTheWay: Int64 = 0) -> Int64 {
        extend(number, overClaims: true, onTheWay: onTheWay)
    }

    private mutating func extend(_ number: Int, overClaims: Bool, onTheWay: Int64 = 0) -> Int64 {
        var discarded: Int64 = 0
        while let end = claims[number]?.end, end < total {
            if let gap = unclaimed.first(where: { $0.lowerBound == end }) {
                claims[number]?.end = gap.upperBound
            } else if let crumb = settled.ranges.first(where: { $0.lowerBound <= end && end < $0.upperBound }),
                crumb.upperBound - end < Self.crumb
            {
                settled.remove(end..<crumb.upperBound)
                discarded += crumb.upperBound - end
                claims[number]?.end = crumb.upperBound
            } else if overClaims,
                let (mute, next) = claims.first(where: { other, next in
                    other != number && next.start == end && next.position - end <= onTheWay && next.end > next.position
                })
            {
                claims[mute] = nil
                discarded += next.position - next.start
                claims[number]?.end = next.end
            } else {
                break
            }
        }
        // The bytes on their way to the connection are wanted again.
        if claims[number]?.end == total {
            claims[number]?.isCut = false
            claims[number]?.overrun = 0
        }
        return discarded
    }

    /// The number of bytes between two gaps up to which they are fetched again rather than skipped.
    private static let crumb: Int64 = 64 << 10

    /// Discards bytes that are wrong or useless; they will be fetched again.
    public mutating func discard(_ range: Range<Int64>) { settled.remove(range) }
}
