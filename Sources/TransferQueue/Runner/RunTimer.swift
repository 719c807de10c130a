/// The timers of a run; each is made when it is first needed.
enum RunTimer: Hashable, Sendable {
    /// The scheduler's next turn, or that of a sleeping job.
    case wake
    /// The time to save finished downloads that wait for more.
    case save
    /// The next progress report.
    case tick
    /// The time to write gathered records.
    case record
    /// The longest that a stop waits for the disk.
    case stop
    /// The time by which a drain stops the transfers that are still under way.
    case drain
    /// The next review of the network.
    case network
    /// The next check for transfers that may hang.
    case stalls
    /// The next review of downloads over several connections.
    case segments
    /// The next review of uploads that send several parts at a time.
    case uploads
    /// The next review of copies whose sources may be read over several connections.
    case copies
    /// The next measurement of origins whose best number of transfers is being searched for.
    case levels
    /// The next try of an abandoned upload, by the number of its dialogue.
    case abandonment(Int)
    /// The next delivery to a hook.
    case hooks
}
