/// What of a batch is left to be claimed.
struct Backlog: Sendable {
    /// How many jobs are ready, by lane.
    var ready: [Lane: Int] = [:]
    /// Jobs that wait for their next attempt.
    var sleepers: [SleepingJob] = []
}
