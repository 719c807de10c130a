/// Which batches are taken.
package enum BatchSelection: Sendable, Hashable {
    /// Those that have something left to do.
    case unfinished
    /// Also where nothing is left to do.
    case named(String)
}
