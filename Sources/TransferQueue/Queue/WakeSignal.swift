import Synchronization
import TransferJobs

/// Wakes a reader when there is more to read; however often it rings, it costs nothing to keep.
final class WakeSignal: Sendable {
    private struct State {
        var count = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let hub: EventHub?
    private let numbers = Mutex<[Int]>([])

    /// Rings by ``ring()`` alone.
    init() { hub = nil }

    /// Rings for the ends of jobs, of this process and of others.
    init(_ hub: EventHub) {
        self.hub = hub
        let observer = hub.add { [weak self] event in
            if event.cursor != nil { self?.ring() }
        }
        let signal = hub.addSignal { [weak self] in self?.ring() }
        numbers.withLock { $0 = [observer, signal] }
    }

    deinit {
        for number in numbers.withLock({ $0 }) { hub?.remove(number) }
    }

    var count: Int { state.withLock { $0.count } }

    func ring() {
        let waiter = state.withLock { state in
            state.count += 1
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Returns when it has rung since `count`, and when the task is cancelled.
    func wait(after count: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.count == count, !Task.isCancelled else { return false }
                    state.waiter = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
    }

    /// The same, for a time at most.
    func wait(after count: Int, atMost time: Duration) async {
        let alarm = Task { [weak self] in
            // Not a wait for what is to happen but its limit.
            try await Task.sleep(for: time)
            self?.ring()
        }
        await wait(after: count)
        alarm.cancel()
    }
}
