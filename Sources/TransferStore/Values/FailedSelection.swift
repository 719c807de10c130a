/// A selection of a folder's failed files.
package enum FailedSelection: Sendable, Hashable {
    /// The file that failed least often: a file that the server never takes isn't tried each time.
    case probe
    /// The first in the folder's order.
    case followers
    /// Files whose own time has come, the longest ago first.
    case due
}
