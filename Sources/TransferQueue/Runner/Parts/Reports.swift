import TransferCore
import TransferScheduling

/// The reports that were told last, so that they aren't told again.
struct Reports {
    /// The last report of each batch.
    var batches: [Int64: BatchReport] = [:]
    /// The origins that jobs wait for.
    var hostWaits: Set<OriginWait> = []
    /// Whether the next tick is the word a minute.
    var isIdleTick = false
    private var ticks = 0
    private var renewed: MonotonicTime?

    /// - Returns: Whether it's time for the batches' reports, once in so many ticks.
    mutating func isBatchTick(every count: Int) -> Bool {
        ticks += 1
        return ticks % count == 0
    }

    /// - Returns: Whether the lease is to be renewed: three times in its term, as an idle run ticks once a minute.
    mutating func isRenewal(_ now: MonotonicTime) -> Bool {
        if let renewed, now - renewed < .seconds(59) { return false }
        renewed = now
        return true
    }
}
