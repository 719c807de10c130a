/// A selection of batches.
package enum BatchSelection: Sendable, Hashable {
    /// Batches that have work left to do.
    case unfinished
    /// The batch of that name, even if it has no work left.
    case named(String)
}
