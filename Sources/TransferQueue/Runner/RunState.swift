import TransferCore
import TransferEngine

/// Whether a run goes on: who wants it to stop, or never to end, and who waits for its end.
struct RunState {
    enum StopReason: Sendable {
        case asked
        case tooManyFailures
    }

    var stopping: StopReason?
    /// Whether the run goes on when there is nothing to do.
    var isEndless = false
    /// The store is asked for the batches that the run begins with.
    var isBeginning = false
    /// Whether jobs are still being added to a batch, which so can't end.
    var isFeeding = false
    /// Why the run can't go on.
    private(set) var failure: (any Error)?
    /// Calls to the store whose answers are still to come: while there are any, nobody is idle.
    var storeCalls = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var hookWaiters: [CheckedContinuation<Void, Never>] = []
    /// Whether what may start is looked for at the end of this turn of the loop.
    var isPumpDue = false
    var rates = RateBounds()
    var timers = RunTimers()

    /// - Returns: Whether it's the first one: what comes after it is of the same kind.
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

    mutating func waitForHooks(_ waiter: CheckedContinuation<Void, Never>) { hookWaiters.append(waiter) }

    /// Hooks have been told everything.
    mutating func tellHooksDone() { for waiter in exchange(&hookWaiters, with: []) { waiter.resume() } }
}
