/// The judgement whether a sending connection loses segments on the link, rather than by filling a queue. The type
/// performs no I/O.
///
/// A loss from a full queue is the signal that loss-based congestion control needs; with another algorithm, the
/// connection would take bandwidth from others. Such losses coincide with a round trip longer than the shortest one by
/// the delay of the queue. The first losses of a connection end slow start, which overshoots on every link, so they do
/// not count.
public struct LossJudgement: Sendable, Hashable {
    /// The counters of one connection, as in TCP_INFO (tcp(7)).
    public struct Sample: Sendable, Hashable {
        /// The number of data segments sent so far, including retransmissions.
        public var segments: Int64
        /// The number of segments retransmitted so far.
        public var retransmitted: Int64
        /// The smoothed round trip in seconds.
        public var roundTrip: Double
        /// The shortest round trip in seconds.
        public var leastRoundTrip: Double
        /// Whether the kernel is repairing losses now.
        public var isRecovering: Bool

        /// Creates a sample; times are in seconds.
        public init(
            segments: Int64, retransmitted: Int64, roundTrip: Double, leastRoundTrip: Double, isRecovering: Bool
        ) {
            self.segments = segments
            self.retransmitted = retransmitted
            self.roundTrip = roundTrip
            self.leastRoundTrip = leastRoundTrip
            self.isRecovering = isRecovering
        }

        /// Whether there is a queue. It lengthens the round trip by half, or by a few milliseconds on a short path.
        var hasQueue: Bool { roundTrip > leastRoundTrip * 1.5 + 0.005 }
    }

    /// The minimum number of retransmitted segments; fewer may be a coincidence.
    static let fewest: Int64 = 3
    /// The minimum number of samples with retransmissions, since one burst may be a single event.
    static let fewestLooks = 2
    /// The share of lost segments above which loss-based control stays far below the link's rate. At 0.2 % and 100 ms,
    /// cubic reaches about 5 Mbit/s.
    static let share = 0.002
    /// The number of round trips that the repair of the first losses may take.
    static let firstRounds = (least: 2.0, most: 6.0)

    private enum Phase: Sendable, Hashable {
        case lossless
        /// The first losses are being repaired since this time.
        case first(since: Double)
        case counting
    }

    private var phase = Phase.lossless
    private var last: Sample?
    private var counted: Int64 = 0
    private var lost: Int64 = 0
    private var looks = 0

    /// Creates a judgement without samples.
    public init() {}

    /// Takes a sample.
    ///
    /// - Parameter now: The time in seconds of any monotonic clock.
    /// - Returns: The share of the counted segments that were lost, once it shows that the link loses them; `nil`
    ///   before.
    public mutating func take(_ sample: Sample, now: Double) -> Double? {
        defer { last = sample }
        guard let last, sample.segments >= last.segments, sample.retransmitted >= last.retransmitted else {
            // The counters show that this is a new connection.
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
