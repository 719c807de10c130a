import Synchronization
import TransferCore
import TransferQueue

/// The end of a worker's shift: it drains the current queue, and ends every wait.
final class StopSignal: Sendable {
    private struct State {
        var opening: Task<JobQueue, any Error>?
        var queue: JobQueue?
        var draining: Task<Void, Never>?
        var isClosed = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// The queue of the current shift.
    var queue: JobQueue? { state.withLock { $0.queue } }

    /// Opens a queue; the end of the shift cancels that.
    func opening(_ open: @escaping @Sendable () async throws -> JobQueue) async throws -> JobQueue {
        let task = Task { try await open() }
        let isLate = state.withLock { state in
            state.opening = task
            return state.isClosed
        }
        if isLate { task.cancel() }
        defer { state.withLock { $0.opening = nil } }
        return try await task.value
    }

    func enter(_ queue: JobQueue) {
        let isLate = state.withLock { state in
            state.queue = queue
            return state.isClosed
        }
        if isLate { queue.stop() }
    }

    /// Leaves the queue, whose run has returned. A drain has made its report then.
    func leave() async {
        let draining = state.withLock { state in
            state.queue = nil
            return state.draining
        }
        await draining?.value
    }

    /// Ends the shift.
    ///
    /// - Parameter drain: A function that ends the run of the current queue.
    func close(_ drain: @escaping @Sendable (JobQueue) async -> Void) {
        let (opening, waiters) = state.withLock { state in
            state.isClosed = true
            if let queue = state.queue { state.draining = Task { await drain(queue) } }
            return (state.opening, exchange(&state.waiters, with: []))
        }
        opening?.cancel()
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for that long, or until the shift is over.
    func rest(_ time: Duration) async {
        let alarm = Task {
            // The sleep is necessary: the pause between two attempts is a time, and no event ends it.
            try await Task.sleep(for: time)
            wake()
        }
        await withCheckedContinuation { waiter in
            let isOver = state.withLock { state in
                if !state.isClosed { state.waiters.append(waiter) }
                return state.isClosed
            }
            if isOver { waiter.resume() }
        }
        alarm.cancel()
    }

    private func wake() {
        for waiter in state.withLock({ exchange(&$0.waiters, with: []) }) { waiter.resume() }
    }
}
