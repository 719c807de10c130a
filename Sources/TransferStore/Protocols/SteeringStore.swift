import TransferCore
package import TransferJobs

/// Commands that pause, resume, cancel, retry and amend jobs.
package protocol SteeringStore: Sendable {
    /// Asks something of jobs: at once where no process has their batch, else of that one.
    func deliver(_ verb: QueueVerb, batch name: String, job: String?) throws -> CommandDelivery

    /// Changes jobs that wait and that no process has, where the change makes no other jobs of them.
    ///
    /// - Parameter isOwn: Whether those are meant that this process has claimed.
    /// - Returns: The numbers of those that were changed.
    func amend(_ numbers: [Int64], isOwn: Bool, _ change: (inout JobSpec) -> Void) throws -> Set<Int64>

    /// The commands for this process, in their order, each once.
    func takeCommands() throws -> [QueueCommand]

    /// Changes the jobs that no process has claimed.
    func apply(_ command: QueueCommand) throws -> AppliedCommand
}
