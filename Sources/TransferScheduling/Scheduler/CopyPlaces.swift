import DequeModule
import TransferJobs

/// The places of copies from server to server. Each copy has its own buffers, so their number is limited: their memory
/// does not grow with a batch's `concurrency`.
package struct CopyPlaces: Sendable {
    /// The most copies under way at once.
    package static let most = 256

    private var active: Set<Int64> = []
    /// The origins whose next job is a copy that waits for a place, the longest wait first.
    private var held: Deque<String> = []
    private var isHeld: Set<String> = []

    /// Returns whether the job has to wait for the end of another copy.
    mutating func holds(_ candidate: Scheduler.Candidate) -> Bool {
        guard candidate.isCopy, active.count >= Self.most else { return false }
        if isHeld.insert(candidate.lane.origin).inserted { held.append(candidate.lane.origin) }
        return true
    }

    mutating func started(_ candidate: Scheduler.Candidate) {
        if candidate.isCopy { active.insert(candidate.id) }
    }

    mutating func ended(_ id: Int64) { active.remove(id) }

    /// Returns an origin whose jobs may be considered again, if there is a place.
    mutating func release() -> String? {
        guard active.count < Self.most, let origin = held.popFirst() else { return nil }
        isHeld.remove(origin)
        return origin
    }
}
