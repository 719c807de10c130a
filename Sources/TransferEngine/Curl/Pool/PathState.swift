import TransferCore

/// The judgement of a connection's path from the kernel's facts. It is pure, and is updated twice a second.
///
/// In a hole of the network packets vanish, and neither end is notified. Each end then waits for timers that double.
/// The sender of data retransmits at intervals as long as the hole has been, and a reader never notices it. The rule:
///
/// - A sender's interval between retransmissions is bounded.
/// - Keepalive probes ask a silent peer whether it is there. Their answers come from its kernel, so a slow server is
///   not mistaken for a hole.
/// - A connection that is answered again after a hole and still brings nothing is stale: its server waits for its
///   timer.
/// - A connection that is not answered, while others to that peer are, is dead. A translation of addresses (NAT) has
///   forgotten it, or its segments are too large for the path.
/// - A connection whose peer answers, but sends nothing in the middle of a body or a handshake, is stuck: large
///   segments vanish, and small ones pass.
struct PathState {
    /// The kernel's facts about a connection.
    struct Facts {
        var isConnecting = false
        /// The number of segments that the peer has not acknowledged.
        var unacknowledged = 0
        /// The current interval between retransmissions, and the number of its doublings.
        var retransmission = Duration.milliseconds(200)
        var backoff = 0
        var roundTrip = Duration.zero
        /// The time since data came, and the time since anything came.
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
        /// Whether the kernel is to ask the peer now.
        var asks = false
        /// The longest permitted interval between retransmissions from now on.
        var bound: Duration?
        /// Whether the bound is no longer needed.
        var unbinds = false
        var loss: Loss?
        /// Whether segments may be too large for the path, so that new connections try small ones.
        var doubtsSize = false
    }

    /// The silence after which the peer is asked; Linux asks no sooner.
    static let quiet = Duration.seconds(1)
    /// The least time that a peer has for an answer before the path counts as broken: that of two questions.
    static let patience = Duration.milliseconds(750)
    /// The least time between two questions without an answer.
    static let spacing = Duration.milliseconds(450)
    /// The longest pause between questions to a peer that answers and has nothing to say.
    static let slowest = Duration.seconds(5)
    /// The time after which a peer that answers, but sends nothing, puts the size of segments in doubt.
    ///
    /// The time is shorter than that after which a file's idle connections are replaced.
    static let doubtAfter = Duration.milliseconds(500)
    /// The tolerance for the kernel's rounded times: the connection's own last sign may seem to be another's.
    static let rounding = Duration.milliseconds(100)
    /// The time for which an answer to one connection proves that others are answered. It is longer than the time
    /// between two probes.
    static let freshness = Duration.milliseconds(1600)
    /// The time after which a peer that answers, but sends nothing of what it has begun, counts as losing its segments.
    static let stuckAfter = Duration.seconds(6)
    /// The least interval between retransmissions that Linux accepts as a bound.
    static let shortest = Duration.seconds(1)

    private let began: MonotonicTime
    /// The retransmission interval while the connection was healthy.
    private var usualInterval: Duration?
    /// The time of the first question, or retransmission, that has not been answered.
    private var asked: MonotonicTime?
    private var lastAsked: MonotonicTime?
    private var pause = PathState.quiet
    /// The beginning of the hole, the bytes received by then, and whether bytes of ours were under way.
    private var hole: (since: MonotonicTime, received: Int64, wasSending: Bool)?
    /// The time at which the peer was heard again after a hole, and the facts of the hole.
    private var back: (since: MonotonicTime, received: Int64, wasSending: Bool)?
    /// The time since which others are answered during the hole.
    private var othersSince: MonotonicTime?
    /// The time since which the peer answers questions and sends nothing.
    private var thereSince: MonotonicTime?
    private var bound: (length: Duration, since: MonotonicTime)?

    init(began: MonotonicTime) { self.began = began }

    /// Whether packets vanish on the path.
    var isInHole: Bool { hole != nil }
    /// Whether the next check is to come soon.
    var isUncertain: Bool { asked != nil || hole != nil || back != nil }
    var isBounded: Bool { bound != nil }
    /// The time since which the sender hears nothing.
    var silentSince: MonotonicTime? { asked }

    /// Judges the path by new facts.
    ///
    /// - Parameters:
    ///   - awaits: The part that an exchange waits for on the connection.
    ///   - others: The last answer to another connection to the same peer, or to a probe; `nil` where none is known.
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
            // A peer that answers and has nothing to send is asked less and less often.
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

    /// Returns the time for bytes to come after a hole. A request that arrived only now needs time for its answer.
    private func grace(_ facts: Facts, _ wasSending: Bool) -> Duration {
        wasSending ? max(.milliseconds(700), facts.roundTrip * 4) : max(.milliseconds(250), facts.roundTrip * 2)
    }

    /// Removes the bound once the interval is short again: the hole was measured as a round trip.
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
        // A server that computes its answer may be asked often; two questions in a row may be lost by chance.
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

    /// Returns whether others have been answered for so long that the connection should have been, too.
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
