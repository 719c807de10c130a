import TransferCore
package import TransferJobs

/// Commands that pause, resume, cancel, retry and amend jobs.
package protocol SteeringStore: Sendable {
    /// Applies a command to jobs at once where no process holds their batch, and otherwise hands it to that process.
    func deliver(_ verb: QueueVerb, batch name: String, job: String?) throws -> CommandDelivery

    /// Changes properties outside the fingerprint of waiting jobs that no process has claimed.
    ///
    /// - Parameter isOwn: Whether the jobs that this process has claimed are meant instead.
    /// - Returns: The numbers of the changed jobs.
    func amend(_ numbers: [Int64], isOwn: Bool, _ change: (inout JobSpec) -> Void) throws -> Set<Int64>

    /// Changes properties outside the fingerprint of failed jobs, such as an expired signature.
    ///
    /// - Returns: The numbers of the changed jobs that may be tried again unasked: not those that may have arrived.
    func renew(_ numbers: [Int64], _ change: (inout JobSpec) -> Void) throws -> Set<Int64>

    /// Returns the commands for this process, in their order, each once.
    func takeCommands() throws -> [QueueCommand]

    /// Changes the jobs that no process has claimed.
    func apply(_ command: QueueCommand) throws -> AppliedCommand
}
