/// Which of the files that failed.
package enum FailedSelection: Sendable, Hashable {
    /// The one that failed least often: what the server never takes isn't asked about each time.
    case probe
    /// The first in the folder's order.
    case followers
    /// Those whose own time has come, the longest ago first.
    case due
}
