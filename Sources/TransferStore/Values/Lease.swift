package import TransferCore

/// The lease by which a process holds its claims.
package struct Lease: Sendable, Hashable {
    /// The fencing token, which is written with all claims and records of a process. No token is given out twice, so a
    /// process whose lease was taken over never gets the same again.
    package let generation: Int64
    /// The end of the lease, on the store's clock. After it other processes may take over the claims, unless the store
    /// knows that this process lives. Before it they may if the store knows that it is dead.
    package var until: MonotonicTime

    /// The length of a lease.
    package static let term: Duration = .seconds(180)

    package init(generation: Int64, until: MonotonicTime) {
        self.generation = generation
        self.until = until
    }
}

/// The error of a process that was taken for dead and whose claims another process has taken over.
package struct LeaseLost: Error, Sendable, Hashable {
    package init() {}

    /// The loss in words for people.
    package var explained: TransferError { explained(after: Lease.term) }

    /// - Parameter term: The length of the lease.
    package func explained(after term: Duration) -> TransferError {
        TransferError(
            .fileLocked,
            "this process was taken for dead, as it gave no sign of life for \(CountText.words(Int(term.inSeconds), "second")); another "
                + "one continues its jobs")
    }
}
