import DequeModule
import TransferCore

/// Jobs of a batch to one origin under the same rules of the network, as the scheduler sees them.
struct LaneState: Sendable {
    let lane: Lane
    /// Ready jobs that are still in the store, as far as is known.
    var backlog = 0
    var isClaiming = false
    /// Jobs that became ready since the claim was asked for: it may have been done before they were there.
    var grewSinceClaim = 0
    /// What is still in the store may go before what was claimed.
    var isOvertaken = false
    /// Claimed and not started, the most urgent first.
    var window = Deque<Scheduler.Candidate>()
    /// The origin's own way, for as long as nothing was claimed that says through which proxy it goes.
    private let originReach: OriginReach
    /// Whether the jobs that were claimed are connected to different machines first.
    var isMixed = false
    /// Counts the starts: among equals the lane that was served least recently goes first.
    var lastServed = 0

    /// The place of the lane's origin in ``LaneTable/origins``.
    let origin: Int

    init(_ lane: Lane, origin: Int) {
        self.lane = lane
        self.origin = origin
        originReach = OriginReach(origin: lane.origin)
    }

    /// Jobs became ready in the store.
    ///
    /// - Parameter overtakes: Some of them may go before those that have been claimed.
    mutating func grew(by count: Int, overtakes: Bool) {
        backlog += count
        if isClaiming { grewSinceClaim += count }
        if overtakes, !window.isEmpty || isClaiming { isOvertaken = true }
    }

    /// A claim came back; fewer jobs than asked for means that the lane was empty when the claim was done.
    mutating func claimed(_ candidates: [Scheduler.Candidate], asked: Int) {
        isClaiming = false
        take(candidates)
        // A job that came since and was claimed already leads to one more claim, which finds nothing.
        backlog = candidates.count < asked ? grewSinceClaim : max(0, backlog - candidates.count)
    }

    mutating func joined(_ candidate: Scheduler.Candidate) { take([candidate]) }

    private mutating func take(_ candidates: [Scheduler.Candidate]) {
        let isInOrder = (window.last?.rank ?? .max) >= (candidates.first?.rank ?? .min)
        let reach = window.first?.reach ?? candidates.first?.reach
        if candidates.contains(where: { $0.reach != reach }) { isMixed = true }
        window.append(contentsOf: candidates)
        // More urgent ones became ready after the last claim. (Swift's sort is stable.)
        if !isInOrder { window.sort { $0.rank > $1.rank } }
    }

    /// The ready jobs in the store were altered by another hand.
    mutating func backlogIs(_ count: Int) {
        backlog = count
        if isClaiming { grewSinceClaim = count }
    }

    /// Nothing of the lane is started any more.
    mutating func clear() {
        window.removeAll()
        (backlog, isClaiming) = (0, false)
    }

    /// Jobs that are ready, in the store or claimed.
    var jobs: Int { backlog + window.count }
    /// Nothing is left of the lane.
    var isEmpty: Bool { window.isEmpty && backlog == 0 && !isClaiming }

    var reach: OriginReach { window.first?.reach ?? originReach }

    /// The most urgent job that the network lets start, by its place in the window.
    func startable(_ network: NetworkGate) -> Int? {
        guard isMixed else { return !window.isEmpty && network.isOpen(lane, reach) ? 0 : nil }
        return window.firstIndex { network.isOpen(lane, $0.reach) }
    }
}
