/// The rule for searches of the upload history for files that no longer exist. A search is due when the history has
/// doubled, so that its cost per file is low.
package struct PruneRule {
    package private(set) var isUnderWay = false
    private var hasPruned = false
    /// The number of files that came since the last search.
    private var taken = 0
    /// The number of rows at the last search.
    private var rows = 0

    package mutating func took(_ count: Int) { taken += max(0, count) }

    /// Returns whether a search is worthwhile.
    ///
    /// - Parameter isQuiet: Whether there is no other work.
    package func isWorthwhile(isQuiet: Bool) -> Bool {
        isQuiet ? !hasPruned || taken >= max(1000, rows / 4) : taken >= max(4000, rows)
    }

    /// Begins a search.
    ///
    /// - Parameter onlyGone: Whether only rows are checked that were found missing before.
    /// - Returns: `false` while a search is under way.
    package mutating func begin(onlyGone: Bool) -> Bool {
        guard !isUnderWay else { return false }
        isUnderWay = true
        if !onlyGone { (hasPruned, taken) = (true, 0) }
        return true
    }

    /// Notes the end of a search.
    ///
    /// - Parameter rows: The present number of rows; `nil` if they were not counted.
    package mutating func ended(rows count: Int?) {
        isUnderWay = false
        if let count { rows = count }
    }
}
