import TransferJobs

/// Origins that may ask for a password, which one upload finds out for all: its challenge tells the others what to send
/// along (RFC 9110 §11.6.1). Without that each of those that start together would send its body twice.
///
/// The first upload's outcome doesn't matter: once that was challenged or is over, the others don't wait any more.
package struct AuthenticationProbes: Sendable {
    /// Whether an upload has found out, or is about to.
    private enum State: Sendable {
        case probing(Int64)
        case known
    }

    private var probes: [String: State] = [:]

    /// Whether the job has to wait for another one's answer.
    package func holds(_ candidate: Scheduler.Candidate) -> Bool {
        guard candidate.probesAuthentication, case .probing = probes[candidate.lane.origin] else { return false }
        return true
    }

    package mutating func started(_ candidate: Scheduler.Candidate) {
        guard candidate.probesAuthentication, probes[candidate.lane.origin] == nil else { return }
        probes[candidate.lane.origin] = .probing(candidate.id)
    }

    /// - Returns: Whether others waited for that.
    package mutating func answered(_ candidate: Scheduler.Candidate) -> Bool {
        guard case .probing(candidate.id) = probes[candidate.lane.origin] else { return false }
        probes[candidate.lane.origin] = .known
        return true
    }
}
