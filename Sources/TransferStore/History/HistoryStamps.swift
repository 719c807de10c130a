import Synchronization

/// Numbers transactions that tell how many jobs of watched folders are open: of two counts the one with the higher stamp
/// holds. SQLite's own count of changes has 32 bits, and stays where it is when nothing is changed.
package final class HistoryStamps: Sendable {
    private let last = Atomic<Int>(0)

    package init() {}

    /// A transaction calls this before it ends.
    package func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
