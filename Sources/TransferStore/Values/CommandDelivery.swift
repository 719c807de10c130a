/// The place that a command went to.
package enum CommandDelivery: Sendable, Hashable {
    /// Nobody runs the batch: it's done, to so many jobs.
    case applied(jobs: Int)
    /// Written down for the process that runs the batch; it's told through its socket.
    case handed(pid: Int32, socket: String?, command: Int64)
    case noSuchBatch
    case noSuchJob
}
