import DequeModule
import TransferJobs

/// Places of copies from server to server. Each has buffers of its own, so that there is a bound on those under way: what
/// they need of memory doesn't grow with a batch's `concurrency`.
package struct CopyPlaces: Sendable {
    /// Copies under way at once.
    package static let most = 256

    private var active: Set<Int64> = []
    /// Origins whose next job is a copy that waits for a place, those that have waited longest first.
    private var held: Deque<String> = []
    private var isHeld: Set<String> = []

    /// Whether the job has to wait for another one's end.
    mutating func holds(_ candidate: Scheduler.Candidate) -> Bool {
        guard candidate.isCopy, active.count >= Self.most else { return false }
        if isHeld.insert(candidate.lane.origin).inserted { held.append(candidate.lane.origin) }
        return true
    }

    mutating func started(_ candidate: Scheduler.Candidate) {
        if candidate.isCopy { active.insert(candidate.id) }
    }

    mutating func ended(_ id: Int64) { active.remove(id) }

    /// An origin whose jobs are to be looked at again, where there is a place.
    mutating func release() -> String? {
        guard active.count < Self.most, let origin = held.popFirst() else { return nil }
        isHeld.remove(origin)
        return origin
    }
}
