/// The life of a process in a store: the claims that it holds by its ``Lease``, and its news of other processes.
package protocol LeaseStore: Sendable {
    /// The repairs that opening the store took, in words for people; `nil` when none was needed.
    var notice: String? { get }

    /// Returns a fault with its cause and its remedy in words, where the store has such words for an error that it
    /// threw. Other errors are returned unchanged.
    func fault(_ error: any Error) -> any Error

    /// Extends the lease of this process by ``Lease/term``. Call this at least three times in a term.
    ///
    /// - Throws: ``LeaseLost``.
    @discardableResult
    func renew() throws -> Lease

    /// Gives back all claims of this process, before it ends.
    func retire() throws

    /// Keeps the lease from now on, and reports the changes of other processes, until ``retire()``. A store of one
    /// process alone reports nothing.
    ///
    /// - Parameter hear: The receiver of reports, called by any thread.
    func follow(_ hear: @escaping @Sendable (StoreNotification) -> Void)

    /// Ends the waits of a store whose server is away; later questions to it fail at once. May be called by any thread.
    func cancelWaits()

    /// Whether the store's server has not answered of late, and calls wait for it. May be called by any thread.
    var isAway: Bool { get }
}

extension LeaseStore {
    /// Does nothing, because a store that no other process works on has no news.
    package func follow(_ hear: @escaping @Sendable (StoreNotification) -> Void) {}

    /// Does nothing, because a store on this machine is never away.
    package func cancelWaits() {}

    /// `false`, because a store on this machine is never away.
    package var isAway: Bool { false }
}
