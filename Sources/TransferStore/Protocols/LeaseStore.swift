/// The life of a process in a store: what it holds by its ``Lease``, and what it learns of other processes.
package protocol LeaseStore: Sendable {
    /// The repairs that opening the store took, in words for people; `nil` when all was well.
    var notice: String? { get }

    /// A fault in words that say what is wrong and what to do, where the store can say that of an error that it threw;
    /// else the error itself.
    func fault(_ error: any Error) -> any Error

    /// Extends the lease of this process by ``Lease/term``. To be called at least three times in a term.
    ///
    /// - Throws: ``LeaseLost``.
    @discardableResult
    func renew() throws -> Lease

    /// Gives back whatever this process still holds; for its end.
    func retire() throws

    /// Keeps the lease from now on, and tells what others do, until ``retire()``. A store of one process's own tells nothing.
    ///
    /// - Parameter hear: Called by any thread.
    func follow(_ hear: @escaping @Sendable (StoreNotification) -> Void)

    /// Ends what a store waits for that is away; what is asked of it from now on fails then. For any thread.
    func cancelWaits()
}

extension LeaseStore {
    /// A store that no other process works on has no news.
    package func follow(_ hear: @escaping @Sendable (StoreNotification) -> Void) {}

    /// A store on this machine is never away.
    package func cancelWaits() {}
}
