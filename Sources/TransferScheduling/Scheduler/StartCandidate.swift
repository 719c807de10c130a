import TransferCore
package import TransferJobs

/// A claimed job, as far as its start is decided by it.
package struct StartCandidate: Sendable, Hashable {
    package let id: Int64
    package let lane: Lane
    package let priority: Int
    /// The job's place among the jobs of its lane, the highest first.
    package let rank: Int
    /// The patience that it has with its origin, where it has to end.
    package let patience: RetryHorizon
    /// Whether the job is tried for ever where its origin is the reason: it's of a batch that has no end.
    package let isEndless: Bool
    /// The way to the lane's origin, as its URL tells it: asked several times for each job.
    package let reach: OriginReach
    /// The job's body goes out in vain where the server wants a password that it hasn't asked for yet (``AuthenticationProbes``).
    package let probesAuthentication: Bool
    /// Whether the job's source is another server (``CopyPlaces``).
    package let isCopy: Bool

    package init(
        id: Int64, lane: Lane, priority: Int, rank: Int? = nil,
        patience: RetryHorizon = RetryHorizon(RetryRule()), isEndless: Bool = false, reach: OriginReach? = nil,
        probesAuthentication: Bool = false, isCopy: Bool = false
    ) {
        self.id = id
        self.lane = lane
        self.priority = priority
        self.rank = rank ?? priority
        self.patience = patience
        self.isEndless = isEndless
        self.reach = reach ?? OriginReach(origin: lane.origin)
        self.probesAuthentication = probesAuthentication
        self.isCopy = isCopy
    }

    /// The same job, at another of its servers.
    package func turned(to lane: Lane, _ reach: OriginReach) -> StartCandidate {
        StartCandidate(
            id: id, lane: lane, priority: priority, rank: rank, patience: patience, isEndless: isEndless,
            reach: reach, probesAuthentication: probesAuthentication, isCopy: isCopy)
    }
}
