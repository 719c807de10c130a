import TransferCore
import TransferEngine

/// The state of a run: whether it is stopped or endless, and the callers that wait for its end.
struct RunState {
    enum StopReason: Sendable {
        case asked
        case tooManyFailures
    }

    var stopping: StopReason?
    /// Whether the run continues when there is nothing to do.
    var isEndless = false
    /// Whether the store is being asked for the batches that the run begins with.
    var isBeginning = false
    /// The caller that waits until no transfer is under way any longer; no job starts meanwhile.
    private var drainWaiter: CheckedContinuation<Int, Never>?
    /// The time at which the drain stops the transfers.
    private(set) var drainEnd: MonotonicTime?
    /// Whether jobs are still being added to a batch, which keeps it from ending.
    var isFeeding = false
    /// The reason why the run cannot continue.
    private(set) var failure: (any Error)?
    /// The number of calls to the store without an answer yet; the run is not idle while there are any.
    var storeCalls = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var hookWaiters: [CheckedContinuation<Void, Never>] = []
    /// Whether startable jobs are searched for at the end of this turn of the loop.
    var isPumpDue = false
    var rates = RateBounds()
    var timers = RunTimers()

    /// Notes a failure.
    ///
    /// - Returns: Whether it is the first one; later ones are its consequences.
    mutating func fail(_ error: any Error) -> Bool {
        guard failure == nil else { return false }
        failure = error
        return true
    }

    mutating func waitForEnd(_ waiter: CheckedContinuation<Void, Never>) { waiters.append(waiter) }

    mutating func tellEnd() {
        for waiter in exchange(&waiters, with: []) { waiter.resume() }
        tellHooksDone()
    }

    /// Whether the run lets its transfers end, and starts no others.
    var isDraining: Bool { drainWaiter != nil }

    mutating func waitForDrain(_ waiter: CheckedContinuation<Int, Never>, until end: MonotonicTime) {
        drainWaiter = waiter
        drainEnd = end
    }

    /// Shortens the drain after its last transfer.
    ///
    /// - Returns: The new end; `nil` where it is the same as before.
    mutating func shortenDrain(now: MonotonicTime) -> MonotonicTime? {
        guard isDraining, let end = drainEnd else { return nil }
        let new = DrainRule.end(end, afterLastTransferAt: now)
        drainEnd = new
        return new < end ? new : nil
    }

    /// Ends the drain, if there is one.
    ///
    /// - Parameter left: The number of transfers that did not end in it.
    mutating func tellDrained(left: Int) { exchange(&drainWaiter, with: nil)?.resume(returning: left) }

    mutating func waitForHooks(_ waiter: CheckedContinuation<Void, Never>) { hookWaiters.append(waiter) }

    /// Resumes the callers that wait for the delivery to hooks.
    mutating func tellHooksDone() { for waiter in exchange(&hookWaiters, with: []) { waiter.resume() } }
}
