package import DequeModule
import TransferCore
package import TransferJobs

/// Jobs of a batch to one origin under the same rules of the network, as the scheduler sees them.
package struct LaneState: Sendable {
    package let lane: Lane
    /// Ready jobs that are still in the store, as far as is known.
    package var backlog = 0
    package var isClaiming = false
    /// Jobs that became ready since the claim was asked for: it may have been done before they were there.
    package var grewSinceClaim = 0
    /// Whether jobs that are still in the store may go before those that were claimed.
    package var isOvertaken = false
    /// Claimed and not started, the most urgent first.
    package var window = Deque<Scheduler.Candidate>()
    /// The origin's own way, for as long as nothing was claimed that says through which proxy it goes.
    private let originReach: OriginReach
    /// Whether the jobs that were claimed are connected to different machines first.
    package var isMixed = false
    /// Counts the starts: among equals the lane that was served least recently goes first.
    package var lastServed = 0

    /// The place of the lane's origin in ``LaneTable/origins``.
    package let origin: Int

    package init(_ lane: Lane, origin: Int) {
        self.lane = lane
        self.origin = origin
        originReach = OriginReach(origin: lane.origin)
    }

    /// Jobs became ready in the store.
    ///
    /// - Parameter overtakes: Some of them may go before those that have been claimed.
    package mutating func grew(by count: Int, overtakes: Bool) {
        backlog += count
        if isClaiming { grewSinceClaim += count }
        if overtakes, !window.isEmpty || isClaiming { isOvertaken = true }
    }

    /// A claim came back; fewer jobs than asked for means that the lane was empty when the claim was done.
    package mutating func claimed(_ candidates: [Scheduler.Candidate], asked: Int) {
        isClaiming = false
        take(candidates)
        // A job that came since and was claimed already leads to one more claim, which finds nothing.
        backlog = candidates.count < asked ? grewSinceClaim : max(0, backlog - candidates.count)
    }

    package mutating func joined(_ candidate: Scheduler.Candidate) { take([candidate]) }

    private mutating func take(_ candidates: [Scheduler.Candidate]) {
        let isInOrder = (window.last?.rank ?? .max) >= (candidates.first?.rank ?? .min)
        let reach = window.first?.reach ?? candidates.first?.reach
        if candidates.contains(where: { $0.reach != reach }) { isMixed = true }
        window.append(contentsOf: candidates)
        // More urgent ones became ready after the last claim. (Swift's sort is stable.)
        if !isInOrder { window.sort { $0.rank > $1.rank } }
    }

    /// The ready jobs in the store were altered by another hand.
    package mutating func backlogIs(_ count: Int) {
        backlog = count
        if isClaiming { grewSinceClaim = count }
    }

    /// Clears the lane: none of its jobs is started any more.
    package mutating func clear() {
        window.removeAll()
        (backlog, isClaiming) = (0, false)
    }

    /// Jobs that are ready, in the store or claimed.
    package var jobs: Int { backlog + window.count }
    /// Nothing is left of the lane.
    package var isEmpty: Bool { window.isEmpty && backlog == 0 && !isClaiming }

    package var reach: OriginReach { window.first?.reach ?? originReach }

    /// Whether the network lets jobs of the lane start, as far as is known.
    package func mayStart(_ network: NetworkGate) -> Bool { isMixed || network.isOpen(lane, reach) }

    /// The most urgent job that the network lets start, by its place in the window.
    package func startable(_ network: NetworkGate) -> Int? {
        guard isMixed else { return !window.isEmpty && network.isOpen(lane, reach) ? 0 : nil }
        return window.firstIndex { network.isOpen(lane, $0.reach) }
    }
}
