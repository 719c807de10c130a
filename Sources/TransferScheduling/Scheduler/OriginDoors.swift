import TransferJobs

/// Origins that may ask for a password, which one upload finds out for all: its challenge tells the others what to send
/// along (RFC 9110 §11.6.1). Without that each of those that start together would send its body twice.
///
/// The first upload's outcome doesn't matter: once that was challenged or is over, the others don't wait any more.
package struct OriginDoors: Sendable {
    /// Whether an upload has found out, or is about to.
    private enum Door: Sendable {
        case knocking(Int64)
        case known
    }

    private var doors: [String: Door] = [:]

    /// Whether the job has to wait for another one's answer.
    package func holds(_ candidate: Scheduler.Candidate) -> Bool {
        guard candidate.knocks, case .knocking = doors[candidate.lane.origin] else { return false }
        return true
    }

    package mutating func started(_ candidate: Scheduler.Candidate) {
        guard candidate.knocks, doors[candidate.lane.origin] == nil else { return }
        doors[candidate.lane.origin] = .knocking(candidate.id)
    }

    /// - Returns: Whether others waited for that.
    package mutating func answered(_ candidate: Scheduler.Candidate) -> Bool {
        guard case .knocking(candidate.id) = doors[candidate.lane.origin] else { return false }
        doors[candidate.lane.origin] = .known
        return true
    }
}
