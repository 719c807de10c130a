import TransferJobs

/// The origins that may ask for a password, which one upload finds out for all. Its challenge shows others which
/// credentials to send (RFC 9110 §11.6.1); otherwise all concurrent uploads would send their bodies twice.
///
/// The first upload's result does not matter: once it was challenged or has ended, others no longer wait.
package struct AuthenticationProbes: Sendable {
    /// The state of an origin: whether an upload has found out, or is about to.
    private enum State: Sendable {
        case probing(Int64)
        case known
    }

    private var probes: [String: State] = [:]

    /// Returns whether the job has to wait for another job's answer.
    package func holds(_ candidate: Scheduler.Candidate) -> Bool {
        guard candidate.probesAuthentication, case .probing = probes[candidate.lane.origin] else { return false }
        return true
    }

    package mutating func started(_ candidate: Scheduler.Candidate) {
        guard candidate.probesAuthentication, probes[candidate.lane.origin] == nil else { return }
        probes[candidate.lane.origin] = .probing(candidate.id)
    }

    /// Notes that the origin has answered a job.
    ///
    /// - Returns: Whether other jobs waited for this.
    package mutating func answered(_ candidate: Scheduler.Candidate) -> Bool {
        guard case .probing(candidate.id) = probes[candidate.lane.origin] else { return false }
        probes[candidate.lane.origin] = .known
        return true
    }
}
