/// When the ledger is looked through for files that aren't there any more: when it has grown by as much as it held, so that
/// this costs little for each file.
package struct PruneRule {
    package private(set) var isUnderWay = false
    private var hasPruned = false
    /// Files that came since the last look.
    private var taken = 0
    /// Rows at the last look.
    private var rows = 0

    package mutating func took(_ count: Int) { taken += max(0, count) }

    /// - Parameter isQuiet: Nothing else is to be done.
    package func isWorthwhile(isQuiet: Bool) -> Bool {
        isQuiet ? !hasPruned || taken >= max(1000, rows / 4) : taken >= max(4000, rows)
    }

    /// - Parameter onlyGone: Only rows that were found to be gone before are looked at.
    /// - Returns: `false` while a look is under way.
    package mutating func begin(onlyGone: Bool) -> Bool {
        guard !isUnderWay else { return false }
        isUnderWay = true
        if !onlyGone { (hasPruned, taken) = (true, 0) }
        return true
    }

    /// - Parameter rows: How many there are now; `nil` where they weren't counted.
    package mutating func ended(rows count: Int?) {
        isUnderWay = false
        if let count { rows = count }
    }
}
