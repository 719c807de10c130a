/// The place that a command went to.
package enum CommandDelivery: Sendable, Hashable {
    /// No process runs the batch: the command was applied at once, to that number of jobs.
    case applied(jobs: Int)
    /// The command was written down for the process that runs the batch; its socket is used to notify it.
    case handed(pid: Int32, socket: String?, command: Int64)
    case noSuchBatch
    case noSuchJob
}
