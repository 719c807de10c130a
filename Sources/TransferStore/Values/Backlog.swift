package import TransferJobs

/// The jobs of a batch that are left to be claimed.
package struct Backlog: Sendable {
    /// The number of ready jobs, by lane.
    package var ready: [Lane: Int] = [:]
    /// Jobs that wait for their next attempt.
    package var sleepers: [SleepingJob] = []

    package init() {}
}
