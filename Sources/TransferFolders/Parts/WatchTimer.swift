package import TransferCore
import TransferEventLoop

/// The timers of a watched folder; each is made when it is first needed.
package enum WatchTimer: Hashable, Sendable, CaseIterable {
    /// The time of the first confirmed file that has to be moved or deleted.
    case due
    /// The second check of missing files.
    case prune
    /// The time of the first failed file that is retried.
    case failed
}

/// The work on confirmed files that are due: one run at a time, and one more if a call came meanwhile.
package struct DueFiles {
    package var acting: Task<Void, Never>?
    package var mustActAgain = false
    /// The time at which the next file is due.
    package var at: MonotonicTime?
    /// The files that were moved recently.
    package var moved = MovedFiles()
    /// The number of failures in a row, by row of the upload history.
    private var failures: [Int64: Int] = [:]
    private static let mostFailures = 10_000

    /// Notes a failure.
    ///
    /// - Returns: The number of failures in a row, including this one.
    package mutating func failed(_ row: Int64) -> Int {
        let count = (failures[row] ?? 0) + 1
        if count > 1 || failures.count < Self.mostFailures { failures[row] = count }
        return count
    }

    package mutating func settled(_ row: Int64) { failures[row] = nil }
}

/// Work that runs once at a time, and once more if it was requested meanwhile.
package struct RepeatedWork {
    private var isUnderWay = false
    private var isWanted = false

    /// Requests a run.
    ///
    /// - Returns: Whether to begin now.
    package mutating func want() -> Bool {
        isWanted = true
        guard !isUnderWay else { return false }
        isUnderWay = true
        return true
    }

    /// Takes a request.
    ///
    /// - Returns: Whether there is another round.
    package mutating func next() -> Bool {
        guard isWanted else { return false }
        isWanted = false
        return true
    }

    package mutating func ended() { isUnderWay = false }
}
