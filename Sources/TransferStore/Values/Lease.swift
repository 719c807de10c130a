package import TransferCore

/// The lease by which a process holds its claims.
package struct Lease: Sendable, Hashable {
    /// The fencing token: what a process claims and records bears it, and none is given out twice. A process whose lease
    /// was taken over never gets the same again.
    package let generation: Int64
    /// On the store's clock. From then on others may take over what is claimed, unless the store knows better that its
    /// process lives; before it they may where the store knows that it doesn't.
    package var until: MonotonicTime

    /// How long a lease is.
    package static let term: Duration = .seconds(180)

    package init(generation: Int64, until: MonotonicTime) {
        self.generation = generation
        self.until = until
    }
}

/// Another process has taken over what this one had claimed: it was taken for dead.
package struct LeaseLost: Error, Sendable, Hashable {
    package init() {}

    /// The loss in words for people.
    package var explained: TransferError { explained(after: Lease.term) }

    /// - Parameter term: How long the lease was.
    package func explained(after term: Duration) -> TransferError {
        TransferError(
            .fileLocked,
            "this process was taken for dead, as it gave no sign of life for \(CountText.words(Int(term.inSeconds), "second")); another "
                + "one continues its jobs")
    }
}
