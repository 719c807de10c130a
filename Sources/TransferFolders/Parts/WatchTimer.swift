package import TransferCore
import TransferEventLoop

/// The timers of a watched folder; each is made when it's first needed.
package enum WatchTimer: Hashable, Sendable, CaseIterable {
    /// The first confirmed file that is to be moved or deleted.
    case due
    /// The second look at files that are gone.
    case prune
    /// The first failed file that is tried again.
    case failed
}

/// Work on confirmed files that are due: one after the other, and once more where somebody called meanwhile.
package struct DueFiles {
    package var acting: Task<Void, Never>?
    package var mustActAgain = false
    /// The time at which the next one is due.
    package var at: MonotonicTime?
    /// Files that were moved lately.
    package var moved = MovedFiles()
    /// How often in a row a row of the ledger came to nothing.
    private var failures: [Int64: Int] = [:]
    private static let mostFailures = 10_000

    /// - Returns: How often in a row, with this time.
    package mutating func failed(_ row: Int64) -> Int {
        let count = (failures[row] ?? 0) + 1
        if count > 1 || failures.count < Self.mostFailures { failures[row] = count }
        return count
    }

    package mutating func settled(_ row: Int64) { failures[row] = nil }
}

/// Work of which one at a time is under way, and which is done once more where somebody asked for it meanwhile.
package struct RepeatedWork {
    private var isUnderWay = false
    private var isWanted = false

    /// - Returns: Whether it's to begin.
    package mutating func want() -> Bool {
        isWanted = true
        guard !isUnderWay else { return false }
        isUnderWay = true
        return true
    }

    /// - Returns: Whether there is another round.
    package mutating func next() -> Bool {
        guard isWanted else { return false }
        isWanted = false
        return true
    }

    package mutating func ended() { isUnderWay = false }
}
