import TransferCore

/// The rule for how long a run that is asked to end waits for its last work.
enum DrainRule {
    /// The longest wait for the store alone. Within it, a store that works records the ends of all transfers.
    static let storeAnswers = Duration.seconds(3)

    /// Returns the time for a drain from its beginning.
    ///
    /// - Parameters:
    ///   - asked: The time that the caller gives the transfers.
    ///   - underWay: The number of transfers.
    ///   - isStoreAway: Whether the store cannot be reached, so that no end can be recorded.
    static func limit(_ asked: Duration, underWay: Int, isStoreAway: Bool) -> Duration {
        if underWay == 0, isStoreAway { return .zero }
        return underWay == 0 || isStoreAway ? min(asked, storeAnswers) : asked
    }

    /// Returns the end of a drain after its last transfer.
    ///
    /// - Parameter end: The end of the drain as it was known until now.
    static func end(_ end: MonotonicTime, afterLastTransferAt now: MonotonicTime) -> MonotonicTime {
        min(end, now + storeAnswers)
    }
}
