package import TransferJobs

/// The jobs of a batch that are left to be claimed.
package struct Backlog: Sendable {
    /// How many jobs are ready, by lane.
    package var ready: [Lane: Int] = [:]
    /// Jobs that wait for their next attempt.
    package var sleepers: [SleepingJob] = []

    package init() {}
}
