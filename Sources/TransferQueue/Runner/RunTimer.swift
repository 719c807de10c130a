/// The timers of a run; each is made when it's first needed.
enum RunTimer: Hashable, Sendable {
    /// The scheduler's next turn, or that of a sleeping job.
    case wake
    /// Finished downloads that wait for company.
    case save
    /// Progress.
    case tick
    /// Records that gather.
    case record
    /// The longest that a stop waits for the disk.
    case stop
    /// The next look at the network.
    case network
    /// The next look at transfers that may hang.
    case stalls
    /// The next look at downloads over several connections.
    case segments
    /// The next look at uploads that send several parts at a time.
    case uploads
    /// The next look at how much goes to origins that find out how many transfers they are worth.
    case levels
    /// An abandoned upload's next try, by the number of its dialogue.
    case abandonment(Int)
    /// The next attempt to tell a hook.
    case hooks
}
