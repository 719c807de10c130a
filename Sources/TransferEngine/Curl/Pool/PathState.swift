import TransferCore

/// The judgement of a connection's path, by what the kernel says of it: pure, looked at twice a second.
///
/// In a hole of the network packets vanish, and no end hears of it. Each end then waits for timers that double: the sender
/// of data retransmits at intervals as long as the hole has been, and a reader never learns of it. The rule:
/// - A sender's interval between retransmissions is bounded.
/// - A silent peer is asked by keepalive probes whether it is there. Their answers come from its kernel, so a server that
///   takes its time is not mistaken for a hole.
/// - After a hole a connection that is answered again and still brings nothing is stale: its server waits for its timer.
/// - A connection that is not answered, while others to that peer are, is dead: a translation of addresses (NAT) has
///   forgotten it, or its segments are too large for the path.
/// - A connection whose peer answers and whose bytes stay away in the middle of a body or a handshake is stuck: large
///   segments vanish, and small ones pass.
struct PathState {
    /// The kernel's facts of a connection.
    struct Facts {
        var isConnecting = false
        /// Segments that the peer has not acknowledged.
        var unacknowledged = 0
        /// The present interval between retransmissions, and how often it was doubled.
        var retransmission = Duration.milliseconds(200)
        var backoff = 0
        var roundTrip = Duration.zero
        /// Since data came, and since anything came.
        var sinceData = Duration.zero
        var sinceAcknowledgement = Duration.zero
        var received: Int64 = 0

        var silence: Duration { min(sinceData, sinceAcknowledgement) }
    }

    enum Loss: Equatable { case stale, dead, stuck }

    /// The part of an exchange that its connection is to bring next.
    enum Awaited: Int, Comparable {
        case nothing, answer, handshake, body

        static func < (one: Awaited, other: Awaited) -> Bool { one.rawValue < other.rawValue }
    }

    struct Verdict: Equatable {
        /// The kernel is to ask the peer now.
        var asks = false
        /// The longest interval between retransmissions from now on.
        var bound: Duration?
        /// The bound is no longer needed.
        var unbinds = false
        var loss: Loss?
        /// Segments may be too large for the path: new connections try small ones.
        var doubtsSize = false
    }

    /// A silence that is worth a question; Linux asks no sooner.
    static let quiet = Duration.seconds(1)
    /// The least that a peer has for an answer before the path is taken for broken: two questions.
    static let patience = Duration.milliseconds(750)
    /// The least time between two questions without an answer.
    static let spacing = Duration.milliseconds(450)
    /// The longest pause between questions to a peer that answers and has nothing to say.
    static let slowest = Duration.seconds(5)
    /// Sooner than the connections of a file that bring nothing are replaced by new ones.
    static let doubtAfter = Duration.milliseconds(500)
    /// The kernel's times are rounded, so that the connection's own last sign may seem to be another's.
    static let rounding = Duration.milliseconds(100)
    /// How long an answer to others says that others are answered: longer than between two probes.
    static let freshness = Duration.milliseconds(1600)
    /// How long a peer answers questions, and sends nothing of what it has begun, before its segments are taken for lost.
    static let stuckAfter = Duration.seconds(6)
    /// The least interval between retransmissions that Linux takes for a bound.
    static let shortest = Duration.seconds(1)

    private let began: MonotonicTime
    /// The retransmission interval while the connection was well.
    private var usualInterval: Duration?
    /// The first question, or retransmission, that has not been answered.
    private var asked: MonotonicTime?
    private var lastAsked: MonotonicTime?
    private var pause = PathState.quiet
    /// Since when packets vanish, what had come by then, and whether something of ours was on its way.
    private var hole: (since: MonotonicTime, received: Int64, wasSending: Bool)?
    /// When the peer was heard again after a hole, and the hole.
    private var back: (since: MonotonicTime, received: Int64, wasSending: Bool)?
    /// Since when others are answered during the hole.
    private var othersSince: MonotonicTime?
    /// Since when the peer answers questions and sends nothing.
    private var thereSince: MonotonicTime?
    private var bound: (length: Duration, since: MonotonicTime)?

    init(began: MonotonicTime) { self.began = began }

    /// Whether packets vanish.
    var isInHole: Bool { hole != nil }
    /// Whether the next look is to come soon.
    var isUncertain: Bool { asked != nil || hole != nil || back != nil }
    var isBounded: Bool { bound != nil }
    /// Since when the sender hears nothing.
    var silentSince: MonotonicTime? { asked }

    /// - Parameters:
    ///   - awaits: What an exchange waits for on the connection.
    ///   - others: When another connection to the same peer, or a probe, was answered last; `nil` where none is known.
    mutating func look(
        _ facts: Facts, awaits: Awaited, others: MonotonicTime?, now: MonotonicTime
    ) -> Verdict {
        let silence = facts.isConnecting ? now - began : facts.silence
        if !facts.isConnecting, silence < Self.quiet {
            return heard(facts, silence: silence, awaits: awaits, now)
        }
        return unheard(facts, silence: silence, awaits: awaits, others, now)
    }

