/// Whether a connection that sends loses segments on the way, and not by filling a queue: pure, no I/O.
///
/// A loss by a full queue is the signal that loss-based congestion control needs, and another algorithm there takes from
/// others. Such losses come with a round trip that is longer than the shortest by the queue. The first losses of a
/// connection are those at the end of slow start, which overshoots also where nothing else is lost: they aren't counted.
public struct LossJudgement: Sendable, Hashable {
    /// Counts of one connection, as TCP_INFO has them (tcp(7)).
    public struct Sample: Sendable, Hashable {
        /// Segments with data that left so far, with those that left again.
        public var segments: Int64
        /// Segments that left again so far.
        public var retransmitted: Int64
        /// Smoothed, in seconds.
        public var roundTrip: Double
        /// The shortest one, in seconds.
        public var leastRoundTrip: Double
        /// Whether the kernel repairs losses at this moment.
        public var isRecovering: Bool

        public init(
            segments: Int64, retransmitted: Int64, roundTrip: Double, leastRoundTrip: Double, isRecovering: Bool
        ) {
            self.segments = segments
            self.retransmitted = retransmitted
            self.roundTrip = roundTrip
            self.leastRoundTrip = leastRoundTrip
            self.isRecovering = isRecovering
        }

        /// A queue makes the round trip longer: by half, or by a few milliseconds on a short way.
        var hasQueue: Bool { roundTrip > leastRoundTrip * 1.5 + 0.005 }
    }

    /// Segments that must have left again: fewer may be chance.
    static let fewest: Int64 = 3
    /// Looks in which some left again: one burst may be one event.
    static let fewestLooks = 2
    /// The share of the segments from which on loss-based control stays far below the link: at 0.2 % and 100 ms cubic
    /// comes to some 5 Mbit/s.
    static let share = 0.002
    /// Round trips that the first losses may take to be repaired.
    static let firstRounds = (least: 2.0, most: 6.0)

    private enum Phase: Sendable, Hashable {
        case lossless
        /// The first losses are being repaired, since that time.
        case first(since: Double)
        case counting
    }

    private var phase = Phase.lossless
    private var last: Sample?
    private var counted: Int64 = 0
    private var lost: Int64 = 0
    private var looks = 0

    public init() {}

    /// - Parameter now: Seconds on any steady clock.
    /// - Returns: The share of the counted segments that were lost, once it says that the link loses them; `nil` before.
    public mutating func take(_ sample: Sample, now: Double) -> Double? {
        defer { last = sample }
        guard let last, sample.segments >= last.segments, sample.retransmitted >= last.retransmitted else {
            // A new connection, by the counts.
            self = LossJudgement()
            if sample.retransmitted > 0 { phase = .first(since: now) }
            return nil
        }
        let (segments, again) = (sample.segments - last.segments, sample.retransmitted - last.retransmitted)
        switch phase {
        case .lossless:
            if again > 0 { phase = .first(since: now) }
        case .first(let since):
            let rounds = (now - since) / max(0.001, sample.roundTrip)
            let isOver = !sample.isRecovering && again == 0 && rounds >= Self.firstRounds.least
            if isOver || rounds >= Self.firstRounds.most { phase = .counting }
        case .counting:
            guard !sample.hasQueue, !last.hasQueue else {
                if again > 0 { (counted, lost, looks) = (0, 0, 0) }
                return nil
            }
            counted += segments
            lost += again
            if again > 0 { looks += 1 }
            let found = Double(lost) / Double(max(1, counted))
            if lost >= Self.fewest, looks >= Self.fewestLooks, found >= Self.share { return found }
        }
        return nil
    }
}
