import TransferCore
import TransferScheduling

/// The last reports, so that they are not repeated.
struct Reports {
    /// The last report of each batch.
    var batches: [Int64: BatchReport] = [:]
    /// The origins that jobs wait for.
    var hostWaits: Set<OriginWait> = []
    /// Whether the next tick is the idle one, once a minute.
    var isIdleTick = false
    /// The time until which single transfers are reported.
    var watchedUntil = MonotonicTime(nanoseconds: 0)
    private var ticks = 0
    private var renewed: MonotonicTime?
    private var looked: MonotonicTime?

    /// Counts a tick.
    ///
    /// - Returns: Whether the batches' reports are due, once in this many ticks.
    mutating func isBatchTick(every count: Int) -> Bool {
        ticks += 1
        return ticks % count == 0
    }

    /// Decides whether to read what other processes have done: often without own work, as not all changes are notified,
    /// and otherwise rarely, as counting a large batch is costly.
    ///
    /// - Returns: Whether it is time to.
    mutating func isLook(_ now: MonotonicTime, isIdle: Bool) -> Bool {
        if let looked, now - looked < .seconds(isIdle ? 2 : 10) { return false }
        looked = now
        return true
    }

    /// Decides whether to renew the lease.
    ///
    /// - Returns: Whether the renewal is due: three times in its term, since an idle run ticks once a minute.
    mutating func isRenewal(_ now: MonotonicTime) -> Bool {
        if let renewed, now - renewed < .seconds(59) { return false }
        renewed = now
        return true
    }
}
