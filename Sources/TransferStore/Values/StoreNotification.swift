/// Changes in a store that several processes work on, as the store reports them unasked.
package enum StoreNotification: Sendable {
    /// Other processes have changed jobs or batches, or may have.
    case changed
    /// Commands wait for this process.
    case commanded
    /// Other processes want jobs released that this process may have claimed.
    case revoked
    /// An origin has asked another process to leave it alone.
    case paused
    /// All origins are tried again at once, by command.
    case unpaused
    /// A client watches single transfers.
    case watched
    /// The lease could not be renewed in time, for this reason. Other processes may take over the claims, so this
    /// process's transfers must end.
    case leaseIsOver(any Error)
}
