import TransferCore
package import TransferJobs

/// Claims of ready jobs, and the ways by which jobs become ready.
package protocol ClaimStore: Sendable {
    /// The bounds of origins that several processes keep together; `nil` if each process keeps its own.
    var sharedRules: (any SharedRules)? { get }

    /// Reads the jobs of the batch that are ready, by lane, and those that wait for their next attempt.
    func backlog(batch: Int64) throws -> Backlog

    /// Takes ready jobs of lanes for this process, the most urgent of each first. Claims of uploads survive a loss of
    /// power too.
    ///
    /// - Parameter secrets: The secrets of jobs, by job. A job whose secrets are lost counts as unreadable.
    /// - Returns: The claimed jobs of each want, in their order.
    func claim(_ wants: [LaneWant], secrets: [Int64: JobSecrets]) throws -> [ClaimedJobs]

    /// Gives claimed jobs back unstarted.
    func release(_ ids: [Int64]) throws

    /// Makes waiting jobs ready. Jobs that were paused or cancelled meanwhile are not changed.
    ///
    /// - Returns: The number of jobs that are ready, by lane.
    func wake(_ ids: [Int64]) throws -> [Lane: Int]

    /// Makes complete jobs ready again.
    func redo(_ ids: [Int64], _ recheck: DestinationRule.Recheck) throws

    /// Asks other processes to release jobs that they have claimed. The jobs wait then, for long enough to be staged
    /// anew.
    ///
    /// - Returns: The number of the jobs that other processes still have claimed. The caller asks again until there are
    ///   none.
    func revoke(_ ids: Set<Int64>) throws -> Int

    /// Returns the jobs that this process has claimed and that other processes want released.
    func revoked() throws -> Set<Int64>
}

extension ClaimStore {
    package var sharedRules: (any SharedRules)? { nil }

    /// Returns 0, because no other process has jobs of a batch that this one holds.
    package func revoke(_ ids: Set<Int64>) throws -> Int { 0 }

    package func revoked() throws -> Set<Int64> { [] }

    /// Claims jobs of one lane.
    package func claim(_ lane: Lane, limit: Int, secrets: [Int64: JobSecrets]) throws -> ClaimedJobs {
        try claim([LaneWant(lane: lane, limit: limit)], secrets: secrets).first
            ?? ClaimedJobs(lane: lane, jobs: [], unreadable: [])
    }
}
