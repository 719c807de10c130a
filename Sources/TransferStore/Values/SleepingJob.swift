import TransferCore

struct SleepingJob: Sendable {
    let id: Int64
    let lane: Lane
    let due: MonotonicTime
    /// Whether a server asked for the wait: then another network is no reason to end it.
    let isAsked: Bool
    /// What the disk had no space for, where that is why it waits.
    var disk: String?
}
