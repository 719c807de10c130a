import TransferCore
package import TransferJobs

/// The facts of a claimed job that decide on its start.
package struct StartCandidate: Sendable, Hashable {
    package let id: Int64
    package let lane: Lane
    package let priority: Int
    /// The job's rank among the jobs of its lane, the highest first.
    package let rank: Int
    /// The patience of the job with its origin, if the job must end.
    package let patience: RetryHorizon
    /// Whether the job is tried for ever while its origin is the reason, because its batch has no end.
    package let isEndless: Bool
    /// The first host on the way to the lane's origin, stored because it is needed several times for each job.
    package let reach: OriginReach
    /// Whether the job's body would be sent in vain if the server wants a password that it has not requested yet
    /// (``AuthenticationProbes``).
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

    /// Returns the same job at another of its servers.
    package func turned(to lane: Lane, _ reach: OriginReach) -> StartCandidate {
        StartCandidate(
            id: id, lane: lane, priority: priority, rank: rank, patience: patience, isEndless: isEndless,
            reach: reach, probesAuthentication: probesAuthentication, isCopy: isCopy)
    }
}
