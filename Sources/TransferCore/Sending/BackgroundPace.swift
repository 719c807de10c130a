/// The amount of data in transit for a connection of a background job, so that other users of the link hardly notice.
/// The type performs no I/O.
///
/// The rule follows LEDBAT (RFC 6817). The round trip beyond the shortest one is the delay of a queue, filled by this
/// connection and all others. The window grows or shrinks by the distance of that delay from a target. Unlike LEDBAT, a
/// step is the number of bytes by which the queue misses its target (the rate times the distance). Such steps suit
/// every rate and round trip; one segment for each round trip would need minutes on a long fast link.
public struct BackgroundPace: Sendable, Hashable {
    /// A measurement of a connection.
    public struct Sample: Sendable, Hashable {
        /// The time in seconds of any monotonic clock.
        public var now: Double
        /// The current round trip in seconds.
        public var roundTrip: Double
        /// The shortest round trip to the same address, in seconds.
        public var base: Double
        /// The number of bytes that the connection has sent so far.
        public var moved: Int64
        /// The number of bytes of a segment.
        public var segment: Int

        /// Creates a measurement; times are in seconds.
        public init(now: Double, roundTrip: Double, base: Double, moved: Int64, segment: Int) {
            self.now = now
            self.roundTrip = roundTrip
            self.base = base
            self.moved = moved
            self.segment = segment
        }
    }

    /// The target delay of the queue in seconds. RFC 6817 allows up to 100 ms; a call on the same link is affected by
    /// 25 ms.
    public static let target = 0.012
    /// The share of the distance from the target that one step covers. It is less than one because the effect shows one
    /// round trip later.
    static let gain = 0.4
    /// The factor of growth in one round before any queue was observed.
    static let start = 1.5
    /// The minimum growth in one round while there is hardly any queue.
    static let growth = 1.0 / 16
    static let most = 1e9
    /// The minimum interval between two steps in seconds.
    static let interval = 0.02

    /// The number of bytes that may be in transit.
    public private(set) var window: Double
    /// The rate over the last round, in bytes a second.
    public private(set) var rate = 0.0
    private var hasSeenQueue = false
    private var last: Sample?

    /// Creates the pace of a new connection; `segment` is in bytes.
    public init(segment: Int = 1448) { window = Double(10 * max(1, segment)) }

    /// Takes a measurement.
    ///
    /// - Returns: Whether the window may have changed.
    public mutating func take(_ sample: Sample) -> Bool {
        guard sample.roundTrip > 0, sample.base > 0 else { return false }
        guard let last, sample.moved >= last.moved, sample.now > last.now else {
            self.last = sample
            return true
        }
        let time = sample.now - last.now
        guard time >= max(Self.interval, sample.roundTrip) else { return false }
        self.last = sample
        rate = Double(sample.moved - last.moved) / time
        let queue = max(0, sample.roundTrip - sample.base)
        let isUsed = rate * sample.roundTrip >= window / 2
        if !hasSeenQueue {
            if queue >= Self.target / 2 {
                hasSeenQueue = true
                // The link carries this amount; everything beyond it waits in the queue.
                window = min(window, rate * (sample.base + Self.target))
            } else if isUsed {
                window *= Self.start
            }
        } else if queue > Self.target || isUsed {
            var step = Self.gain * (Self.target - queue) * max(rate, Double(sample.segment) / sample.roundTrip)
            if queue < Self.target / 4 { step = max(step, window * Self.growth) }
            // The window shrinks by at most half, since one long round trip may be a coincidence.
            window += max(step, -window / 2)
        }
        window = min(Self.most, max(window, Double(2 * max(1, sample.segment))))
        return true
    }

    /// Returns the rate in bytes a second at which the window is sent within one round trip.
    public func pace(roundTrip: Double) -> Double { window / max(0.0001, roundTrip) }
}
