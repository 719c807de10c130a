package import DequeModule
import TransferCore
package import TransferJobs

/// The jobs of a batch to one origin under the same network rules, as the scheduler sees them.
package struct LaneState: Sendable {
    package let lane: Lane
    /// The known number of ready jobs that are still in the store.
    package var backlog = 0
    package var isClaiming = false
    /// The number of jobs that became ready since the claim was issued, which may have been done before.
    package var grewSinceClaim = 0
    /// Whether jobs that are still in the store may precede the claimed ones.
    package var isOvertaken = false
    /// The claimed jobs that have not started, the most urgent first.
    package var window = Deque<Scheduler.Candidate>()
    /// The origin's own reach, used until a claimed job shows through which proxy it goes.
    private let originReach: OriginReach
    /// Whether the claimed jobs contact different hosts first.
    package var isMixed = false
    /// The start count when the lane was last served. Among equals, the lane that was served least recently goes first.
    package var lastServed = 0

    /// The place of the lane's origin in ``LaneTable/origins``.
    package let origin: Int

    package init(_ lane: Lane, origin: Int) {
        self.lane = lane
        self.origin = origin
        originReach = OriginReach(origin: lane.origin)
    }

    /// Notes that jobs became ready in the store.
    ///
    /// - Parameter overtakes: Whether some of them may precede claimed jobs.
    package mutating func grew(by count: Int, overtakes: Bool) {
        backlog += count
        if isClaiming { grewSinceClaim += count }
        if overtakes, !window.isEmpty || isClaiming { isOvertaken = true }
    }

    /// Takes the result of a claim. Fewer jobs than requested mean that the lane was empty at the time of the claim.
    package mutating func claimed(_ candidates: [Scheduler.Candidate], asked: Int) {
        isClaiming = false
        take(candidates)
        // A job that came since and is already claimed leads to one more claim, which finds nothing.
        backlog = candidates.count < asked ? grewSinceClaim : max(0, backlog - candidates.count)
    }

    package mutating func joined(_ candidate: Scheduler.Candidate) { take([candidate]) }

    private mutating func take(_ candidates: [Scheduler.Candidate]) {
        let isInOrder = (window.last?.rank ?? .max) >= (candidates.first?.rank ?? .min)
        let reach = window.first?.reach ?? candidates.first?.reach
        if candidates.contains(where: { $0.reach != reach }) { isMixed = true }
        window.append(contentsOf: candidates)
        // More urgent jobs became ready after the last claim. (Swift's sort is stable.)
        if !isInOrder { window.sort { $0.rank > $1.rank } }
    }

    /// Sets the number of ready jobs in the store after another party changed them.
    package mutating func backlogIs(_ count: Int) {
        backlog = count
        if isClaiming { grewSinceClaim = count }
    }

    /// Clears the lane, so that none of its jobs is started.
    package mutating func clear() {
        window.removeAll()
        (backlog, isClaiming) = (0, false)
    }

    /// The number of ready jobs, in the store or claimed.
    package var jobs: Int { backlog + window.count }
    /// Whether the lane has no jobs left.
    package var isEmpty: Bool { window.isEmpty && backlog == 0 && !isClaiming }

    package var reach: OriginReach { window.first?.reach ?? originReach }

    /// Returns whether the network lets jobs of the lane start, to the extent that is known.
    package func mayStart(_ network: NetworkGate) -> Bool { isMixed || network.isOpen(lane, reach) }

    /// Returns the position in the window of the most urgent job that the network lets start.
    package func startable(_ network: NetworkGate) -> Int? {
        guard isMixed else { return !window.isEmpty && network.isOpen(lane, reach) ? 0 : nil }
        return window.firstIndex { network.isOpen(lane, $0.reach) }
    }
}
