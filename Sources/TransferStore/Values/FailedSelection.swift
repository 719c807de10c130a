/// A selection of a folder's failed files.
package enum FailedSelection: Sendable, Hashable {
    /// The file that failed least often. So a file that the server never takes is not tried each time.
    case probe
    /// The first failed files in the folder's order.
    case followers
    /// Files whose own time has come, the longest overdue first.
    case due
}
