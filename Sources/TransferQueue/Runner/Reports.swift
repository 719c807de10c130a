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
    /// Single transfers are told until then.
    var watchedUntil = MonotonicTime(nanoseconds: 0)
    private var ticks = 0
    private var renewed: MonotonicTime?
    private var looked: MonotonicTime?

    /// - Returns: Whether it's time for the batches' reports, once in so many ticks.
    mutating func isBatchTick(every count: Int) -> Bool {
        ticks += 1
        return ticks % count == 0
    }

    /// - Returns: Whether it's time to look what other processes have done: soon without work, as not all of it is told, else at
    ///   times: counting a large batch has its price.
    mutating func isLook(_ now: MonotonicTime, isIdle: Bool) -> Bool {
        if let looked, now - looked < .seconds(isIdle ? 2 : 10) { return false }
        looked = now
        return true
    }

    /// - Returns: Whether the lease is to be renewed: three times in its term, as an idle run ticks once a minute.
    mutating func isRenewal(_ now: MonotonicTime) -> Bool {
        if let renewed, now - renewed < .seconds(59) { return false }
        renewed = now
        return true
    }
}
