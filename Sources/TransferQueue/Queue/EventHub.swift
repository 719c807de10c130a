import Synchronization
import TransferJobs

/// A distributor of events to the observers of this process.
final class EventHub: Sendable {
    private struct State {
        /// The observers, in no guaranteed order.
        var observers: [(number: Int, observe: @Sendable (QueueEvent) -> Void)] = []
        var signals: [(number: Int, ring: @Sendable () -> Void)] = []
        var last = 0
    }

    private let state = Mutex(State())
    /// The measurements that events do not carry.
    let measurements = MeasurementHub()

    /// Adds an observer.
    ///
    /// - Parameter observer: A function called in the order of the events, from the queue's own thread, so it must be
    ///   fast.
    /// - Returns: The number to remove it by.
    @discardableResult
    func add(_ observer: @escaping @Sendable (QueueEvent) -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.observers.append((state.last, observer))
            return state.last
        }
    }

    /// Adds a bell.
    ///
    /// - Parameter ring: A function called after a change that no event of this process reports.
    /// - Returns: The number to remove it by.
    func addSignal(_ ring: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.signals.append((state.last, ring))
            return state.last
        }
    }

    func remove(_ number: Int) {
        state.withLock { state in
            state.observers.removeAll { $0.number == number }
            state.signals.removeAll { $0.number == number }
        }
    }

    var isHeard: Bool { state.withLock { !$0.observers.isEmpty } }

    func send(_ event: QueueEvent) {
        // Observers are called outside the lock, because one may remove itself.
        for observer in state.withLock({ $0.observers }) { observer.observe(event) }
    }

    /// Reports a change without an event: another process wrote to the database, or a run began.
    func ring() {
        for signal in state.withLock({ $0.signals }) { signal.ring() }
    }
}
