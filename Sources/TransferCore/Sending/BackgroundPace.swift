/// How much a connection of a background job may have on the way, so that whoever shares the link hardly notices: pure,
/// no I/O.
///
/// The rule follows LEDBAT (RFC 6817): the round trip beyond the shortest one is the delay of a queue, of this connection's
/// bytes and of all others', and the window grows or shrinks by the distance of that delay from a target. Unlike there
/// the step is the number of bytes by which the queue is off its target (the rate times the distance): it suits every
/// rate and round trip, where a segment a round trip would need minutes on a long fast link.
public struct BackgroundPace: Sendable, Hashable {
    public struct Sample: Sendable, Hashable {
        /// Seconds on any steady clock.
        public var now: Double
        /// The round trip now, in seconds.
        public var roundTrip: Double
        /// The shortest round trip to the same address, in seconds.
        public var base: Double
        /// Bytes that the connection has moved so far.
        public var moved: Int64
        /// Bytes of a segment.
        public var segment: Int

        public init(now: Double, roundTrip: Double, base: Double, moved: Int64, segment: Int) {
            self.now = now
            self.roundTrip = roundTrip
            self.base = base
            self.moved = moved
            self.segment = segment
        }
    }

    /// The delay that the queue may have, in seconds. RFC 6817 has 100 ms as the most; a call on the same link notices 25.
    public static let target = 0.012
    /// The share of the distance from the target that one step covers: less than one, as its effect is seen a round trip
    /// later.
    static let gain = 0.4
    /// Growth in one round before there was any queue.
    static let start = 1.5
    /// The least growth in one round while there is hardly any queue.
    static let growth = 1.0 / 16
    static let most = 1e9
    /// Seconds between two steps at least.
    static let interval = 0.02

    /// Bytes that may be on the way.
    public private(set) var window: Double
    /// Bytes a second over the last round.
    public private(set) var rate = 0.0
    private var hasSeenQueue = false
    private var last: Sample?

    public init(segment: Int = 1448) { window = Double(10 * max(1, segment)) }

    /// - Returns: Whether the window may be another one now.
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
                // The link takes this much; what was beyond it stands in the queue.
                window = min(window, rate * (sample.base + Self.target))
            } else if isUsed {
                window *= Self.start
            }
        } else if queue > Self.target || isUsed {
            var step = Self.gain * (Self.target - queue) * max(rate, Double(sample.segment) / sample.roundTrip)
            if queue < Self.target / 4 { step = max(step, window * Self.growth) }
            // Half of it at most: one long round trip may be chance.
            window += max(step, -window / 2)
        }
        window = min(Self.most, max(window, Double(2 * max(1, sample.segment))))
        return true
    }

    /// Bytes a second at which the window leaves within a round trip.
    public func pace(roundTrip: Double) -> Double { window / max(0.0001, roundTrip) }
}