    // MARK: The peer is heard

    private mutating func heard(
        _ facts: Facts, silence: Duration, awaits: Awaited, _ now: MonotonicTime
    ) -> Verdict {
        var verdict = Verdict()
        if let hole {
            back = (now, hole.received, hole.wasSending)
            self.hole = nil
        }
        if facts.sinceData < Self.quiet {
            pause = Self.quiet
            thereSince = nil
        } else if asked != nil {
            // A peer that is there and has nothing to say is asked less and less often.
            pause = min(Self.slowest, pause * 2)
            if back == nil { thereSince = thereSince ?? now }
        }
        (asked, othersSince) = (nil, nil)
        settleBound(facts, &verdict, now)
        guard let back else {
            guard awaits >= .handshake, facts.unacknowledged == 0, let thereSince else { return verdict }
            verdict.doubtsSize = now - thereSince >= Self.doubtAfter
            if now - thereSince >= Self.stuckAfter {
                self.thereSince = nil
                verdict.loss = .stuck
            }
            return verdict
        }
        if facts.received > back.received {
            self.back = nil
        } else if facts.unacknowledged == 0, now - back.since >= grace(facts, back.wasSending) {
            self.back = nil
            if awaits != .nothing { verdict.loss = .stale }
        }
        return verdict
    }

    /// The time for bytes to come after a hole. A request that arrived only now wants an answer to be made.
    private func grace(_ facts: Facts, _ wasSending: Bool) -> Duration {
        wasSending ? max(.milliseconds(700), facts.roundTrip * 4) : max(.milliseconds(250), facts.roundTrip * 2)
    }

    /// The interval stays bounded until it is short again: the hole was measured as a round trip.
    private mutating func settleBound(_ facts: Facts, _ verdict: inout Verdict, _ now: MonotonicTime) {
        guard let bound else {
            if facts.backoff == 0 { usualInterval = facts.retransmission }
            return
        }
        guard facts.backoff == 0, facts.retransmission < bound.length || now - bound.since > .seconds(30),
            facts.unacknowledged == 0 || facts.sinceAcknowledgement < .milliseconds(500)
        else { return }
        verdict.unbinds = true
        self.bound = nil
    }

    // MARK: The peer is silent

    private mutating func unheard(
        _ facts: Facts, silence: Duration, awaits: Awaited, _ others: MonotonicTime?, _ now: MonotonicTime
    ) -> Verdict {
        var verdict = Verdict()
        if facts.isConnecting || facts.unacknowledged > 0 {
            asked = asked ?? now + (.zero - silence)
            let length = max(Self.shortest, min(.seconds(120), interval(facts) * 2))
            verdict.bound = length
            if bound == nil { bound = (length, now) }
        } else if awaits != .nothing {
            ask(&verdict, now)
        } else {
            // No exchange waits for anything.
            (asked, hole, back, othersSince, thereSince) = (nil, nil, nil, nil, nil)
            return verdict
        }
        guard let asked else { return verdict }
        let isHeardElsewhere = others.map { $0 > asked + Self.rounding } ?? false
        // A server that thinks may be asked often; by chance two questions in a row are lost.
        let isThinking = awaits == .answer && facts.unacknowledged == 0
        let bearable = max(Self.patience, facts.roundTrip * 3) * (isHeardElsewhere ? 4 : isThinking ? 3 : 1)
        guard hole != nil || now - asked >= bearable else { return verdict }
        if hole == nil {
            hole = (asked, back?.received ?? facts.received, facts.unacknowledged > 0)
            (back, thereSince) = (nil, nil)
        }
        if isDead(facts, others, now) {
            verdict.loss = .dead
            (self.asked, hole, othersSince) = (nil, nil, nil)
        }
        return verdict
    }

    private mutating func ask(_ verdict: inout Verdict, _ now: MonotonicTime) {
        if let lastAsked, now - lastAsked < (asked == nil ? pause : Self.spacing) { return }
        asked = asked ?? now
        lastAsked = now
        verdict.asks = true
    }

    /// Whether others have been answered for so long that the connection would have been, too.
    private mutating func isDead(_ facts: Facts, _ others: MonotonicTime?, _ now: MonotonicTime) -> Bool {
        guard let hole, let others, others > hole.since + Self.rounding, now - others < Self.freshness else {
            othersSince = nil
            return false
        }
        othersSince = othersSince ?? others
        let isSending = facts.isConnecting || facts.unacknowledged > 0
        let retransmitted = isSending ? (bound?.length ?? Self.shortest) * 2 : .zero
        return now - (othersSince ?? now) >= max(.milliseconds(750), retransmitted, facts.roundTrip * 4)
    }

    private func interval(_ facts: Facts) -> Duration {
        usualInterval ?? facts.retransmission / (1 << min(16, facts.backoff))
    }
}
