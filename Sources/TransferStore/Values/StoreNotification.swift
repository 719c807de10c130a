/// The changes of a store that several processes work on, as the store tells them by itself.
package enum StoreNotification: Sendable {
    /// Others have changed jobs or batches, or may have.
    case changed
    /// Commands wait for this process.
    case commanded
    /// Others want jobs released that this process may have claimed.
    case revoked
    /// Another process was told by an origin to leave it alone.
    case paused
    /// All origins are tried again at once, as somebody said.
    case unpaused
    /// Somebody watches single transfers.
    case watched
    /// The lease couldn't be renewed in time, for this reason: others may go on with what this process has claimed, so its
    /// transfers have to end.
    case leaseIsOver(any Error)
}
