import Synchronization

/// A counter that numbers transactions which count the open jobs of watched folders: of two counts the one with the
/// higher stamp holds. SQLite's own count of changes has 32 bits, and does not grow when nothing is changed.
package final class HistoryStamps: Sendable {
    private let last = Atomic<Int>(0)

    package init() {}

    /// Returns the next stamp. A transaction calls this before it ends.
    package func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
