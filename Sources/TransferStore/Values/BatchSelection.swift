/// A selection of batches.
package enum BatchSelection: Sendable, Hashable {
    /// Batches that have something left to do.
    case unfinished
    /// The batch of that name, also where nothing is left to do.
    case named(String)
}
